import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { ModelEvent } from '../../core/event.ts'
import { createAwsEventStreamParser } from '../../lib/aws-event-stream.ts'
import { awsEvent } from '../../testing/aws-frames.ts'
import { checkEventBalance, foldEvents } from '../../testing/event-balance.ts'
import { isPartial } from '../../testing/recordings.ts'
import { bedrockTarget } from './__fixtures__/target.ts'
import { bedrockConverse } from './index.ts'

interface Step {
  readonly dialect: string
  readonly status: number
  readonly response: string
  readonly features: readonly string[]
}

const fixtures = process.env['SIGNALBOX_FIXTURES'] ?? join(import.meta.dirname, '../../../../shared/fixtures')
const present = existsSync(join(fixtures, 'index.json'))
if (!present) console.warn(`recordings not found at ${fixtures}: bedrock-converse replay skipped`)

const steps = present
  ? (JSON.parse(readFileSync(join(fixtures, 'index.json'), 'utf8')) as { steps: Step[] }[])
      .flatMap((scenario) => scenario.steps)
      .filter(({ dialect }) => dialect === 'bedrock-converse')
  : []
const named = (list: readonly Step[]): [string, Step][] => list.map((step) => [step.response.replace(/^bedrock-converse\/bedrock\//, ''), step])
const read = (step: Step): Buffer => readFileSync(join(fixtures, step.response))

interface Folded {
  text: string
  reasoning: string
  calls: { id: string; name: string; input: unknown }[]
  signatures: string[]
  redacted: string[]
}

interface Piece {
  readonly contentBlockIndex?: number
  readonly start?: { readonly toolUse?: { readonly toolUseId: string; readonly name: string; readonly type?: string } }
  readonly delta?: {
    readonly text?: string
    readonly toolUse?: { readonly input: string }
    readonly reasoningContent?: { readonly text?: string; readonly signature?: string }
  }
  readonly usage?: { readonly [field: string]: number }
}

/** All JSON objects in the bytes, found by counting braces outside of strings, without any knowledge of frames. */
function objectsIn(text: string): Piece[] {
  const found: Piece[] = []
  for (let at = text.indexOf('{"'); at >= 0; at = text.indexOf('{"', at)) {
    let depth = 0
    let inside = false
    let end = at
    for (; end < text.length; end++) {
      const char = text[end]
      if (char === '\\') end++
      else if (char === '"') inside = !inside
      else if (!inside && char === '{') depth++
      else if (!inside && char === '}' && --depth === 0) break
    }
    const object = JSON.parse(text.slice(at, end + 1)) as Record<string, Piece>
    // In some recordings the lines wrap the payload in the name of its event.
    const [only, ...more] = Object.keys(object)
    found.push(more.length === 0 && /^(content|message|meta)/.test(only ?? '') ? object[only!]! : object)
    at = end
  }
  return found
}

function foldStream(text: string): { folded: Folded; usage: Piece['usage'] } {
  const folded: Folded = { text: '', reasoning: '', calls: [], signatures: [], redacted: [] }
  const byIndex = new Map<number, { id: string; name: string; json: string }>()
  let usage: Piece['usage']
  for (const { contentBlockIndex: index = 0, start, delta, usage: counted } of objectsIn(text)) {
    folded.text += delta?.text ?? ''
    folded.reasoning += delta?.reasoningContent?.text ?? ''
    if (delta?.reasoningContent?.signature) folded.signatures.push(delta.reasoningContent.signature)
    if (start?.toolUse !== undefined && start.toolUse.type !== 'server_tool_use')
      byIndex.set(index, { id: start.toolUse.toolUseId, name: start.toolUse.name, json: '' })
    const call = byIndex.get(index)
    if (call !== undefined) call.json += delta?.toolUse?.input ?? ''
    usage ??= counted
  }
  for (const { id, name, json } of byIndex.values()) folded.calls.push({ id, name, input: JSON.parse(json || '{}') as unknown })
  return { folded, usage }
}

interface Body {
  readonly output: {
    readonly message: {
      readonly content: readonly {
        readonly text?: string
        readonly citationsContent?: { readonly content: readonly { readonly text: string }[] }
        readonly reasoningContent?: {
          readonly reasoningText?: { readonly text: string; readonly signature?: string }
          readonly redactedContent?: string
        }
        readonly toolUse?: { readonly toolUseId: string; readonly name: string; readonly input: unknown }
      }[]
    }
  }
  readonly usage: { readonly [field: string]: number }
}

function foldBody(body: Body): Folded {
  const folded: Folded = { text: '', reasoning: '', calls: [], signatures: [], redacted: [] }
  for (const { text, citationsContent, reasoningContent, toolUse } of body.output.message.content) {
    folded.text += text ?? (citationsContent?.content ?? []).map((part) => part.text).join('')
    folded.reasoning += reasoningContent?.reasoningText?.text ?? ''
    if (reasoningContent?.reasoningText?.signature) folded.signatures.push(reasoningContent.reasoningText.signature)
    if (reasoningContent?.redactedContent) folded.redacted.push(reasoningContent.redactedContent)
    if (toolUse) folded.calls.push({ id: toolUse.toolUseId, name: toolUse.name, input: toolUse.input })
  }
  return folded
}

function expectSame(events: readonly ModelEvent[], expected: Folded, usage: Piece['usage']): void {
  checkEventBalance(events)
  const seen = foldEvents(events)
  expect(seen.text).toBe(expected.text)
  expect(seen.reasoning).toBe(expected.reasoning)
  expect(seen.calls.map(({ callId, name, text }) => ({ id: callId, name, input: JSON.parse(text) as unknown }))).toEqual(expected.calls)
  const ends = events.flatMap((event) => (event.type === 'item-end' && event.item !== undefined ? [event.item] : []))
  expect(ends.flatMap((item) => (item['signature'] === undefined ? [] : [item['signature']]))).toEqual(expected.signatures)
  const blobs = ends.flatMap((item) =>
    item['signature'] === undefined && typeof item['encrypted_content'] === 'string'
      ? [item['encrypted_content'].slice(item['encrypted_content'].indexOf('.', 4) + 1)]
      : [],
  )
  expect(blobs.map((blob) => Buffer.from(blob, 'latin1').toString('base64'))).toEqual(expected.redacted)
  const end = events.at(-1)
  const counted = end?.type === 'response-end' ? end.usage : undefined
  // The vendor's total adds the cached tokens to the input, and ours must be equal.
  if (usage !== undefined) expect(counted).toMatchObject({ totalTokens: usage['totalTokens'], outputTokens: usage['outputTokens'] })
}

function decodeStream(bytes: Buffer, cut: number): ModelEvent[] {
  const out: ModelEvent[] = []
  const decoder = bedrockConverse.decoder({ input: [] }, bedrockTarget())
  const parser = createAwsEventStreamParser((data, event) => decoder.push(data, event, out))
  for (let at = 0; at < bytes.length; at += cut) parser.push(bytes.subarray(at, at + cut))
  parser.end()
  if (!decoder.finished) decoder.end(out)
  return out
}

describe.skipIf(!present)('recorded answers', () => {
  const answers = steps.filter(({ status }) => status < 400)

  it.each(named(answers.filter(({ response }) => response.endsWith('.json'))))('body %s', (_name, step) => {
    const text = read(step).toString()
    const out: ModelEvent[] = []
    bedrockConverse.decoder({ input: [] }, bedrockTarget({ stream: false })).body(text, out)
    const body = JSON.parse(text) as Body
    expectSame(out, foldBody(body), body.usage)
  })

  it.each(named(answers.filter(({ response }) => !response.endsWith('.json'))))('stream %s', (_name, step) => {
    const raw = read(step)
    const lines = step.response.endsWith('.txt')
      ? raw
          .toString()
          .split('\n')
          .filter((line) => line.trim() !== '')
      : []
    const bytes =
      lines.length === 0
        ? raw
        : Buffer.concat(
            lines.map((line) => {
              const [type, payload] = Object.entries(JSON.parse(line) as Record<string, unknown>)[0]!
              return awsEvent(type, payload)
            }),
          )
    const whole = decodeStream(bytes, bytes.length)
    const { folded, usage } = foldStream(lines.length === 0 ? raw.toString() : lines.join('\n'))
    expect(usage).toBeDefined()
    expectSame(whole, folded, usage)
    for (const cut of [1, 7, 64, 1000]) expect(decodeStream(bytes, cut)).toEqual(whole)
  })

  it.each(named(steps.filter(({ status }) => status >= 400)))('failure %s', (_name, step) => {
    const error = bedrockConverse.decodeError(step.status, {}, read(step).toString(), bedrockTarget())
    expect(error.errorType).toBe(step.status === 403 ? 'authentication' : 'context_length_exceeded')
  })

  it.skipIf(!present || isPartial(fixtures))('covers the folder', () => {
    expect(steps.length).toBeGreaterThan(25)
  })
})
