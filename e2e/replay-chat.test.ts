import { createOpenAI } from '@ai-sdk/openai'
import { OpenRouter } from '@openrouter/sdk'
import type { ChatAssistantMessage, ChatResult, ChatStreamChunk } from '@openrouter/sdk/models'
import { generateText, jsonSchema, streamText, tool } from 'ai'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BY_CALLER } from '../src/core/caller-call.ts'
import { readRecordings, recordingsFolder } from '../src/testing/recordings.ts'
import { replayModel, startReplayServer, type ReplayServer } from '../src/testing/replay-server.ts'
import { startGateway, type TestGateway } from '../src/testing/start-gateway.ts'
import { expectKnown } from './clients/expect-known.ts'
import { configFor, expectedFailure, isFailure, REPLAYED } from './replay-stage.ts'
import { verifies } from './requirements.ts'

/**
 * Sends every recorded answer through the other front door: real clients of chat completions must see the content of the same answer's items, which
 * replay.test.ts compares with the recording itself.
 */
const folder = recordingsFolder()
if (folder === undefined) console.warn('SKIPPED: the recordings are not here (SIGNALBOX_FIXTURES): nothing is replayed into chat completions')

type Fields = { readonly [field: string]: unknown }
type Items = readonly (Fields & { readonly type: string })[]
interface Part {
  readonly text?: string
  readonly refusal?: string
  readonly annotations?: readonly (Fields & { readonly type: string })[]
}

/** What a client read from an answer. */
interface Seen {
  readonly text: string
  readonly refusal: string
  readonly thoughts: string
  readonly finish: string
  readonly calls: readonly (readonly [type: string, id: string, name: string, text: string])[]
  readonly usage: readonly unknown[]
}

const partsOf = (items: Items): readonly (readonly Part[])[] =>
  items.filter(({ type }) => type === 'message').map((item) => item['content'] as readonly Part[])
const joined = (parts: readonly Part[], field: 'text' | 'refusal'): string => parts.map((part) => part[field] ?? '').join('')

/** The items of an answer in a format with a single message. */
function expectedOf(answer: OpenAI.Responses.Response): Seen {
  const items = answer.output as unknown as Items
  const calls = items.flatMap((item): Seen['calls'] => {
    const call = (type: string, text: unknown) => [[type, String(item['call_id']), String(item['name']), String(text)]] as const
    if (item.type === 'function_call') return call('function', item['arguments'])
    return item.type === 'custom_tool_call' ? call('custom', item['input']) : []
  })
  const usage = answer.usage!
  return {
    text: partsOf(items)
      .map((parts) => joined(parts, 'text'))
      .filter((text) => text !== '')
      .join('\n\n'),
    refusal: partsOf(items)
      .map((parts) => joined(parts, 'refusal'))
      .join(''),
    thoughts: items
      .filter(({ type }) => type === 'reasoning')
      .flatMap((item) => [...((item['content'] ?? []) as readonly Part[]), ...((item['summary'] ?? []) as readonly Part[])])
      .map(({ text }) => text)
      .join(''),
    finish: answer.incomplete_details?.reason?.replace('max_output_tokens', 'length') ?? (calls.length > 0 ? 'tool_calls' : 'stop'),
    calls,
    usage: [
      usage.input_tokens,
      usage.output_tokens,
      usage.total_tokens,
      usage.input_tokens_details.cached_tokens,
      usage.output_tokens_details.reasoning_tokens,
    ],
  }
}

function seenByOpenAi({ choices: [choice], usage }: OpenAI.ChatCompletion, thoughts: string): Seen {
  const { message, finish_reason: finish } = choice!
  return {
    text: message.content ?? '',
    refusal: message.refusal ?? '',
    thoughts,
    finish,
    calls: (message.tool_calls ?? []).map((call) =>
      call.type === 'function'
        ? ([call.type, call.id, call.function.name, call.function.arguments] as const)
        : ([call.type, call.id, call.custom.name, call.custom.input] as const),
    ),
    usage: [
      usage?.prompt_tokens,
      usage?.completion_tokens,
      usage?.total_tokens,
      usage?.prompt_tokens_details?.cached_tokens,
      usage?.completion_tokens_details?.reasoning_tokens,
    ],
  }
}

describe.skipIf(folder === undefined).each(Object.keys(REPLAYED))(verifies('S2-recordings', 'P44', 'P18', 'chat completions of %s'), (format) => {
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

  const modelOf = (n: number, how: 'whole' | 'cut'): string => `replay/${replayModel(n, how)}`
  const body = (n: number, how: 'whole' | 'cut') => ({ model: modelOf(n, how), messages: [{ role: 'user' as const, content: 'Hello' }] })

  /** The helper keeps only the last value of unknown fields, so reasoning is added up separately. */
  async function streamed(n: number, how: 'whole' | 'cut'): Promise<Seen> {
    let thoughts = ''
    const stream = openai.chat.completions.stream({ ...body(n, how), stream: true })
    stream.on('chunk', ({ choices }) => (thoughts += (choices[0]?.delta as { reasoning?: string } | undefined)?.reasoning ?? ''))
    return seenByOpenAi(await stream.finalChatCompletion(), thoughts)
  }
  async function whole(n: number, how: 'whole' | 'cut', answer: OpenAI.Responses.Response): Promise<Seen> {
    const completion = await openai.chat.completions.create(body(n, how))
    const { message } = completion.choices[0]!
    expectSameCitations(message, answer.output as unknown as Items)
    return seenByOpenAi(completion, (message as { reasoning?: string | null }).reasoning ?? '')
  }

  /** Text and reasoning. Users of this client read the rest directly from the chunks, all of which match its schema. */
  async function throughSdk(n: number, stream: boolean): Promise<Pick<Seen, 'text' | 'thoughts'>> {
    const sent = await sdk.chat.send({ chatRequest: { ...body(n, stream ? 'whole' : 'cut'), stream } })
    const said: Pick<ChatAssistantMessage, 'content' | 'reasoning'>[] = []
    if (stream) {
      for await (const chunk of sent as AsyncIterable<ChatStreamChunk>) {
        expectKnown(chunk)
        said.push(...chunk.choices.map(({ delta }) => delta))
      }
    } else {
      expectKnown(sent)
      said.push((sent as ChatResult).choices[0]!.message)
    }
    const all = (field: 'content' | 'reasoning'): string => said.map((delta) => (delta[field] as string | null | undefined) ?? '').join('')
    return { text: all('content'), thoughts: all('reasoning') }
  }

  async function throughAiSdk(n: number, { text, refusal, calls }: Seen): Promise<void> {
    const provider = createOpenAI({ apiKey: gateway.key, baseURL: `${gateway.url}/api/v1` })
    const tools = Object.fromEntries(calls.map(([, , name]) => [name, tool({ inputSchema: jsonSchema({}) })]))
    const failures: unknown[] = []
    const onError = ({ error }: { error: unknown }): void => void failures.push(error)
    const quiet = { maxRetries: 0, prompt: 'Hello', tools }
    const stream = streamText({ ...quiet, model: provider.chat(modelOf(n, 'cut')), onError })
    await stream.consumeStream()
    expect(failures).toEqual([])
    const answer = await generateText({ ...quiet, model: provider.chat(modelOf(n, 'whole')) })
    for (const got of [{ text: await stream.text, toolCalls: await stream.toolCalls }, answer]) {
      expect(got.text).toBe(text + refusal)
      expect(got.toolCalls.map(({ toolName }) => toolName)).toEqual(calls.map(([, , name]) => name))
    }
  }

  const answers = numbered.filter(([, recording]) => !isFailure(recording))
  it.each(answers)('%s', async (_name, recording, n) => {
    /** Ids that no vendor assigned are generated for each answer. */
    const given = (seen: Seen): Seen => ({
      ...seen,
      calls: seen.calls.map(([type, id, ...rest]) => [type, recording.body.includes(id) ? id : 'made', ...rest]),
    })
    const answer = await openai.responses.create({ model: modelOf(n, 'whole'), input: 'Hello' })
    if (answer.output.some(({ type }) => BY_CALLER.has(type) || type === 'mcp_approval_request')) {
      await expect(openai.chat.completions.create(body(n, 'whole'))).rejects.toBeInstanceOf(OpenAI.UnprocessableEntityError)
      await expect(streamed(n, 'cut')).rejects.toThrow('has no place in this format')
      return
    }
    const expected = given(expectedOf(answer))
    expect(given(await whole(n, 'whole', answer))).toEqual(expected)
    expect(given(await whole(n, 'cut', answer))).toEqual(expected)
    expect(given(await streamed(n, 'cut'))).toEqual(expected)
    // These clients know only function calls.
    if (expected.calls.some(([type]) => type === 'custom')) return
    for (const stream of [true, false]) expect(await throughSdk(n, stream)).toEqual({ text: expected.text, thoughts: expected.thoughts })
    await throughAiSdk(n, expected)
  })

  it.each(numbered.filter(([, recording]) => isFailure(recording)))('the failure %s', async (name, recording, n) => {
    const [status, errorType] = expectedFailure(name, recording)
    const error: unknown = await openai.chat.completions.create(body(n, 'whole')).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ status, error: { metadata: { error_type: errorType } } })
    const told: unknown = await streamed(n, 'cut').catch((thrown: unknown) => thrown)
    expect(told).toBeInstanceOf(OpenAI.APIError)
    expect(told).toMatchObject({ error: { code: status, metadata: { error_type: errorType } } })
    const known: unknown = await sdk.chat.send({ chatRequest: body(n, 'cut') }).catch((thrown: unknown) => thrown)
    expect(known).toMatchObject({ statusCode: status, error: { code: status } })
  })
})

/** URL citations, the only ones of this format, must refer to the same words, wherever these are in the single content. */
function expectSameCitations({ content, annotations = [] }: OpenAI.ChatCompletionMessage, items: Items): void {
  const cited = (text: string, { url, title, start_index: start, end_index: end }: Fields) => [url, title, text.slice(start as number, end as number)]
  const expected = partsOf(items)
    .flat()
    .flatMap(({ text = '', annotations: list = [] }) =>
      list.filter(({ type }) => type === 'url_citation').map((annotation) => cited(text, annotation)),
    )
  expect(annotations.map(({ url_citation: citation }) => cited(content!, { ...citation }))).toEqual(expected)
}
