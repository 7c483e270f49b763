import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isGatewayError } from '../../core/error.ts'
import type { ModelEvent } from '../../core/event.ts'
import { createSseParser } from '../../lib/sse.ts'
import { checkEventBalance, foldEvents } from '../../testing/event-balance.ts'
import { isPartial } from '../../testing/recordings.ts'
import { messagesTarget } from './__fixtures__/target.ts'
import { anthropicMessages } from './index.ts'

interface Step {
  readonly dialect: string
  readonly status: number
  readonly response: string
}

const fixtures = process.env['SIGNALBOX_FIXTURES'] ?? join(import.meta.dirname, '../../../../shared/fixtures')
const present = existsSync(join(fixtures, 'index.json'))
if (!present) console.warn(`recordings not found at ${fixtures}: replay of messages skipped`)

const steps = present
  ? (JSON.parse(readFileSync(join(fixtures, 'index.json'), 'utf8')) as { steps: Step[] }[])
      .flatMap((scenario) => scenario.steps)
      .filter(({ dialect }) => dialect === 'anthropic')
  : []

/** The stream as bytes, framed as by its server. */
function streamBytes(step: Step): Buffer {
  const raw = readFileSync(join(fixtures, step.response))
  if (step.response.endsWith('.sse')) return raw
  const frames = raw
    .toString()
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => `event: ${(JSON.parse(line) as { type: string }).type}\ndata: ${line}\n\n`)
  return Buffer.from(frames.join(''))
}

function decodeStream(bytes: Buffer, cut: number): ModelEvent[] {
  const decoder = anthropicMessages.decoder({ input: [] }, messagesTarget())
  const out: ModelEvent[] = []
  const parser = createSseParser((data, event) => decoder.push(data, event, out))
  for (let at = 0; at < bytes.length; at += cut) parser.push(bytes.subarray(at, at + cut))
  parser.end()
  decoder.end(out)
  return out
}

type Counts = { [field: string]: unknown } & { iterations?: (Counts & { type: string })[] }
type Piece = {
  text?: string
  thinking?: string
  signature?: string
  partial_json?: string
  input?: object
  name?: string
  id?: string
  type: string
  data?: string
}
type Frame = { type: string; index?: number; message?: { usage?: Counts }; content_block?: Piece; delta?: Piece; usage?: Counts; content?: Piece[] }

interface Folded {
  text: string
  reasoning: string
  signatures: string[]
  redacted: number
  calls: { callId: string; name: string; text: string }[]
  usage: Counts
}

/** An independent interpretation of a recording that does not use events: it concatenates by index. */
function fold(frames: readonly Frame[]): Folded {
  const folded: Folded = { text: '', reasoning: '', signatures: [], redacted: 0, calls: [], usage: {} }
  const calls = new Map<number, { callId: string; name: string; text: string }>()
  const open = (index: number, block: Piece): void => {
    folded.text += block.text ?? ''
    folded.reasoning += block.thinking ?? ''
    if (block.signature) folded.signatures.push(block.signature)
    if (block.type === 'redacted_thinking') folded.redacted++
    if (block.type !== 'tool_use') return
    const call = {
      callId: block.id ?? '',
      name: block.name ?? '',
      text: Object.keys(block.input ?? {}).length > 0 ? JSON.stringify(block.input) : '',
    }
    calls.set(index, call)
    folded.calls.push(call)
  }
  for (const frame of frames) {
    for (const usage of [frame.message?.usage, frame.usage]) {
      for (const [field, value] of Object.entries(usage ?? {})) if (value !== null) folded.usage[field] = value
    }
    if (frame.content_block !== undefined) open(frame.index ?? 0, frame.content_block)
    frame.content?.forEach((block, index) => open(index, block))
    const { delta } = frame
    if (delta === undefined) continue
    folded.text += delta.text ?? ''
    folded.reasoning += delta.thinking ?? ''
    if (delta.signature) folded.signatures.push(delta.signature)
    const call = calls.get(frame.index ?? 0)
    if (call !== undefined) call.text += delta.partial_json ?? ''
  }
  for (const call of folded.calls) call.text ||= '{}'
  return folded
}

const n = (value: unknown): number => (typeof value === 'number' ? value : 0)
const prompt = (usage: Counts): number => n(usage['input_tokens']) + n(usage['cache_read_input_tokens']) + n(usage['cache_creation_input_tokens'])

function expectSame(events: readonly ModelEvent[], frames: readonly Frame[]): void {
  checkEventBalance(events)
  const expected = fold(frames)
  const seen = foldEvents(events)
  expect(seen.text.trim()).toBe(expected.text.trim())
  expect(seen.reasoning).toBe(expected.reasoning)
  expect(seen.calls.map(({ callId, name, text }) => ({ callId, name, text }))).toEqual(expected.calls)
  const signatures = events.flatMap((event) =>
    event.type === 'item-end' && typeof event.item?.['signature'] === 'string' ? [event.item['signature']] : [],
  )
  expect(signatures).toEqual(expected.signatures)
  const last = events.at(-1)
  if (last?.type !== 'response-end' || last.usage === undefined) return expect.unreachable('every recording reports usage')
  const compactions = (expected.usage.iterations ?? []).filter(({ type }) => type === 'compaction')
  expect(last.usage.inputTokens).toBe(compactions.reduce((sum, each) => sum + prompt(each), prompt(expected.usage)))
  expect(last.usage.outputTokens).toBe(compactions.reduce((sum, each) => sum + n(each['output_tokens']), n(expected.usage['output_tokens'])))
}

/** Recordings that are not valid answers: an empty one, and two spliced together. */
const FAILS = /choice_none|spliced/

describe.skipIf(!present)('recorded messages', () => {
  const answers = steps.filter(({ status, response }) => status < 400 && !FAILS.test(response))
  const name = (step: Step): [string, Step] => [step.response.replace(/^anthropic\/anthropic\//, ''), step]

  it.each(answers.filter(({ response }) => response.endsWith('.json')).map(name))('body %s', (_name, step) => {
    const text = readFileSync(join(fixtures, step.response), 'utf8')
    const out: ModelEvent[] = []
    anthropicMessages.decoder({ input: [] }, messagesTarget({ stream: false })).body(text, out)
    expectSame(out, [JSON.parse(text) as Frame])
  })

  it.each(answers.filter(({ response }) => !response.endsWith('.json')).map(name))('stream %s', (_name, step) => {
    const bytes = streamBytes(step)
    const frames = bytes
      .toString()
      .split(/\r?\n/)
      .filter((line) => line.startsWith('data: {'))
      .map((line) => JSON.parse(line.slice(6)) as Frame)
    const whole = decodeStream(bytes, bytes.length)
    expectSame(whole, frames)
    for (const cut of [1, 7, 64]) if (bytes.length < 200_000 || cut > 1) expect(decodeStream(bytes, cut)).toEqual(whole)
  })

  it.each(steps.filter(({ response }) => FAILS.test(response)).map(name))('no answer: %s', (_name, step) => {
    const decode = (): unknown => {
      if (!step.response.endsWith('.json')) return decodeStream(streamBytes(step), 1000)
      return anthropicMessages.decoder({ input: [] }, messagesTarget()).body(readFileSync(join(fixtures, step.response), 'utf8'), [])
    }
    expect(decode).toThrow(expect.objectContaining({ errorType: 'provider_unavailable' }))
  })

  it.each(steps.filter(({ status }) => status >= 400).map(name))('failure %s', (_name, step) => {
    const error = anthropicMessages.decodeError(step.status, {}, readFileSync(join(fixtures, step.response), 'utf8'), messagesTarget())
    expect(isGatewayError(error)).toBe(true)
    const expected: { readonly [status: number]: string } = { 400: 'context_length_exceeded', 401: 'authentication', 404: 'not_found' }
    expect(error.errorType).toBe(expected[step.status])
  })

  it.skipIf(!present || isPartial(fixtures))('covers the folder', () => {
    expect(steps.length).toBeGreaterThan(35)
  })
})
