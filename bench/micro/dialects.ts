/**
 * What each upstream format costs: decoding a streamed answer, framing included, in events per second, and encoding a request with a long history. Figures
 * are relative to `openai-chat` in the same run; the limit is 2.
 *
 *   node bench/micro/dialects.ts [rounds]              a table
 *   node bench/micro/dialects.ts [rounds] --check      fails if a format takes more than twice as long
 */
import { performance } from 'node:perf_hooks'
import type { Dialect, Target } from '../../src/core/dialect.ts'
import type { ModelEvent } from '../../src/core/event.ts'
import type { InputItem } from '../../src/core/item.ts'
import type { ModelRequest } from '../../src/core/request.ts'
import { dialects } from '../../src/dialects/index.ts'
import { createAwsEventStreamParser } from '../../src/lib/aws-event-stream.ts'
import { createSseParser } from '../../src/lib/sse.ts'
import { awsEvent } from '../../src/testing/aws-frames.ts'
import { VENDOR_VOICES } from '../../src/testing/vendor-voices.ts'

const LIMIT = 2
const BASELINE = 'openai-chat'
const DELTAS = 256
const TURNS = 100
/** Bytes of one upstream read: a burst contains several events. */
const READ_BYTES = 4096
const WARMUP = 20
const ROUND_MS = 4
const rounds = Number(process.argv.slice(2).find((arg) => !arg.startsWith('--')) ?? 60)

type Json = { readonly [field: string]: unknown }

const WORDS = Array.from({ length: DELTAS }, (_, n) => ` ${['the', 'gateway', 'answers', 'in', 'several', 'small', 'pieces'][n % 7]}${n % 10}`)
const PIECES = Array.from({ length: DELTAS }, (_, n) => (n === 0 ? '{\\"text\\":\\"' : n === DELTAS - 1 ? '\\"}' : `word ${n % 10} `)).map(
  (piece) => JSON.parse(`"${piece}"`) as string,
)
/** Padding of random length, which several vendors send against traffic analysis. */
const pad = (n: number): string => 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'.slice(0, 4 + ((n * 7) % 40))

const data = (value: Json): Buffer => Buffer.from(`data: ${JSON.stringify(value)}\n\n`)
const named = (value: Json): Buffer => Buffer.from(`event: ${String(value['type'])}\ndata: ${JSON.stringify(value)}\n\n`)

/** Deltas of one answer in each format: text, and arguments of a call. The frames around them come from the format's own voice. */
const DELTA_FRAMES: { readonly [dialect: string]: { readonly text: () => Buffer[]; readonly call: () => Buffer[] } } = {
  'openai-chat': {
    text: () => WORDS.map((content, n) => data(chatChunk({ content }, n))),
    call: () => [
      data(chatChunk({ tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'f', arguments: '' } }] }, 0)),
      ...PIECES.map((piece, n) => data(chatChunk({ tool_calls: [{ index: 0, function: { arguments: piece } }] }, n))),
    ],
  },
  'openai-responses': {
    text: () => [
      ...[
        {
          type: 'response.output_item.added',
          output_index: 0,
          item: { id: 'msg_1', type: 'message', status: 'in_progress', content: [], role: 'assistant' },
        },
        {
          type: 'response.content_part.added',
          item_id: 'msg_1',
          output_index: 0,
          content_index: 0,
          part: { type: 'output_text', annotations: [], text: '' },
        },
      ].map(named),
      ...WORDS.map((delta, n) =>
        named({
          type: 'response.output_text.delta',
          sequence_number: n + 4,
          item_id: 'msg_1',
          output_index: 0,
          content_index: 0,
          delta,
          logprobs: [],
          obfuscation: pad(n),
        }),
      ),
    ],
    call: () => [
      named({
        type: 'response.output_item.added',
        output_index: 0,
        item: { id: 'fc_1', type: 'function_call', call_id: 'call_1', name: 'f', arguments: '' },
      }),
      ...PIECES.map((delta, n) =>
        named({
          type: 'response.function_call_arguments.delta',
          sequence_number: n + 4,
          item_id: 'fc_1',
          output_index: 0,
          delta,
          obfuscation: pad(n),
        }),
      ),
    ],
  },
  'anthropic-messages': {
    text: () => [
      named({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
      ...WORDS.map((text) => named({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
      named({ type: 'content_block_stop', index: 0 }),
    ],
    call: () => [
      named({ type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} } }),
      ...PIECES.map((partial_json) => named({ type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json } })),
      named({ type: 'content_block_stop', index: 0 }),
    ],
  },
  gemini: {
    text: () => WORDS.map((text, n) => geminiChunk({ text }, n)),
    // This format has calls only as a whole: as many calls as the others have argument deltas.
    call: () => WORDS.map((text, n) => geminiChunk({ functionCall: { id: `c${n}`, name: 'f', args: { text } } }, n)),
  },
  'bedrock-converse': {
    text: () => [
      ...WORDS.map((text, n) => awsEvent('contentBlockDelta', { contentBlockIndex: 0, delta: { text }, p: pad(n) })),
      awsEvent('contentBlockStop', { contentBlockIndex: 0, p: 'abc' }),
    ],
    call: () => [
      awsEvent('contentBlockStart', { contentBlockIndex: 0, start: { toolUse: { toolUseId: 'tooluse_1', name: 'f' } }, p: 'abc' }),
      ...PIECES.map((input, n) => awsEvent('contentBlockDelta', { contentBlockIndex: 0, delta: { toolUse: { input } }, p: pad(n) })),
      awsEvent('contentBlockStop', { contentBlockIndex: 0, p: 'abc' }),
    ],
  },
  'cohere-v2': {
    text: () => [
      named({ type: 'content-start', index: 0, delta: { message: { content: { type: 'text', text: '' } } } }),
      ...WORDS.map((text) => named({ type: 'content-delta', index: 0, delta: { message: { content: { text } } } })),
      named({ type: 'content-end', index: 0 }),
    ],
    call: () => [
      named({
        type: 'tool-call-start',
        index: 0,
        delta: { message: { tool_calls: { id: 'f_1', type: 'function', function: { name: 'f', arguments: '' } } } },
      }),
      ...PIECES.map((piece) => named({ type: 'tool-call-delta', index: 0, delta: { message: { tool_calls: { function: { arguments: piece } } } } })),
      named({ type: 'tool-call-end', index: 0 }),
    ],
  },
}

function chatChunk(delta: Json, n: number): Json {
  return {
    id: 'chatcmpl-BvendorAbCdEfGh',
    object: 'chat.completion.chunk',
    created: 1_770_000_000,
    model: 'thinker-1-2026-01-01',
    service_tier: 'default',
    system_fingerprint: 'fp_0123456789',
    choices: [{ index: 0, delta, logprobs: null, finish_reason: null }],
    obfuscation: pad(n),
  }
}

function geminiChunk(part: Json, n: number): Buffer {
  const chunk = {
    candidates: [{ content: { parts: [part], role: 'model' }, index: 0 }],
    usageMetadata: {
      promptTokenCount: 30,
      candidatesTokenCount: n + 1,
      totalTokenCount: n + 31,
      promptTokensDetails: [{ modality: 'TEXT', tokenCount: 30 }],
    },
    modelVersion: 'gemini-3-flash-preview',
    responseId: 'r-vendor',
  }
  return Buffer.from(`data: ${JSON.stringify(chunk)}\r\n\r\n`)
}

/** The answer as its vendor streams it: the first and last frames of the voice around many deltas, cut into reads. */
function answerOf(name: string, kind: 'text' | 'call'): { readonly reads: readonly Buffer[]; readonly events: number } {
  const voice = VENDOR_VOICES.get(name)!
  const frames = [...voice.stream({ text: 'x' })].map((frame) => frame)
  const first = frames.findIndex((frame) => !/message_start|ping|messageStart|message-start|created|in_progress/.test(frame.toString('latin1')))
  const last = frames.findIndex((frame) =>
    /message_delta|messageStop|message-end|response\.completed|finish_reason":"stop|finishReason/.test(frame.toString('latin1')),
  )
  const deltas = DELTA_FRAMES[name]![kind]()
  const bytes = Buffer.concat([...frames.slice(0, first), ...deltas, ...frames.slice(last)])
  const reads: Buffer[] = []
  for (let at = 0; at < bytes.length; at += READ_BYTES) reads.push(bytes.subarray(at, at + READ_BYTES))
  return { reads, events: deltas.length }
}

const TOOL = { type: 'function', name: 'f', description: 'Does it.', parameters: { type: 'object', properties: { text: { type: 'string' } } } }
const REQUEST: ModelRequest = { input: [{ type: 'message', role: 'user', content: 'q' }], tools: [TOOL] }

function targetOf(dialect: Dialect): Target {
  const voice = VENDOR_VOICES.get(dialect.name)!
  return {
    provider: 'acme',
    providerName: 'Acme',
    upstreamModel: voice.model,
    options: dialect.options.parse(voice.options),
    supports: new Set(dialect.supports),
    contextLength: 200_000,
    maxOutputTokens: 64_000,
    scope: 'acme',
    stream: true,
  }
}

function decode(dialect: Dialect, target: Target, reads: readonly Buffer[]): number {
  const decoder = dialect.decoder(REQUEST, target)
  let seen = 0
  let out: ModelEvent[] = []
  const create = dialect.framing === 'sse' ? createSseParser : createAwsEventStreamParser
  const parser = create((frame, event) => {
    if (!decoder.finished) decoder.push(frame, event, out)
  })
  for (const read of reads) {
    parser.push(read)
    seen += out.length
    out = []
  }
  parser.end()
  if (!decoder.finished) decoder.end(out)
  return seen + out.length
}

/** A hundred turns of an agent: a question, a call, its result, an answer. */
function history(): InputItem[] {
  const sentence = 'A sentence of the conversation that is about as long as sentences are. '
  return Array.from({ length: TURNS }, (_, n): InputItem[] => [
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: sentence }] },
    { type: 'function_call', call_id: `call_${n}`, name: 'f', arguments: `{"text":"${sentence}"}` },
    { type: 'function_call_output', call_id: `call_${n}`, output: sentence.repeat(4) },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: sentence.repeat(2) }] },
  ])
    .flat()
    .concat({ type: 'message', role: 'user', content: 'And now?' })
}

/** Microseconds per run: the best of many short rounds, which alternate between formats, because other load can only make them slower. */
function measureAll(works: ReadonlyMap<string, () => unknown>): Map<string, number> {
  const times = new Map([...works.keys()].map((name) => [name, [] as number[]]))
  for (let round = -WARMUP; round < rounds; round++) {
    for (const [name, work] of works) {
      const start = performance.now()
      let runs = 0
      while (performance.now() - start < ROUND_MS) {
        sink = work()
        runs++
      }
      if (round >= 0) times.get(name)!.push(((performance.now() - start) * 1000) / runs)
    }
  }
  return new Map([...times].map(([name, list]) => [name, Math.min(...list)]))
}

let sink: unknown
const formats = Object.keys(DELTA_FRAMES).map((name) => dialects.get(name)!)

let failed = false
function report(title: string, unit: string, times: ReadonlyMap<string, number>, show: (name: string, us: number) => string): void {
  const base = times.get(BASELINE)!
  console.log(`\n${title}`)
  for (const [name, us] of times) {
    const ratio = us / base
    failed ||= ratio > LIMIT
    console.log(`  ${name.padEnd(20)} ${show(name, us).padStart(12)} ${unit}   ${ratio.toFixed(2)}${ratio > LIMIT ? '  over the limit' : ''}`)
  }
}

for (const kind of ['text', 'call'] as const) {
  const answers = new Map(formats.map((dialect) => [dialect.name, answerOf(dialect.name, kind)]))
  const works = new Map(
    formats.map((dialect) => {
      const target = targetOf(dialect)
      const { reads, events } = answers.get(dialect.name)!
      const seen = decode(dialect, target, reads)
      if (seen < events) throw new Error(`${dialect.name}: ${seen} model events of ${events} frames`)
      return [dialect.name, () => decode(dialect, target, reads)]
    }),
  )
  report(`decode: ${kind === 'text' ? 'text' : 'arguments of calls'}`, 'events/s', measureAll(works), (name, us) =>
    Math.round((answers.get(name)!.events * 1e6) / us).toLocaleString('en'),
  )
}

const targets = new Map(formats.map((dialect) => [dialect.name, targetOf(dialect)]))
const long = { ...REQUEST, input: history() }
report(
  `encode: ${TURNS} turns`,
  'us',
  measureAll(new Map(formats.map((dialect) => [dialect.name, () => dialect.encodeRequest(long, targets.get(dialect.name)!)]))),
  (_name, us) => us.toFixed(0),
)
if (sink === null) console.log('nothing was measured')
if (failed && process.argv.includes('--check')) process.exitCode = 1
