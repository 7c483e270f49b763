import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ModelEvent } from '../../core/event.ts'
import { manualClock, sequentialIds } from '../../testing/deterministic.ts'
import { drawnAnswer } from '../../testing/drawn-events.ts'
import { Assembler } from '../responses/assemble.ts'
import type { AssemblerOptions } from '../responses/assembler-options.ts'
import { decodeResponsesRequest } from '../responses/decode-request.ts'
import { ChatWriter } from './chat-writer.ts'
import { chatCompletions } from './door.ts'

type Fields = { readonly [field: string]: unknown }
type Items = readonly ({ readonly type: string } & Fields)[]

function assembled(events: readonly ModelEvent[], format: 'chat' | 'responses', stream: boolean): Assembler {
  const clock = manualClock()
  const facts = () => ({ model: 'acme/small' })
  const request = { model: 'acme/small', input: [] }
  const options: AssemblerOptions = { id: 'gen-1', request, receivedAt: clock.now(), stream, clock, newId: sequentialIds(), facts }
  const subject = new Assembler(options, format === 'chat' ? new ChatWriter(options, { usage: undefined, reasoning: true }) : undefined)
  subject.push([...events, { type: 'response-end', reason: 'stop' }])
  subject.finish()
  return subject
}

const completionOf = (events: readonly ModelEvent[]): Fields =>
  (JSON.parse(assembled(events, 'chat', false).answer()) as { readonly choices: readonly [{ readonly message: Fields }] }).choices[0].message

/** All pieces of reasoning as they were streamed. */
const piecesOf = (events: readonly ModelEvent[]): readonly Fields[] =>
  [
    ...assembled(events, 'chat', true)
      .takeWire()
      .matchAll(/"reasoning_details":(\[.*?\])\},"logprobs"/g),
  ].flatMap(([, pieces]) => JSON.parse(pieces!) as readonly Fields[])

function sentBack(message: Fields): Items {
  const { body } = chatCompletions.read({ messages: [{ role: 'user', content: 'go' }, message] })
  return decodeResponsesRequest(body).input.slice(1) as Items
}

/** The content of a conversation, independent of its item types: reasoning piece by piece, texts and refusals joined, pictures, calls. */
function holds(items: Items): unknown {
  const parts = items.flatMap(({ type, content }) => (type === 'message' ? [content as readonly Fields[]] : []))
  const texts = (list: unknown): readonly unknown[] => ((list ?? []) as readonly Fields[]).map(({ text }) => text).filter((text) => text !== '')
  return {
    thoughts: items
      .filter(({ type }) => type === 'reasoning')
      .map(({ id, summary, content, encrypted_content: data, signature, format }) => ({
        id,
        summary: texts(summary),
        content: texts(content),
        data,
        signature,
        format,
      }))
      .filter(({ summary, content, data, signature }) => summary.length + content.length > 0 || data !== undefined || signature !== undefined)
      // Thoughts that let text pass before their first word are written after it.
      .toSorted((a, b) => String(a.id).localeCompare(String(b.id))),
    text: parts
      .map((message) => message.map(({ text }) => (typeof text === 'string' ? text : '')).join(''))
      .filter((text) => text !== '')
      .join('\n\n'),
    refusal: parts.flatMap((message) => message.map(({ refusal }) => (typeof refusal === 'string' ? refusal : ''))).join(''),
    pictures: items.filter(({ type, result }) => type === 'image_generation_call' && result === 'AAAA').length,
    calls: items.flatMap((item) => {
      if (item.type === 'function_call') return [[item['call_id'], item['name'], item['arguments'] || '{}']]
      return item.type === 'custom_tool_call' ? [[item['call_id'], item['name'], item['input']]] : []
    }),
  }
}

const anonymous = (piece: Fields): Fields => Object.fromEntries(Object.entries(piece).filter(([field]) => field !== 'id'))
const withoutIds = (held: unknown): unknown => {
  const { thoughts, ...rest } = held as { readonly thoughts: readonly Fields[] } & Fields
  return { ...rest, thoughts: thoughts.map(anonymous) }
}

const answers = drawnAnswer({ custom: true }).map(({ events }) => events)

describe('an answer that is sent back as a message', () => {
  it('is what its items would have been', () => {
    fc.assert(
      fc.property(answers, (events) => {
        const expected = holds(assembled(events, 'responses', false).output() as Items)
        const message = completionOf(events)
        const pieces = piecesOf(events)
        expect(holds(sentBack(message))).toEqual(expected)
        // As sent by clients that keep every piece of a stream.
        expect(holds(sentBack({ ...message, ...(pieces.length === 0 ? {} : { reasoning_details: pieces }) }))).toEqual(expected)
      }),
      { numRuns: 600 },
    )
  })
})

describe('citations', () => {
  interface Cited {
    readonly url: string
    readonly start_index: number
    readonly end_index: number
  }
  const cut = (text: unknown, { url, start_index: start, end_index: end }: Cited): readonly string[] => [url, String(text).slice(start, end)]

  it('mark the same text, wherever it is in the single text of a message', () => {
    fc.assert(
      fc.property(answers, (events) => {
        const parts = (assembled(events, 'responses', false).output() as Items).flatMap(({ type, content }) =>
          type === 'message' ? (content as readonly Fields[]) : [],
        )
        const expected = parts.flatMap(({ text, annotations }) => ((annotations ?? []) as readonly Cited[]).map((one) => cut(text, one)))
        const { content, annotations } = completionOf(events)
        const told = ((annotations ?? []) as readonly { readonly url_citation: Cited }[]).map(({ url_citation: one }) => cut(content ?? '', one))
        // A part of one letter ends before its citation does.
        const isLong = expected.every(([, words]) => words!.length === 2)
        expect(isLong ? told : told.map(([url]) => url)).toEqual(isLong ? expected : expected.map(([url]) => url))
      }),
      { numRuns: 600 },
    )
  })
})

/** Reasoning with an end marker, as from vendors that require it back. */
const thought = fc.record({
  text: fc.constantFrom('a', 'bc'),
  kind: fc.constantFrom('text', 'summary'),
  end: fc.constantFrom('signature', 'encrypted_content', 'both'),
})
describe('reasoning without ids', () => {
  it('is separated by its ends', () => {
    fc.assert(
      fc.property(fc.array(thought, { minLength: 1, maxLength: 4 }), (drawn) => {
        const events = drawn.flatMap(({ text, kind, end }, n): ModelEvent[] => [
          { type: 'item-start', key: `r${n}`, item: { type: 'reasoning' } },
          { type: 'reasoning-delta', key: `r${n}`, kind, delta: text },
          { type: 'reasoning-delta', key: `r${n}`, kind, delta: text },
          {
            type: 'item-end',
            key: `r${n}`,
            item: { signature: end === 'encrypted_content' ? undefined : `s${n}`, encrypted_content: end === 'signature' ? undefined : `e${n}` },
          },
        ])
        const expected = withoutIds(holds(assembled(events, 'responses', false).output() as Items))
        const strip = (details: readonly Fields[]): Fields => ({ role: 'assistant', reasoning_details: details.map(anonymous) })
        for (const details of [completionOf(events)['reasoning_details'] as readonly Fields[], piecesOf(events)])
          expect(withoutIds(holds(sentBack(strip(details))))).toEqual(expected)
      }),
      { numRuns: 300 },
    )
  })
})
