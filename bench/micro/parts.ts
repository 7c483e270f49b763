/**
 * Where the time of a JSON call goes, part by part and layer by layer, without sockets: microseconds in the least disturbed of many rounds, with
 * everything warm. In a running gateway the same work costs about twice as much, because caches are cold and garbage has to be collected.
 *
 *   node bench/micro/parts.ts
 */
import { computeCost } from '../../src/catalog/cost.ts'
import type { Call, Handler } from '../../src/core/call.ts'
import type { Target } from '../../src/core/dialect.ts'
import type { ModelEvent } from '../../src/core/event.ts'
import { openAiChat } from '../../src/dialects/openai-chat/index.ts'
import { createHandOver } from '../../src/delivery/hand-over.ts'
import { Assembler } from '../../src/doors/responses/assemble.ts'
import { decodeResponsesRequest } from '../../src/doors/responses/decode-request.ts'
import { RecentItems } from '../../src/http/recent-items.ts'
import { systemClock } from '../../src/lib/clock.ts'
import type { HttpClient } from '../../src/lib/http-client.ts'
import { randomId } from '../../src/lib/id.ts'
import { parseJson } from '../../src/lib/json.ts'
import { createSseParser } from '../../src/lib/sse.ts'
import { createPipeline, type PipelineOptions } from '../../src/pipeline/create-pipeline.ts'
import { createCredentialPools } from '../../src/pipeline/credential-pool.ts'
import { createFallback } from '../../src/pipeline/fallback.ts'
import { createLimits } from '../../src/pipeline/limits.ts'
import { createHealth } from '../../src/router/health.ts'
import { planRoute } from '../../src/router/plan.ts'
import { createSticky } from '../../src/router/sticky.ts'
import { createGenerationSink, withoutOversize } from '../../src/store/index.ts'
import { createMemoryCounter } from '../../src/store/shared-state/memory.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { testCatalog, testEndpoint } from '../../src/testing/endpoints.ts'

const ROUNDS = 60
const PER_ROUND = 500

// ---- one request of 2 KB and its answer in eight events, as the bench's mock sends it ----

const SENTENCE = 'The quick gateway carries one more answer over the lazy wire, and nobody has to wait for it.'
const body = Buffer.from(
  JSON.stringify({
    model: 'acme/small',
    instructions: 'Answer in plain words.',
    input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: `Summarise.\n${`- ${SENTENCE}\n`.repeat(16)}` }] }],
    max_output_tokens: 1024,
    stream: false,
    temperature: 0.2,
    user: 'bench-user',
  }),
)
const head = { id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'bench-json', system_fingerprint: 'fp_bench' }
const frame = (choices: readonly object[], more: object = {}): Buffer => Buffer.from(`data: ${JSON.stringify({ ...head, choices, ...more })}\n\n`)
const delta = (content: object, finish: string | null = null): Buffer => frame([{ index: 0, delta: content, logprobs: null, finish_reason: finish }])
const wire = [
  delta({ role: 'assistant', content: '' }),
  ...Array.from({ length: 8 }, (_, i) => delta({ content: SENTENCE.slice(i) })),
  delta({}, 'stop'),
  frame([], { usage: { prompt_tokens: 480, completion_tokens: 160, total_tokens: 640 } }),
  Buffer.from('data: [DONE]\n\n'),
]

// ---- the rooms, as the application connects them ----

const plain = testEndpoint({ provider: 'acme', model: 'acme/small' })
const options = openAiChat.options.parse({})
const endpoint = { ...plain, connection: { ...plain.connection, dialect: openAiChat, options } }
const catalog = testCatalog([endpoint])
const health = createHealth({ clock: systemClock })
const sticky = createSticky({ clock: systemClock })
const request = decodeResponsesRequest(parseJson(body))
const target: Target<typeof options> = {
  provider: 'acme',
  providerName: 'Acme',
  upstreamModel: 'small',
  options,
  supports: endpoint.supports,
  contextLength: endpoint.contextLength,
  scope: 'acme',
  stream: true,
}
const http: HttpClient = {
  send() {
    let reads = 0
    return {
      head: Promise.resolve({ status: 200, headers: { 'content-type': 'text/event-stream' } }),
      read: () => Promise.resolve(reads++ === 0 ? wire : undefined),
      cancel: () => undefined,
      ended: true,
    }
  },
  close: () => Promise.resolve(),
}
const limits = createLimits({
  counter: createMemoryCounter({ load: () => Promise.reject(new Error('nobody has a limit here')), whenUnknown: () => 'local' }),
  limitsOf: () => undefined,
  catalog: () => catalog,
  mayUseOwnKeys: () => false,
  costOf: computeCost,
  policy: () => ({ unknownPrice: 'allow', expectedOutputTokens: 1_024 }),
  defaults: () => ({}),
})
const metrics = createMetrics()
const rooms = {
  http,
  clock: systemClock,
  userAgent: 'bench',
  media: { load: () => Promise.resolve(new Map()) },
  health,
  sticky,
  limits,
  pools: createCredentialPools(systemClock, true),
  withoutReasoning: (same: typeof request) => same,
  withLooseSchemas: (same: typeof request) => same,
  withoutParameters: (same: typeof request) => same,
  catalog: () => catalog,
  defaults: () => ({}),
  retries: () => true,
  costOf: computeCost,
  newId: randomId,
  estimateUsage: () => {
    throw new Error('the mock reports its usage')
  },
  sink: { record: () => undefined, flush: () => Promise.resolve() },
} satisfies Partial<PipelineOptions>
const sink = createGenerationSink({
  store: { generations: { insertMany: (batch) => Promise.resolve(void structuredClone(batch)) } },
  packing: createHandOver({ keepsContent: () => false, withoutOversize }),
  clock: systemClock,
})
const recent = new RecentItems({ clock: systemClock, maxEntries: 20_000, maxChars: 32 * 1024 * 1024, ttlMs: 3_600_000 })

function createCall(of = request): Call {
  return {
    id: `gen-${randomId(20)}`,
    owner: { workspaceId: 'w', keyHash: 'hash', keyName: 'name', keyLabel: 'label' },
    request: of,
    requestedModel: 'acme/small',
    stream: false,
    signal: new AbortController().signal,
    clock: systemClock,
    random: Math.random,
    receivedAt: systemClock.now(),
    origin: { apiType: 'responses' },
    trace: { strategy: 'direct', candidates: [], rejected: new Map(), attempts: [], pipeline: [], params: {} },
    output: () => [],
  }
}

function decode(): readonly ModelEvent[] {
  const events: ModelEvent[] = []
  const decoder = openAiChat.decoder(request, target)
  const parser = createSseParser((data, event) => {
    if (!decoder.finished) decoder.push(data, event, events)
  })
  for (const chunk of wire) parser.push(chunk)
  return events
}

const createAssembler = (of: Call): Assembler =>
  new Assembler({
    id: of.id,
    request: of.request,
    receivedAt: of.receivedAt,
    stream: false,
    clock: systemClock,
    newId: randomId,
    mirrorReasoning: false,
    facts: () => ({ model: 'acme/small', isByok: false }),
  })

async function drain(handler: Handler, call: Call, each?: (events: readonly ModelEvent[]) => void): Promise<void> {
  for await (const events of handler(call)) each?.(events)
}

// ---- what is measured ----

const parsed = parseJson(body)
const events = decode()
const fallback = createFallback(rooms)
const unrecorded = createPipeline(rooms)
const recorded = createPipeline({ ...rooms, sink, onFinished: (generation) => metrics.finished(generation) })

const PARTS: { readonly [name: string]: () => unknown } = {
  'parse the body': () => parseJson(body),
  'validate and decode it': () => decodeResponsesRequest(parsed),
  'plan, with the session': () =>
    planRoute({
      request,
      catalog,
      health: health.view(),
      random: Math.random,
      now: systemClock.now(),
      defaults: {},
      session: sticky.open('w', request, undefined),
    }),
  'encode for the upstream': () => openAiChat.encodeRequest(request, target),
  'cut and decode its answer': decode,
  'assemble the answer': () => {
    const assembler = createAssembler(createCall())
    assembler.push(events)
    assembler.finish()
    return assembler.answer()
  },
}
const LAYERS: { readonly [name: string]: () => Promise<void> } = {
  fallback: () => drain(fallback, createCall()),
  '+ record, limits, guardrails, plugins, tools': () => drain(unrecorded, createCall()),
  '+ queue of records, metrics': () => drain(recorded, createCall()),
  '+ body, assembler, recent items': async () => {
    const call = createCall(decodeResponsesRequest(parseJson(body)))
    const assembler = createAssembler(call)
    call.output = () => assembler.output()
    await drain(recorded, call, (batch) => assembler.push(batch))
    assembler.finish()
    assembler.answer()
    recent.remember('w', assembler.itemTexts())
  },
}

let kept: unknown
for (const [name, run] of [...Object.entries(PARTS), ...Object.entries(LAYERS)]) {
  let best = Infinity
  for (let round = 0; round < ROUNDS; round++) {
    const started = performance.now()
    for (let i = 0; i < PER_ROUND; i++) kept = name in LAYERS ? await run() : run()
    best = Math.min(best, ((performance.now() - started) * 1000) / PER_ROUND)
    // Timers of the queue run between rounds, as they do between calls.
    await new Promise((resolve) => setImmediate(resolve))
  }
  process.stdout.write(`${name.padEnd(48)} ${best.toFixed(1).padStart(6)} us\n`)
}
void kept
await sink.close()
process.exit(0)
