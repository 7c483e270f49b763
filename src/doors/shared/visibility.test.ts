import { describe, expect, it } from 'vitest'
import type { Visibility } from '../../core/call.ts'
import type { ModelEvent } from '../../core/event.ts'
import type { OutputItem } from '../../core/item.ts'
import { manualClock, sequentialIds } from '../../testing/deterministic.ts'
import { chatCompletions } from '../chat-completions/door.ts'
import { generateContent } from '../generate-content/door.ts'
import { messages } from '../messages/door.ts'
import { responses } from '../responses/door.ts'
import type { Read } from './door.ts'

const asked = { messages: [{ role: 'user', content: 'Hi' }], stream: true }
const contents = [{ parts: [{ text: 'Hi' }] }]
const streamed = '/api/v1beta/models/acme/small:streamGenerateContent?alt=sse'

const FORMATS: readonly (readonly [name: string, read: Read])[] = [
  ['Responses', responses.read({ input: 'Hi', stream: true })],
  ['Chat Completions', chatCompletions.read(asked)],
  ['Chat Completions without reasoning', chatCompletions.read({ ...asked, include_reasoning: false })],
  ['Messages', messages.read({ ...asked, max_tokens: 9 })],
  ['Messages without thinking', messages.read({ ...asked, max_tokens: 9, thinking: { type: 'adaptive', display: 'omitted' } })],
  ['generateContent', generateContent.read({ contents }, undefined, streamed)],
  [
    'generateContent with thoughts',
    generateContent.read({ contents, generationConfig: { thinkingConfig: { includeThoughts: true } } }, undefined, streamed),
  ],
  ['generateContent in one word', generateContent.read({ contents, generationConfig: { responseMimeType: 'text/x.enum' } }, undefined, streamed)],
]

const key = 'a'
const calls = { call_id: 'c', name: 'look' }
const made = { status: 'in_progress' }
const picture = { result: 'aGk=', status: 'completed' }
const args: ModelEvent = { type: 'arguments-delta', key, delta: '{}' }
const progress: ModelEvent = { type: 'item-event', key, name: 'work.searching' }

/** Each kind of item with what a model writes of it, and what completes it. */
const ITEMS: readonly (readonly [item: object, said: ModelEvent, end?: object])[] = [
  [
    { type: 'message', role: 'assistant', content: [] },
    { type: 'text-delta', key, delta: 'Yes' },
  ],
  [
    { type: 'reasoning', summary: [] },
    { type: 'reasoning-delta', key, kind: 'text', delta: 'Hm' },
  ],
  [{ type: 'function_call', ...calls, arguments: '' }, args],
  [{ type: 'custom_tool_call', ...calls, input: '' }, args],
  [{ type: 'web_search_call', ...made, action: { type: 'search', query: 'q' } }, progress],
  [{ type: 'gateway:web_search', ...made, action: { type: 'search', query: 'q' } }, progress],
  [{ type: 'gateway:web_fetch', ...made, url: 'https://a.example' }, progress],
  [{ type: 'image_generation_call', ...made }, progress, picture],
  [{ type: 'gateway:image_generation', ...made }, progress, picture],
  [{ type: 'code_interpreter_call', ...made, code: '1', outputs: [] }, progress],
  [{ type: 'file_search_call', ...made, queries: ['q'] }, progress],
  [{ type: 'mcp_call', ...made, id: 'm', name: 'n', server_label: 's', arguments: '{}' }, progress],
  [{ type: 'gateway:fusion', ...made }, progress],
]

/** How much a stream shows of an item, as it is written. */
function shown({ fold }: Read, item: OutputItem, said: ModelEvent, end: object): Visibility {
  const clock = manualClock()
  const request = { model: 'acme/small', input: [], stream: true }
  const facts = () => ({ model: 'acme/small' })
  const subject = fold({ id: 'gen-1', request, receivedAt: clock.now(), stream: true, clock, newId: sequentialIds(), facts })
  const writes = (...events: readonly ModelEvent[]): boolean => {
    subject.push(events)
    return subject.takeWire() !== ''
  }
  writes({ type: 'response-start' })
  if (writes({ type: 'item-start', key, item }, said)) return 'written'
  return writes({ type: 'item-end', key, item: { status: 'completed', ...end } }) ? 'whole' : 'hidden'
}

/** Until the caller has seen something, another endpoint may give the answer: what counts is what each format really writes. */
describe.each(FORMATS)('what a stream of %s shows while it is written', (_name, read) => {
  for (const [item, said, end = {}] of ITEMS) {
    it((item as OutputItem).type, () => {
      const start = item as OutputItem
      expect(read.visibilityOf?.(start) ?? 'written').toBe(shown(read, start, said, end))
    })
  }
})
