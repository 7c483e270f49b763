import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isGatewayError } from '../../core/error.ts'
import type { ModelEvent } from '../../core/event.ts'
import type { ModelRequest } from '../../core/request.ts'
import { createSseParser } from '../../lib/sse.ts'
import { checkEventBalance, foldEvents } from '../../testing/event-balance.ts'
import { isPartial } from '../../testing/recordings.ts'
import { geminiTarget } from './__fixtures__/target.ts'
import { gemini } from './index.ts'

interface Step {
  readonly dialect: string
  readonly status: number
  readonly response: string
  readonly request?: string
  readonly features: readonly string[]
  readonly models: readonly string[]
}

const fixtures = process.env['SIGNALBOX_FIXTURES'] ?? join(import.meta.dirname, '../../../../shared/fixtures')
const present = existsSync(join(fixtures, 'index.json'))
if (!present) console.warn(`recordings not found at ${fixtures}: gemini replay skipped`)

// Includes steps of this dialect in mixed conversations.
const steps = present
  ? (JSON.parse(readFileSync(join(fixtures, 'index.json'), 'utf8')) as { steps: Step[] }[])
      .flatMap((scenario) => scenario.steps)
      .filter(({ dialect }) => dialect === 'gemini')
  : []

const read = (path: string): string => readFileSync(join(fixtures, path), 'utf8')

/** The stream as bytes, framed as by its server. */
function streamBytes(step: Step): Buffer {
  if (step.response.endsWith('.sse')) return readFileSync(join(fixtures, step.response))
  const lines = read(step.response)
    .split('\n')
    .filter((line) => line.trim() !== '')
  return Buffer.from(lines.map((line) => `data: ${line}\r\n\r\n`).join(''))
}

type Declared = { tools?: { functionDeclarations?: { name: string }[]; function_declarations?: { name: string }[] }[] }

/** The request of a recording, reduced to what the decoder needs: the tools that it declared. */
function requestOf(step: Step): ModelRequest {
  if (step.request === undefined) return { input: [] }
  const { tools = [] } = JSON.parse(read(step.request)) as Declared
  const declared = tools.flatMap((tool) => tool.functionDeclarations ?? tool.function_declarations ?? [])
  return { input: [], tools: declared.map(({ name }) => ({ type: 'function', name })) }
}

const targetOf = (step: Step, stream: boolean): ReturnType<typeof geminiTarget> => geminiTarget({ model: step.models[0] ?? 'gemini', stream })

function decodeStream(step: Step, bytes: Buffer, cut: number): ModelEvent[] {
  const decoder = gemini.decoder(requestOf(step), targetOf(step, true))
  const out: ModelEvent[] = []
  const parser = createSseParser((data, event) => decoder.push(data, event, out))
  for (let at = 0; at < bytes.length; at += cut) parser.push(bytes.subarray(at, at + cut))
  parser.end()
  decoder.end(out)
  return out
}

function decodeBody(step: Step, text: string): ModelEvent[] {
  const out: ModelEvent[] = []
  const decoder = gemini.decoder(requestOf(step), targetOf(step, false))
  decoder.body(text, out)
  expect(decoder.finished).toBe(true)
  return out
}

interface Part {
  text?: string
  thought?: boolean
  thoughtSignature?: string
  functionCall?: { name?: string; args?: object; partialArgs?: { jsonPath: string; stringValue: string }[] }
  executableCode?: object
}
interface Frame {
  candidates?: { content?: { parts?: Part[] }; finishReason?: string; groundingMetadata?: { webSearchQueries?: string[] } }[]
  usageMetadata?: { [count: string]: number }
}

/** An independent interpretation of the recording that does not use events. */
function naive(frames: readonly Frame[]): { text: string; reasoning: string; calls: { name: string; args: unknown }[]; signatures: string[] } {
  const parts = frames.flatMap((frame) => frame.candidates?.[0]?.content?.parts ?? [])
  const calls: { name: string; args: unknown }[] = []
  for (const { functionCall } of parts) {
    if (functionCall?.name !== undefined) calls.push({ name: functionCall.name, args: functionCall.args ?? {} })
    for (const { jsonPath, stringValue } of functionCall?.partialArgs ?? []) {
      // Resolves the path in TypeScript: `$.a.b[0]`.
      const steps = jsonPath.slice(2).replaceAll('[', '.').replaceAll(']', '').split('.')
      let at = calls.at(-1)!.args as Record<string, unknown>
      steps.slice(0, -1).forEach((step, index) => (at = (at[step] ??= /^\d+$/.test(steps[index + 1]!) ? [] : {}) as Record<string, unknown>))
      at[steps.at(-1)!] = ((at[steps.at(-1)!] as string | undefined) ?? '') + stringValue
    }
  }
  return {
    text: parts.map((part) => (part.thought === true ? '' : (part.text ?? ''))).join(''),
    reasoning: parts.map((part) => (part.thought === true ? (part.text ?? '') : '')).join(''),
    calls,
    signatures: parts.flatMap((part) => part.thoughtSignature ?? []),
  }
}

function expectSame(events: readonly ModelEvent[], frames: readonly Frame[]): void {
  checkEventBalance(events)
  const expected = naive(frames)
  const seen = foldEvents(events)
  expect(seen.text).toBe(expected.text)
  expect(seen.reasoning).toBe(expected.reasoning)
  expect(seen.calls.map(({ name, text }) => ({ name, args: JSON.parse(text) }))).toEqual(expected.calls)
  expect(new Set(seen.calls.map(({ callId }) => callId)).size).toBe(seen.calls.length)
  // Every signature leaves in a separate item, in the order of arrival.
  expect(
    events.flatMap((event) => (event.type === 'item-end' && typeof event.item?.['signature'] === 'string' ? [event.item['signature']] : [])),
  ).toEqual(expected.signatures)
  const usage: Frame['usageMetadata'] = Object.assign({}, ...frames.map((frame) => frame.usageMetadata))
  const last = events.at(-1)
  expect(last?.type === 'response-end' && last.usage?.totalTokens).toBe(usage?.['totalTokenCount'])
  const searched = frames.some((frame) => frame.candidates?.[0]?.groundingMetadata?.webSearchQueries !== undefined)
  expect(events.some((event) => event.type === 'item-start' && event.item.type === 'web_search_call')).toBe(searched)
}

describe.skipIf(!present)('recorded answers', () => {
  const failing = (step: Step): boolean => step.features.some((feature) => /^finish:(?:UNEXPECTED_TOOL_CALL|blocked)$/.test(feature))
  const answers = steps.filter((step) => step.status < 400 && !failing(step))
  const name = (step: Step): [string, Step] => [step.response, step]

  it.each(answers.filter((step) => step.response.endsWith('.json')).map(name))('body %s', (_name, step) => {
    const text = read(step.response)
    const frame = JSON.parse(text) as Frame
    const whole = decodeBody(step, text)
    expectSame(whole, [frame])
    // The same answer as the only frame of a stream, and as the array that a stream without `alt=sse` is.
    expect(decodeStream(step, Buffer.from(`data: ${JSON.stringify(frame)}\r\n\r\n`), 50)).toEqual(whole)
    expect(decodeBody(step, `[${text}]`)).toEqual(whole)
  })

  it.each(answers.filter((step) => !step.response.endsWith('.json')).map(name))('stream %s', (_name, step) => {
    const bytes = streamBytes(step)
    const frames = bytes
      .toString()
      .split(/\r?\n/)
      .filter((line) => line.startsWith('data: {'))
      .map((line) => JSON.parse(line.slice(6)) as Frame)
    const whole = decodeStream(step, bytes, bytes.length)
    expectSame(whole, frames)
    for (const cut of [1, 7, 64]) expect(decodeStream(step, bytes, cut)).toEqual(whole)
    const asArray = foldEvents(decodeBody(step, JSON.stringify(frames)))
    expect(asArray).toEqual(foldEvents(whole))
  })

  it.each(steps.filter((step) => step.status < 400 && failing(step)).map(name))('failure %s', (_name, step) => {
    const expected = step.features.includes('finish:blocked') ? 'content_policy_violation' : 'provider_unavailable'
    expect(() => decodeBody(step, read(step.response))).toThrow(expect.objectContaining({ errorType: expected }))
  })

  it.each(steps.filter((step) => step.status >= 400).map(name))('refusal %s', (_name, step) => {
    const error = gemini.decodeError(step.status, {}, read(step.response), targetOf(step, true))
    expect(isGatewayError(error)).toBe(true)
    const expected = { 400: /authentication|image_download_failed/, 404: /not_found/, 429: /rate_limit_exceeded/ }[step.status]
    expect(error.errorType).toMatch(expected!)
  })

  it.skipIf(!present || isPartial(fixtures))('cover the folder', () => {
    expect(answers.length).toBeGreaterThan(40)
    expect(steps.some((step) => step.response.startsWith('mixed/'))).toBe(true)
  })
})
