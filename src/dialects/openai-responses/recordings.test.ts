import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isGatewayError } from '../../core/error.ts'
import { decodeBody, decodeSse, failure, fold } from './__fixtures__/harness.ts'
import type { Folded } from './__fixtures__/harness.ts'

const root = resolve(process.env['SIGNALBOX_FIXTURES'] ?? '../shared/fixtures')
const folder = join(root, 'responses')
const isThere = existsSync(folder)

interface NaiveUsage {
  readonly input_tokens: number
  readonly output_tokens: number
  readonly total_tokens: number
}
interface NaiveItem {
  readonly type: string
  readonly arguments?: string
  readonly input?: string
  readonly content?: readonly { readonly text?: string }[] | null
  readonly summary?: readonly { readonly text?: string }[] | null
}
interface NaiveResponse {
  readonly output: readonly NaiveItem[]
  readonly usage?: NaiveUsage
}
interface NaiveFrame {
  readonly type: string
  readonly output_index: number
  readonly content_index?: number
  readonly summary_index?: number
  readonly delta: string
  readonly arguments: string
  readonly item: NaiveItem
  readonly response?: NaiveResponse
}

interface Recording {
  readonly name: string
  readonly kind: 'json' | 'sse'
  readonly text: string
}

/** Payload lines as the server framed them (see the README of the recordings); a file with several answers is split at their starts. */
function reframe(provider: string, lines: readonly string[]): string[] {
  const answers: string[][] = []
  for (const line of lines) {
    const { type } = JSON.parse(line) as NaiveFrame
    if (answers.length === 0 || type === 'response.created') answers.push([])
    answers.at(-1)!.push(provider === 'openrouter' || provider === 'bedrock-mantle' ? `data: ${line}\n\n` : `event: ${type}\ndata: ${line}\n\n`)
  }
  return answers.map((frames) => frames.join('') + (provider === 'openrouter' ? 'data: [DONE]\n\n' : ''))
}

function read(provider: string, scenario: string, file: string): Recording[] {
  const text = readFileSync(join(folder, provider, scenario, file), 'utf8')
  const name = `${provider}/${scenario}/${file}`
  if (file.endsWith('.json')) return [{ name, kind: 'json', text }]
  if (file.endsWith('.sse')) return [{ name, kind: 'sse', text }]
  const lines = text.split('\n').filter((line) => line !== '')
  return reframe(provider, lines).map((answer, index) => ({ name: `${name} #${index}`, kind: 'sse', text: answer }))
}

function recordings(): Recording[] {
  const scenarios = readdirSync(folder).flatMap((provider) => readdirSync(join(folder, provider)).map((scenario) => [provider, scenario] as const))
  return scenarios.flatMap(([provider, scenario]) =>
    readdirSync(join(folder, provider, scenario))
      .filter((file) => file.includes('.response.'))
      .flatMap((file) => read(provider, scenario, file)),
  )
}

interface Naive {
  readonly text: string
  readonly arguments: readonly string[]
  readonly reasoning: string
  readonly types: readonly string[]
  readonly usage: NaiveUsage | undefined
}

/** An interpretation of the recording without our code: deltas combined by their index, everything else from the closing event. */
function naiveStream(text: string): Naive {
  const frames = text
    .split(/\r?\n/)
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)) as NaiveFrame)
  const said = new Map<string, string>()
  const add = (key: string, delta: string): unknown => said.set(key, (said.get(key) ?? '') + delta)
  for (const { type, output_index, content_index, summary_index, delta, arguments: whole } of frames) {
    if (type === 'response.output_text.delta') add(`text ${output_index} ${content_index}`, delta)
    if (type === 'response.function_call_arguments.delta' || type === 'response.custom_tool_call_input.delta') add(`arguments ${output_index}`, delta)
    // One server does not stream arguments at all.
    if (type === 'response.function_call_arguments.done' && !said.has(`arguments ${output_index}`)) said.set(`arguments ${output_index}`, whole)
    if (type === 'response.reasoning_text.delta' || type === 'response.reasoning_summary_text.delta')
      add(`reasoning ${output_index} ${content_index ?? summary_index}`, delta)
  }
  const of = (prefix: string): string[] => [...said].filter(([key]) => key.startsWith(prefix)).map(([, value]) => value)
  const types = frames.filter(({ type }) => type === 'response.output_item.added').map(({ item }) => item.type)
  return { text: of('text').join(''), arguments: of('arguments'), reasoning: of('reasoning').join(''), types, usage: frames.at(-1)?.response?.usage }
}

function naiveBody(text: string): Naive {
  const { output, usage } = JSON.parse(text) as NaiveResponse
  const texts = (list: NaiveItem['content']): string => (list ?? []).map((part) => part.text ?? '').join('')
  return {
    text: output
      .filter(({ type }) => type === 'message')
      .map(({ content }) => texts(content))
      .join(''),
    arguments: output.filter(({ type }) => type === 'function_call' || type === 'custom_tool_call').map((item) => item.arguments ?? item.input ?? ''),
    reasoning: output
      .filter(({ type }) => type === 'reasoning')
      .map(({ summary, content }) => texts(summary) + texts(content))
      .join(''),
    types: output.map(({ type }) => type),
    usage,
  }
}

function said({ items, end }: Folded): Naive {
  const calls = items.filter(({ type }) => type === 'function_call' || type === 'custom_tool_call')
  return {
    text: items.map((item) => item.text).join(''),
    arguments: calls.map((item) => item.arguments),
    reasoning: items.map((item) => item.summary + item.reasoning).join(''),
    types: items.map(({ type }) => type),
    usage: end.usage?.raw as NaiveUsage | undefined,
  }
}

const all = isThere ? recordings() : []
const isFailed = ({ text }: Recording): boolean => /"type": ?"(?:error|response\.failed)"/.test(text) || /^\s*\{\s*"(?:error|code)":/.test(text)
const good = all.filter((recording) => !isFailed(recording))

/** Recorded refusals and their error types. */
const REFUSALS: readonly (readonly [name: RegExp, errorType: string])[] = [
  [/rejects_interleaved_function_calls/, 'invalid_prompt'],
  [/invalid_api_keys/, 'authentication'],
  [/context_length_exceeded/, 'context_length_exceeded'],
  [/va-openai-error/, 'payment_required'],
  [/appropriate_auth_error/, 'authentication'],
]

describe.skipIf(!isThere)(`recordings of Responses servers (${isThere ? folder : `MISSING: ${folder}, set SIGNALBOX_FIXTURES`})`, () => {
  it('are all there', () => {
    expect(good.length).toBeGreaterThan(60)
    expect(all.length - good.length).toBeGreaterThanOrEqual(6)
  })

  it.each(good.filter(({ kind }) => kind === 'sse'))('$name says what its deltas say, in pieces of any size', ({ text }) => {
    const naive = naiveStream(text)
    const bytes = Buffer.from(text)
    const first = fold(decodeSse(bytes, bytes.length).events)
    expect(said(first)).toEqual(naive)
    expect(first.end.usage).toMatchObject({
      inputTokens: naive.usage?.input_tokens,
      outputTokens: naive.usage?.output_tokens,
      totalTokens: naive.usage?.total_tokens,
    })
    for (const size of [1, 7, 1000]) expect(fold(decodeSse(bytes, size).events)).toEqual(first)
  })

  it.each(good.filter(({ kind }) => kind === 'sse'))('$name comes to the same as the JSON answer it ends with', ({ text }) => {
    const frames = text.split(/\r?\n/).filter((line) => line.startsWith('data: {'))
    const { response } = JSON.parse(frames.at(-1)!.slice(6)) as NaiveFrame
    const streamed = fold(decodeSse(Buffer.from(text), 4096).events)
    const body = fold(decodeBody(response!).events)
    expect(said(body)).toEqual(said(streamed))
    expect(body.end).toEqual(streamed.end)
    expect(body.items.map(({ annotations }) => annotations)).toEqual(streamed.items.map(({ annotations }) => annotations))
    expect(body.items.map(({ start }) => [start['call_id'], start['name']])).toEqual(
      streamed.items.map(({ start }) => [start['call_id'], start['name']]),
    )
  })

  it.each(good.filter(({ kind }) => kind === 'json'))('$name says what its items say', ({ text }) => {
    const folded = fold(decodeBody(text).events)
    expect(said(folded)).toEqual(naiveBody(text))
  })

  it.each(good)('$name never shows an upstream item id', ({ kind, text }) => {
    const { events } = kind === 'json' ? decodeBody(text) : decodeSse(Buffer.from(text), 4096)
    const ids = [...text.matchAll(/"(?:id|item_id)": ?"((?:msg|rs|fc|ctc|ws)_[^"]+)"/g)].map(([, id]) => id!)
    const shown = JSON.stringify(events.map((event) => (event.type === 'response-end' || event.type === 'response-start' ? {} : event)))
    for (const id of ids) expect(shown).not.toContain(`"${id}"`)
  })

  it.each(good.filter(({ kind }) => kind === 'sse'))('$name is an error when it is cut before its end', ({ text }) => {
    const frames = text.split('\n\n')
    const last = frames.findLastIndex((frame) => frame.includes('response.completed'))
    for (const at of [0, 1, Math.floor(last / 2), last]) {
      const error = failure(() => decodeSse(Buffer.from(`${frames.slice(0, at).join('\n\n')}\n\n`), 4096))
      expect(error).toMatchObject({ errorType: 'provider_unavailable' })
    }
  })

  it.each(all.filter(isFailed))('$name is the right error', ({ name, kind, text }) => {
    const error = failure(() => (kind === 'json' ? decodeBody(text) : decodeSse(Buffer.from(text), 4096)))
    expect(isGatewayError(error)).toBe(true)
    expect(error).toMatchObject({ errorType: REFUSALS.find(([pattern]) => pattern.test(name))?.[1] })
  })
})
