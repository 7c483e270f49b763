import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { ModelEvent } from '../../core/event.ts'
import { createSseParser } from '../../lib/sse.ts'
import { checkEventBalance, foldEvents } from '../../testing/event-balance.ts'
import { isPartial } from '../../testing/recordings.ts'
import { cohereTarget } from './__fixtures__/target.ts'
import { cohereV2 } from './index.ts'

interface Step {
  readonly dialect: string
  readonly status: number
  readonly response: string
  readonly features: readonly string[]
}

const fixtures = process.env['SIGNALBOX_FIXTURES'] ?? join(import.meta.dirname, '../../../../shared/fixtures')
const present = existsSync(join(fixtures, 'index.json'))
if (!present) console.warn(`recordings not found at ${fixtures}: cohere-v2 replay skipped`)

const steps = present
  ? (JSON.parse(readFileSync(join(fixtures, 'index.json'), 'utf8')) as { steps: Step[] }[])
      .flatMap((scenario) => scenario.steps)
      .filter(({ dialect }) => dialect === 'cohere-v2')
  : []
const named = (list: readonly Step[]): [string, Step][] => list.map((step) => [step.response.replace(/^cohere-v2\/cohere\//, ''), step])
const read = (step: Step): string => readFileSync(join(fixtures, step.response), 'utf8')

interface Message {
  tool_plan?: string
  content?: { text?: string; thinking?: string }[]
  tool_calls?: { id: string; function: { name: string; arguments: string | null } }[]
  citations?: { text: string; type?: string; sources: unknown[] }[]
}
interface Frame {
  type?: string
  index?: number
  delta?: {
    message?: {
      tool_plan?: string
      content?: { text?: string; thinking?: string }
      tool_calls?: NonNullable<Message['tool_calls']>[number]
      citations?: NonNullable<Message['citations']>[number]
    }
  }
}
interface Folded {
  text: string
  reasoning: string
  calls: { callId: string; name: string; text: string }[]
  cited: string[]
}

/** Independent interpretations that do not use events: they concatenate by kind. */
function foldMessage(message: Message): Folded {
  return {
    text: (message.content ?? []).map((part) => part.text ?? '').join(''),
    reasoning: (message.tool_plan ?? '') + (message.content ?? []).map((part) => part.thinking ?? '').join(''),
    calls: (message.tool_calls ?? []).map((call) => ({ callId: call.id, name: call.function.name, text: call.function.arguments || '{}' })),
    cited: (message.citations ?? []).flatMap(({ text, sources }) => sources.map(() => text)),
  }
}
function foldFrames(frames: readonly Frame[]): Folded {
  const folded: Folded = { text: '', reasoning: '', calls: [], cited: [] }
  for (const { type, index = 0, delta } of frames) {
    const message = delta?.message
    folded.text += message?.content?.text ?? ''
    folded.reasoning += (type === 'tool-plan-delta' ? message?.tool_plan : undefined) ?? message?.content?.thinking ?? ''
    if (type === 'tool-call-start')
      folded.calls[index] = {
        callId: message!.tool_calls!.id,
        name: message!.tool_calls!.function.name,
        text: message!.tool_calls!.function.arguments ?? '',
      }
    if (type === 'tool-call-delta') folded.calls[index]!.text += message?.tool_calls?.function.arguments ?? ''
    if (type === 'citation-start') folded.cited.push(...message!.citations!.sources.map(() => message!.citations!.text))
  }
  for (const call of folded.calls) call.text ||= '{}'
  return folded
}

function expectSame(events: readonly ModelEvent[], expected: Folded): void {
  checkEventBalance(events)
  const seen = foldEvents(events)
  expect(seen.text).toBe(expected.text)
  expect(seen.reasoning).toBe(expected.reasoning)
  expect(seen.calls.map(({ callId, name, text }) => ({ callId, name, text }))).toEqual(expected.calls)
  const annotations = events.flatMap((event) => (event.type === 'annotation' ? [event.annotation] : []))
  expect(annotations).toHaveLength(expected.cited.length)
  annotations.forEach((annotation, at) => {
    if (annotation.type === 'url_citation') expect(seen.text.slice(annotation.start_index, annotation.end_index)).toBe(expected.cited[at])
  })
}

function decodeStream(bytes: Buffer, cut: number): ModelEvent[] {
  const out: ModelEvent[] = []
  const decoder = cohereV2.decoder({ input: [] }, cohereTarget())
  const parser = createSseParser((data, event) => decoder.push(data, event, out))
  for (let at = 0; at < bytes.length; at += cut) parser.push(bytes.subarray(at, at + cut))
  parser.end()
  decoder.end(out)
  return out
}

describe.skipIf(!present)('recorded answers', () => {
  const answers = steps.filter(({ status }) => status < 400)

  it.each(named(answers.filter(({ response }) => response.endsWith('.json'))))('body %s', (_name, step) => {
    const out: ModelEvent[] = []
    const body = JSON.parse(read(step)) as { message: Message; usage: { tokens: { output_tokens: number }; cached_tokens?: number } }
    cohereV2.decoder({ input: [] }, cohereTarget({ stream: false })).body(read(step), out)
    expectSame(out, foldMessage(body.message))
    const end = out.at(-1)
    expect(end?.type === 'response-end' && end.usage).toMatchObject({
      outputTokens: body.usage.tokens.output_tokens,
      cachedTokens: body.usage.cached_tokens ?? 0,
    })
  })

  it.each(named(answers.filter(({ response }) => !response.endsWith('.json'))))('stream %s', (_name, step) => {
    const raw = read(step)
    const lines = raw
      .split('\n')
      .map((line) => line.replace(/^data: /, ''))
      .filter((line) => line.startsWith('{'))
    const framed = step.response.endsWith('.sse')
      ? raw
      : `${lines.map((line) => `event: ${(JSON.parse(line) as Frame).type}\ndata: ${line}\n\n`).join('')}data: [DONE]\n\n`
    const bytes = Buffer.from(framed)
    const whole = decodeStream(bytes, bytes.length)
    expectSame(whole, foldFrames(lines.map((line) => JSON.parse(line) as Frame)))
    expect(whole.at(-1)).toHaveProperty('usage')
    for (const cut of [1, 7, 64]) expect(decodeStream(bytes, cut)).toEqual(whole)
  })

  it.each(named(steps.filter(({ status }) => status >= 400)))('failure %s', (_name, step) => {
    expect(cohereV2.decodeError(step.status, {}, read(step), cohereTarget()).errorType).toBe(
      step.status === 401 ? 'authentication' : 'context_length_exceeded',
    )
  })

  it.skipIf(!present || isPartial(fixtures))('covers the folder', () => {
    expect(steps.length).toBeGreaterThanOrEqual(20)
  })
})
