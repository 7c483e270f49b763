import { createOpenResponses } from '@ai-sdk/open-responses'
import { createOpenAI } from '@ai-sdk/openai'
import { OpenAIResponsesModel, type ModelRequest as AgentRequest, withTrace } from '@openai/agents'
import { OpenRouter } from '@openrouter/sdk'
import type { OpenResponsesResult, StreamEvents } from '@openrouter/sdk/models'
import { generateText, jsonSchema, streamText, tool, type LanguageModel } from 'ai'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkWire } from '../src/testing/check-wire.ts'
import { contractCheck } from '../src/testing/contract.ts'
import { foldChat, type FoldedCall, type FoldedChat } from '../src/testing/fold-chat.ts'
import { readRecordings, recordingsFolder, recordingsRequired } from '../src/testing/recordings.ts'
import { replayModel, startReplayServer, type ReplayServer } from '../src/testing/replay-server.ts'
import { startGateway, type TestGateway } from '../src/testing/start-gateway.ts'
import { expectKnown } from './clients/expect-known.ts'
import { configFor, expectedFailure, isFailure, REPLAYED } from './replay-stage.ts'
import { verifies } from './requirements.ts'

/**
 * Serves every recorded answer over a real socket, in one piece and cut at random bytes, through the whole gateway to real clients. All of them must see
 * the same: no exception, no lost event, nothing unknown, and the same text, calls and usage in a stream and in JSON.
 */

const folder = recordingsFolder()
if (folder === undefined) console.warn('SKIPPED: the recordings are not here (SIGNALBOX_FIXTURES): nothing is replayed through the gateway')

if (folder === undefined && recordingsRequired()) {
  it('the recordings are here, as CI and SIGNALBOX_REQUIRE_FIXTURES demand', () => {
    expect.unreachable('set SIGNALBOX_FIXTURES to the folder that holds index.json')
  })
}

/**
 * Items of vendors' own tools for which the contract has no name: they are forwarded, and this client passes them on unread. It does the same with items
 * under the gateway's own prefix, because their requests did not use its spelling.
 */
const CARRIED: ReadonlySet<unknown> = new Set([
  'mcp_list_tools',
  'mcp_call',
  'mcp_approval_request',
  'tool_search_call',
  'tool_search_output',
  'local_shell_call',
  'compaction',
  'x_search_call',
  'gateway:mcp',
])
const isCarried = (raw: unknown): boolean => CARRIED.has((raw as { readonly type?: unknown }).type)

/** What a client read from an answer. */
interface Seen {
  readonly text: string
  readonly refusal: string
  /** Whether the model stopped on its own. */
  readonly complete: boolean
  readonly calls: readonly (readonly [name: string, args: string])[]
  /** Names among `calls` that belong to functions; the others are custom tools. */
  readonly functions: ReadonlySet<string>
  /** Everything that the caller must execute, in order: `calls`, and calls of a vendor's own tools with their input. */
  readonly asked: readonly (readonly [name: string, what: unknown])[]
  readonly types: readonly string[]
  readonly usage: readonly unknown[]
}

/** Vendors' own tools that run on the caller's side, and the input of their calls. */
const OWN_TOOLS: { readonly [type: string]: (call: Fields) => unknown } = {
  local_shell_call: ({ action }) => (action as Fields)['command'],
  shell_call: ({ action }) => (action as Fields)['commands'],
  apply_patch_call: ({ operation }) => operation,
}
type Fields = { readonly [field: string]: unknown }
/** One client renames items it does not know and keeps the original. */
const rawOf = (item: Fields): Fields => (item['raw'] as Fields | undefined) ?? item

type Output = readonly { readonly type: string; readonly [field: string]: unknown }[]

function seen({ status, output }: { readonly status?: unknown; readonly output: unknown }, usage: readonly unknown[]): Seen {
  const items = output as Output
  const parts = items.flatMap((item) => (item.type === 'message' ? (item['content'] as { type: string; text?: string; refusal?: string }[]) : []))
  return {
    text: parts.map((part) => (part.type === 'output_text' ? part.text : '')).join(''),
    refusal: parts.map((part) => part.refusal ?? '').join(''),
    complete: status === 'completed',
    calls: items.flatMap((item) => {
      if (item.type === 'function_call') return [[String(item['name']), String(item['arguments'])] as const]
      return item.type === 'custom_tool_call' ? [[String(item['name']), String(item['input'])] as const] : []
    }),
    functions: new Set(items.filter(({ type }) => type === 'function_call').map((item) => String(item['name']))),
    asked: items.flatMap((item) => {
      if (item.type === 'function_call') return [[String(item['name']), parsed(String(item['arguments']))] as const]
      if (item.type === 'custom_tool_call') return [[String(item['name']), parsed(String(item['input']))] as const]
      const type = String(rawOf(item)['type'])
      return OWN_TOOLS[type] === undefined ? [] : [[type.replace(/_call$/, ''), OWN_TOOLS[type](rawOf(item))] as const]
    }),
    types: items.map((item) => String(rawOf(item)['type'])),
    usage,
  }
}

describe.skipIf(folder === undefined).each(Object.keys(REPLAYED))(verifies('S2-recordings', 'P44', 'P18', 'recordings of %s'), (format) => {
  const recordings = folder === undefined ? [] : readRecordings(folder, format)
  const numbered = recordings.map((recording, n) => [recording.name.replace(`${format}/`, ''), recording, n] as const)
  let server: ReplayServer
  let gateway: TestGateway
  let openai: OpenAI
  let sdk: OpenRouter

  beforeAll(async () => {
    server = await startReplayServer(recordings)
    gateway = await startGateway(configFor(recordings, REPLAYED[format]!, server.url))
    openai = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.url}/api/v1`, maxRetries: 0 })
    sdk = new OpenRouter({ apiKey: gateway.key, serverURL: `${gateway.url}/api/v1`, retryConfig: { strategy: 'none' } })
  })
  afterAll(async () => {
    await gateway.close()
    await server.close()
  })

  // Without parameters that could cut an answer short, so that these answers end as the upstream ended them.
  const body = (n: number, how: 'whole' | 'cut') => ({ model: `replay/${replayModel(n, how)}`, input: 'Hello' })

  async function throughWire(n: number): Promise<Seen> {
    const response = await gateway.respond({ ...body(n, 'cut'), stream: true })
    const text = await response.text()
    if (response.status !== 200) throw new Error(text)
    const { terminal } = checkWire(text)
    expect(['response.completed', 'response.incomplete']).toContain(terminal.type)
    const answer = terminal['response'] as OpenAI.Responses.Response
    return seen(answer, usageOf(answer.usage))
  }
  const usageOf = (usage: OpenAI.Responses.ResponseUsage | null | undefined): readonly unknown[] => [
    usage?.input_tokens,
    usage?.output_tokens,
    usage?.total_tokens,
    usage?.input_tokens_details.cached_tokens,
    usage?.output_tokens_details.reasoning_tokens,
  ]
  const throughOpenAi = async (n: number, how: 'whole' | 'cut', stream: boolean): Promise<Seen> => {
    const answer = stream ? await openai.responses.stream(body(n, how)).finalResponse() : await openai.responses.create(body(n, how))
    return seen(answer, usageOf(answer.usage))
  }
  const throughSdk = async (n: number, how: 'whole' | 'cut', stream: boolean): Promise<Seen> => {
    const sent = await sdk.beta.responses.send({ responsesRequest: { ...body(n, how), stream } })
    let answer = sent as OpenResponsesResult
    let deltas = ''
    if (stream) {
      for await (const event of sent as AsyncIterable<StreamEvents>) {
        expectKnown(event, isCarried)
        if (event.type === 'response.output_text.delta') deltas += event.delta
        if (event.type === 'response.completed' || event.type === 'response.incomplete') answer = event.response
      }
    } else expectKnown(sent, isCarried)
    const { usage } = answer
    const collected = seen(answer, [
      usage?.inputTokens,
      usage?.outputTokens,
      usage?.totalTokens,
      usage?.inputTokensDetails.cachedTokens,
      usage?.outputTokensDetails.reasoningTokens,
    ])
    if (stream) expect(deltas).toBe(collected.text)
    return collected
  }

  const sendChat = (n: number, how: 'whole' | 'cut', stream: boolean): Promise<Response> =>
    fetch(`${gateway.url}/api/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: body(n, how).model, messages: [{ role: 'user', content: 'Hello' }], stream }),
    })

  /** The same answer in the gateway's other format: as a whole, and chunk by chunk. */
  async function throughChat(n: number, expected: Seen): Promise<void> {
    const send = (how: 'whole' | 'cut', stream: boolean): Promise<Response> => sendChat(n, how, stream)
    // Some answers contain calls for the caller that this format cannot express.
    if (
      (expected.asked.length > expected.calls.length && !expected.types.includes('shell_call_output')) ||
      expected.types.includes('mcp_approval_request')
    ) {
      expect((await send('whole', false)).status).toBe(422)
      return
    }
    const { chunks, ...streamed } = foldChat(await (await send('cut', true)).text())
    // The contract has only functions.
    const isKnown = expected.calls.every(([name]) => expected.functions.has(name))
    for (const chunk of isKnown ? chunks : []) isChunk?.(chunk)
    const completion = (await (await send('whole', false)).json()) as ChatCompletion
    if (isKnown) isCompletion?.(completion)
    const [{ message, finish_reason: finishReason }] = completion.choices
    const answers = [
      { message: streamed.message, finishReason: streamed.finishReason, usage: streamed.usage },
      { message: { ...message, tool_calls: message.tool_calls ?? [] }, finishReason, usage: completion.usage },
    ]
    for (const { message: said, finishReason: reason, usage } of answers) {
      // Messages of one answer are separated by an empty line.
      expect((said.content ?? '').replaceAll('\n', '')).toBe(expected.text.replaceAll('\n', ''))
      expect(said.refusal ?? '').toBe(expected.refusal)
      expect(said.tool_calls.map(calledIn)).toEqual(expected.calls)
      expect(['length', 'content_filter'].includes(reason)).toBe(!expected.complete)
      if (expected.complete) expect(reason).toBe(expected.calls.length > 0 ? 'tool_calls' : 'stop')
      expect(chatUsageOf(usage)).toEqual(expected.usage)
    }
  }

  /** What the other clients read: text and calls. Each counts usage in its own way. */
  const others: readonly ((n: number, expected: Seen) => Promise<void>)[] = [
    // In whole answers this client refuses items of unknown types; in streams it skips them.
    (n, expected) =>
      throughAiSdk(
        expected.types.some((type) => type === 'x_search_call' || type.startsWith('gateway:')) ? 'streamed' : 'both',
        (how) => createOpenAI({ apiKey: gateway.key, baseURL: `${gateway.url}/api/v1` })(body(n, how).model),
        expected,
        expected.asked,
      ),
    // In whole answers this client fails on every refusal. It knows only functions.
    (n, expected) =>
      throughAiSdk(
        expected.refusal === '' ? 'both' : 'streamed',
        (how) => createOpenResponses({ name: 'gateway', url: `${gateway.url}/api/v1/responses`, apiKey: gateway.key })(body(n, how).model),
        expected,
        expected.asked.filter(([name]) => expected.functions.has(name)),
      ),
    throughChat,
    (n, expected) => throughAgents((how) => new OpenAIResponsesModel(openai, body(n, how).model), expected),
  ]

  it('are there, answers and failures', () => {
    expect(recordings.filter((recording) => !isFailure(recording)).length).toBeGreaterThan(5)
  })

  it.each(numbered.filter(([, recording]) => !isFailure(recording)))('%s', async (_name, recording, n) => {
    const expected = await throughWire(n)
    for (const stream of [true, false]) {
      expect(await throughOpenAi(n, stream ? 'cut' : 'whole', stream)).toEqual(expected)
      expect(await throughSdk(n, stream ? 'whole' : 'cut', stream)).toEqual(expected)
    }
    for (const through of others) await through(n, expected)
    // Features describe the whole file; usage is what the vendor reported.
    if (recording.features.includes('tool_call') && !/ #\d+$/.test(recording.name)) expect(expected.calls.length).toBeGreaterThan(0)
    if (/"(?:prompt|input)_tokens"/.test(recording.body.toString())) expect(expected.usage.every((count) => Number.isInteger(count))).toBe(true)
  })

  it.each(numbered.filter(([, recording]) => isFailure(recording)))('the failure %s', async (name, recording, n) => {
    const raw = await gateway.respond({ ...body(n, 'cut'), stream: true })
    const text = await raw.text()
    const failed = raw.status === 200 ? (checkWire(text).terminal['response'] as { error_type: string }) : undefined
    if (failed === undefined) expect(JSON.parse(text)).toMatchObject({ error: { code: raw.status, metadata: { source: 'provider' } } })
    else expect(checkWire(text).terminal.type).toBe('response.failed')
    const json = await gateway.respond(body(n, 'whole'))
    const chat = await sendChat(n, 'cut', true)
    const { error } = (await json.json()) as { error: { code: number; message: string; metadata: { error_type: string } } }
    expect([json.status, error.metadata.error_type]).toEqual(expectedFailure(name, recording))
    if (failed === undefined) expect(raw.status).toBe(json.status)
    else expect(failed.error_type).toBe(error.metadata.error_type)
    const told = { code: json.status, message: error.message, metadata: { error_type: error.metadata.error_type } }
    if (chat.status !== 200) expect([chat.status, await chat.json()]).toMatchObject([json.status, { error: told }])
    else expect(foldChat(await chat.text())).toMatchObject({ finishReason: 'error', error: told })
    const typed: unknown = await openai.responses.create(body(n, 'cut')).catch((thrown: unknown) => thrown)
    expect(typed).toBeInstanceOf(OPENAI_ERRORS[json.status])
    const known: unknown = await sdk.beta.responses.send({ responsesRequest: body(n, 'whole') }).catch((thrown: unknown) => thrown)
    expect(known).toMatchObject({ statusCode: json.status, error: { code: json.status } })
  })
})

type ChatMessage = Partial<Omit<FoldedChat['message'], 'tool_calls' | 'content' | 'refusal'>> & {
  readonly content: string | null
  readonly refusal: string | null
  readonly tool_calls?: readonly FoldedCall[]
}
interface ChatCompletion {
  readonly choices: readonly [{ readonly message: ChatMessage; readonly finish_reason: string }]
  readonly usage?: Fields
}

const isChunk = contractCheck('ChatStreamChunk')
const isCompletion = contractCheck('ChatResult')

const calledIn = ({ function: called, custom }: FoldedCall): readonly [string, string] =>
  called === undefined ? [custom!.name, custom!.input] : [called.name, called.arguments]

const chatUsageOf = (usage: Fields | undefined): readonly unknown[] => [
  usage?.['prompt_tokens'],
  usage?.['completion_tokens'],
  usage?.['total_tokens'],
  (usage?.['prompt_tokens_details'] as Fields | undefined)?.['cached_tokens'],
  (usage?.['completion_tokens_details'] as Fields | undefined)?.['reasoning_tokens'],
]

const OPENAI_ERRORS: { readonly [status: number]: new (...args: never[]) => Error } = {
  400: OpenAI.BadRequestError,
  404: OpenAI.NotFoundError,
  429: OpenAI.RateLimitError,
  502: OpenAI.InternalServerError,
  503: OpenAI.InternalServerError,
}

/** Text and calls of a streamed and a whole answer. Tools are offered under the names that will be called, because the client refuses others. */
async function throughAiSdk(
  ways: 'both' | 'streamed',
  model: (how: 'whole' | 'cut') => LanguageModel,
  expected: Seen,
  asked: Seen['asked'],
): Promise<void> {
  const names = [...new Set(asked.map(([name]) => name))]
  const tools = Object.fromEntries(names.map((name) => [name, tool({ inputSchema: jsonSchema({}) })]))
  const failures: unknown[] = []
  const quiet = { maxRetries: 0, prompt: 'Hello', tools }
  const streamed = streamText({ ...quiet, model: model('cut'), onError: ({ error }) => void failures.push(error) })
  await streamed.consumeStream({ onError: (error) => void failures.push(error) })
  expect(failures).toEqual([])
  const answers = [{ text: await streamed.text, calls: await streamed.toolCalls }]
  if (ways === 'both') {
    const whole = await generateText({ ...quiet, model: model('whole') })
    answers.push({ text: whole.text, calls: whole.toolCalls })
  }
  for (const { text, calls } of answers) {
    // One of the two shows a refusal as text.
    expect([expected.text, expected.text + expected.refusal]).toContain(text)
    const called = calls.filter(({ providerExecuted }) => providerExecuted !== true)
    expect(called.map(({ toolName, input }) => [toolName, OWN_TOOLS[`${toolName}_call`]?.(input as Fields) ?? input])).toEqual(asked)
  }
}

function parsed(args: string): unknown {
  try {
    return args === '' ? {} : JSON.parse(args)
  } catch {
    return args
  }
}

/** An agent's model, called directly, because a run would execute the calls. */
async function throughAgents(model: (how: 'whole' | 'cut') => OpenAIResponsesModel, expected: Seen): Promise<void> {
  const request: AgentRequest = { input: 'Hello', modelSettings: {}, tools: [], outputType: 'text', handoffs: [], tracing: false }
  await withTrace('replay', async () => {
    // To this client an answer that was cut off is an error, whole or streamed.
    if (!expected.complete) {
      await expect(model('whole').getResponse(request)).rejects.toThrow(/response\.incomplete/)
      return
    }
    const { output } = await model('whole').getResponse(request)
    let streamed: Output | undefined
    for await (const event of model('cut').getStreamedResponse(request)) {
      if (event.type === 'response_done') streamed = event.response.output as unknown as Output
    }
    for (const items of [output as unknown as Output, streamed!]) {
      const texts = items.flatMap((item) => (item.type === 'message' ? (item['content'] as { text?: string }[]) : []))
      expect(texts.map(({ text }) => text ?? '').join('')).toBe(expected.text)
      const calls = items.filter(({ type }) => type === 'function_call').map((item) => [item['name'], item['arguments']])
      expect(calls).toEqual(expected.calls.filter(([name]) => expected.functions.has(name)))
    }
  })
}
