import fc from 'fast-check'
import type { ModelEvent } from '../core/event.ts'
import type { Logprob, OutputItem } from '../core/item.ts'

/** Answers of any kind, as producers emit them: parallel items, alternating parts, and ends that complete what came before, or are missing. */

type Fields = { readonly [field: string]: unknown }

interface DrawnItem {
  readonly item: OutputItem
  /** All events between start and end; the key is assigned later. */
  readonly body: readonly Fields[]
  readonly patch: Fields | undefined
}

const delta = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('"', '\\', '\n', '\ud83d', 'é', '{"a":1}'))
const part = fc.option(fc.nat(1), { nil: undefined }).map((number) => (number === undefined ? {} : { part: number }))
const maybe = (patches: readonly Fields[]): fc.Arbitrary<Fields | undefined> => fc.option(fc.constantFrom(...patches), { nil: undefined })

const logprob: Logprob = { token: 'x', logprob: -0.5, bytes: [120], top_logprobs: [] }
const logprobs = fc.constantFrom<Fields>({}, {}, {}, { logprobs: [logprob] })

const said = fc.oneof(
  { weight: 2, arbitrary: fc.tuple(delta, part, logprobs).map(([text, at, seen]) => ({ ...plainly(text), type: 'text-delta', ...at, ...seen })) },
  { weight: 1, arbitrary: fc.tuple(delta, part).map(([text, at]) => ({ type: 'refusal-delta', delta: text, ...at })) },
  {
    weight: 1,
    arbitrary: fc.tuple(delta, part).map(([url, at]) => ({
      type: 'annotation',
      annotation: { type: 'url_citation', url, title: '', start_index: 0, end_index: 2 },
      ...at,
    })),
  },
)
const plainly = (text: string): Fields => ({ delta: text, ...(/^[a-z]*$/.test(text) ? { plain: true } : {}) })

const message = fc
  .array(said, { maxLength: 5 })
  .map((body): DrawnItem => ({ item: { type: 'message', role: 'assistant', content: [] }, body, patch: undefined }))

const reasoning = fc
  .tuple(
    fc.array(
      fc.tuple(fc.constantFrom('text', 'summary'), delta, part).map(([kind, text, at]) => ({ type: 'reasoning-delta', kind, delta: text, ...at })),
      { maxLength: 5 },
    ),
    maybe([
      { signature: 's' },
      { encrypted_content: 'blob', format: 'openai-responses-v1' },
      { signature: 's', encrypted_content: 'blob', format: 'anthropic-claude-v1' },
    ]),
  )
  .map(([body, patch]): DrawnItem => ({ item: { type: 'reasoning' }, body, patch }))

const spoken = fc.array(
  delta.map((text) => ({ type: 'arguments-delta', delta: text })),
  { maxLength: 4 },
)
const calls = fc
  .tuple(spoken, maybe([{ arguments: '{"x":1}' }, { status: 'incomplete' }]))
  .map(([body, patch]): DrawnItem => ({ item: { type: 'function_call', call_id: '', name: 'f', arguments: '' }, body, patch }))
const customCalls = spoken.map((body): DrawnItem => ({
  item: { type: 'custom_tool_call', call_id: '', name: 'f', input: '' },
  body,
  patch: undefined,
}))

const searches = fc
  .array(
    fc.constantFrom('searching', 'completed').map((name) => ({ type: 'item-event', name: `web_search_call.${name}` })),
    { maxLength: 2 },
  )
  .map((body): DrawnItem => ({ item: { type: 'web_search_call', status: 'in_progress' }, body, patch: undefined }))
const pictures = maybe([{ status: 'completed', result: 'AAAA' }, { result: 'https://acme.example/a.png' }]).map((patch): DrawnItem => ({
  item: { type: 'image_generation_call', status: 'in_progress' },
  body: [],
  patch,
}))

function eventsOf({ item, body, patch }: DrawnItem, key: string): ModelEvent[] {
  const named = 'call_id' in item ? { ...item, call_id: key } : item
  return [
    { type: 'item-start', key, item: named },
    ...body.map((event) => ({ ...event, key }) as ModelEvent),
    patch === undefined ? { type: 'item-end', key } : { type: 'item-end', key, item: patch },
  ]
}

/** Interleaves the items' own sequences in an order drawn by the test. */
function interleave(lists: readonly (readonly ModelEvent[])[], picks: readonly number[]): ModelEvent[] {
  const open = lists.map((list) => [...list])
  const out: ModelEvent[] = []
  for (let i = 0; open.some((list) => list.length > 0); i++) {
    const left = open.filter((list) => list.length > 0)
    out.push(left[(picks[i % Math.max(picks.length, 1)] ?? 0) % left.length]!.shift()!)
  }
  return out
}

export interface DrawnAnswer {
  /** Without the end of the answer. */
  readonly events: readonly ModelEvent[]
  /** The number of events before the answer broke; undefined if it did not. */
  readonly breaksAfter: number | undefined
}

/** `custom`: whether to include free-text calls, which not every format has. */
export function drawnAnswer({ custom }: { readonly custom: boolean }): fc.Arbitrary<DrawnAnswer> {
  const items = [message, message, reasoning, calls, ...(custom ? [customCalls] : []), searches, pictures]
  return fc
    .record({
      items: fc.array(fc.oneof(...items), { maxLength: 5 }),
      picks: fc.array(fc.nat(), { maxLength: 20 }),
      // Items that never end by themselves.
      endless: fc.nat(31),
      breaks: fc.option(fc.nat(), { nil: undefined }),
    })
    .map(({ items: drawn, picks, endless, breaks }) => {
      const lists = drawn.map((item, i) => eventsOf(item, `k${i}`).slice(0, (endless >> i) & 1 ? -1 : undefined))
      const events = interleave(lists, picks)
      return { events, breaksAfter: breaks === undefined ? undefined : breaks % (events.length + 1) }
    })
}
