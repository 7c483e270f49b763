import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isGatewayError } from '../../core/error.ts'
import type { ModelEvent } from '../../core/event.ts'
import { createSseParser } from '../../lib/sse.ts'
import { checkEventBalance, foldEvents } from '../../testing/event-balance.ts'
import { isPartial } from '../../testing/recordings.ts'
import { chatTarget } from './__fixtures__/target.ts'
import { openAiChat } from './index.ts'

interface Step {
  readonly dialect: string
  readonly provider: string
  readonly status: number
  readonly response: string
  readonly features: readonly string[]
}

const fixtures = process.env['SIGNALBOX_FIXTURES'] ?? join(import.meta.dirname, '../../../../shared/fixtures')
const present = existsSync(join(fixtures, 'index.json'))
if (!present) console.warn(`recordings not found at ${fixtures}: chat replay skipped`)

const steps = present
  ? (JSON.parse(readFileSync(join(fixtures, 'index.json'), 'utf8')) as { steps: Step[] }[])
      .flatMap((scenario) => scenario.steps)
      .filter(({ dialect }) => dialect === 'chat')
  : []

/** Servers whose streams end by closing the connection. */
const CLOSES: ReadonlySet<string> = new Set(['perplexity', 'gpustack'])

/** The stream as bytes, framed as by its server. */
function streamBytes(step: Step): Buffer {
  const raw = readFileSync(join(fixtures, step.response))
  if (step.response.endsWith('.sse')) return raw
  const newline = step.provider === 'perplexity' ? '\r\n' : '\n'
  const frames = raw
    .toString()
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => `data: ${line}${newline}${newline}`)
  return Buffer.from(frames.join('') + (CLOSES.has(step.provider) ? '' : 'data: [DONE]\n\n'))
}

function decodeStream(bytes: Buffer, cut: number): ModelEvent[] {
  const decoder = openAiChat.decoder({ input: [] }, chatTarget())
  const out: ModelEvent[] = []
  const parser = createSseParser((data, event) => decoder.push(data, event, out))
  for (let at = 0; at < bytes.length; at += cut) parser.push(bytes.subarray(at, at + cut))
  parser.end()
  decoder.end(out)
  return out
}

type Delta = {
  content?: unknown
  reasoning?: unknown
  reasoning_details?: { text?: string }[]
  reasoning_content?: unknown
  tool_calls?: { index?: number; id?: string; function?: { name?: string; arguments?: string | null } }[]
}

const partText = (part: { type?: string; text?: string }): string => (part.type === 'text' ? (part.text ?? '') : '')
const partThought = (part: { type?: string; thinking?: { text: string }[] }): string =>
  part.type === 'thinking' ? (part.thinking ?? []).map(({ text }) => text).join('') : ''
const textOf = (content: unknown): string => (typeof content === 'string' ? content : Array.isArray(content) ? content.map(partText).join('') : '')
function thoughtOf(delta: Delta): string {
  const plain = delta.reasoning_content ?? delta.reasoning
  if (typeof plain === 'string') return plain
  if (Array.isArray(delta.content)) return delta.content.map(partThought).join('')
  return (delta.reasoning_details ?? []).map((detail) => detail.text ?? '').join('')
}

/** An independent interpretation of the recording that does not use events: it concatenates by index. */
function fold(frames: readonly { choices?: { delta?: Delta; message?: Delta }[] }[]): {
  text: string
  reasoning: string
  calls: { name: string; text: string }[]
} {
  const folded = { text: '', reasoning: '', calls: [] as { name: string; text: string }[] }
  const byIndex = new Map<string, { name: string; text: string }>()
  for (const frame of frames) {
    const delta = frame.choices?.[0]?.delta ?? frame.choices?.[0]?.message
    if (delta === undefined) continue
    folded.text += textOf(delta.content)
    folded.reasoning += thoughtOf(delta)
    for (const [position, call] of (delta.tool_calls ?? []).entries()) {
      const key = `${call.index ?? position}`
      if (!byIndex.has(key) || (frame.choices?.[0]?.message !== undefined && frame.choices[0].delta === undefined)) {
        const entry = { name: '', text: '' }
        byIndex.set(key, entry)
        folded.calls.push(entry)
      }
      const entry = byIndex.get(key)!
      entry.name ||= call.function?.name ?? ''
      entry.text += call.function?.arguments ?? ''
    }
  }
  for (const call of folded.calls) call.text ||= '{}'
  // Reasoning between tags is not text; whitespace before calls is dropped.
  const tagged = /^\s*<think>([\s\S]*?)(?:<\/think>\s*|$)/.exec(folded.text)
  if (tagged !== null) {
    folded.reasoning += tagged[1]!.trim()
    folded.text = folded.text.slice(tagged[0].length)
  }
  if (folded.calls.length > 0 && folded.text.trim() === '') folded.text = ''
  return folded
}

function expectSame(events: readonly ModelEvent[], frames: Parameters<typeof fold>[0]): void {
  checkEventBalance(events)
  const expected = fold(frames)
  const seen = foldEvents(events)
  expect(seen.text).toBe(expected.text)
  expect(seen.reasoning.trim()).toBe(expected.reasoning.trim())
  expect(seen.calls.map(({ name, text }) => ({ name, text }))).toEqual(expected.calls)
}

describe.skipIf(!present)('recorded chat answers', () => {
  const answers = steps.filter(({ status }) => status < 400)
  const failed = (step: Step): boolean => step.features.includes('error.in_body')
  const name = (step: Step): [string, Step] => [step.response.replace(/^chat\//, ''), step]

  it.each(answers.filter((step) => step.response.endsWith('.json')).map(name))('body %s', (_name, step) => {
    const text = readFileSync(join(fixtures, step.response), 'utf8')
    const out: ModelEvent[] = []
    openAiChat.decoder({ input: [] }, chatTarget({ stream: false })).body(text, out)
    expectSame(out, [JSON.parse(text)])
  })

  it.each(answers.filter((step) => !step.response.endsWith('.json') && !failed(step)).map(name))('stream %s', (_name, step) => {
    const bytes = streamBytes(step)
    const frames = bytes
      .toString()
      .split(/\r?\n/)
      .filter((line) => line.startsWith('data: {'))
      .map((line) => JSON.parse(line.slice(6)))
    const whole = decodeStream(bytes, bytes.length)
    expectSame(whole, frames)
    expect(whole.some((event) => event.type === 'response-end' && event.usage !== undefined)).toBe(
      step.features.some((feature) => feature.startsWith('usage')) || bytes.includes('"prompt_tokens"'),
    )
    for (const cut of [1, 7, 64]) expect(decodeStream(bytes, cut)).toEqual(whole)
  })

  it.each(answers.filter(failed).map(name))('failure %s', (_name, step) => {
    try {
      decodeStream(streamBytes(step), 100)
    } catch (error) {
      expect(isGatewayError(error) && error.errorType).toBe('token_limit_exceeded')
      return
    }
    expect.unreachable('the recording ends in an error')
  })

  it.skipIf(!present || isPartial(fixtures))('covers the folder', () => {
    expect(answers.length).toBeGreaterThan(90)
  })
})
