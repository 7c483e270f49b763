import fc from 'fast-check'
import type { ModelEvent } from '../core/event.ts'
import type { OutputItem } from '../core/item.ts'
import { createUsage } from '../core/usage.ts'

type Json = { readonly [field: string]: unknown }

const wholeWord = fc.constantFrom('a', ' b', '"\n', '✓', '\ud83d\ude00', '')
const word = fc.constantFrom('a', ' b', '"\n', '\u2028', '✓', '\ud83d', '\ude00', '\ud83d\ude00', '')
const part = fc.option(fc.nat(2), { nil: undefined })
const seal = fc.constantFrom<Json | undefined>(
  undefined,
  { encrypted_content: 'sb1.e30.x' },
  { signature: 's' },
  { encrypted_content: 'sb1.e30.y', signature: 's' },
)

interface Script {
  readonly item: OutputItem
  /** Its events, without their key. */
  readonly events: readonly Json[]
  readonly end: Json | undefined
  readonly ends: boolean
}

const citation = { type: 'url_citation', url: 'https://a.example', title: 'A', start_index: 0, end_index: 1 }
const spoken = fc.oneof(
  { weight: 5, arbitrary: fc.record({ type: fc.constant('text-delta'), delta: word, part }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('refusal-delta'), delta: word, part }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('annotation'), annotation: fc.constant(citation), part }) },
)
const thought = fc.record({ type: fc.constant('reasoning-delta'), kind: fc.constantFrom('text', 'summary'), delta: word, part })
const action = { type: 'search', query: '"q"', sources: [{ type: 'url', url: 'https://a.example' }] }
const script = (
  item: OutputItem,
  events: fc.Arbitrary<readonly Json[]>,
  end: fc.Arbitrary<Json | undefined> = fc.constant(undefined),
): fc.Arbitrary<Script> => fc.record({ item: fc.constant(item), events, end, ends: fc.boolean() })

const scripts = fc.array(
  fc.oneof(
    script({ type: 'message', role: 'assistant', content: [] }, fc.array(spoken, { maxLength: 5 })),
    script({ type: 'reasoning', summary: [] }, fc.array(thought, { maxLength: 5 }), seal),
    script(
      { type: 'function_call', call_id: 'c', name: 'look', arguments: '' },
      fc
        .dictionary(wholeWord, wholeWord, { maxKeys: 2 })
        .map((input) => (JSON.stringify(input).match(/.{1,3}/gsu) ?? []).map((delta) => ({ type: 'arguments-delta', delta }))),
    ),
    script({ type: 'web_search_call', status: 'in_progress', action }, fc.constant([]), fc.constant({ status: 'completed' })),
    script({ type: 'gateway:datetime', status: 'in_progress' }, fc.constant([]), fc.constant({ status: 'completed' })),
  ),
  { maxLength: 6 },
)

/** The events of all items, in order for each item: `turns` says which item is next. */
function interleave(items: readonly Script[], turns: readonly number[]): readonly ModelEvent[] {
  const queues = items.map(({ item, events, end, ends }, n) => {
    const key = String(n)
    return [
      { type: 'item-start', key, item },
      ...events.map((event) => ({ ...event, key })),
      // If no end is given, the code that ends the answer has to end the item, which then cannot contain any more.
      ...(ends ? [{ type: 'item-end', key, ...(end === undefined ? {} : { item: end }) }] : []),
    ]
  })
  const events: object[] = []
  for (const turn of turns) {
    const left = queues.filter((queue) => queue.length > 0)
    if (left.length === 0) break
    events.push(left[turn % left.length]!.shift()!)
  }
  return [...events, ...queues.flat()] as readonly ModelEvent[]
}

/**
 * Answers of any shape: several messages and calls open in parallel, reasoning of both kinds and with several parts that ends before, during and after the
 * text it led to, halves of surrogate pairs, citations, refusals, and items of the gateway's tools.
 */
export const answers: fc.Arbitrary<readonly ModelEvent[]> = fc
  .tuple(scripts, fc.array(fc.nat(5), { maxLength: 40 }), fc.constantFrom('stop', 'length', 'content_filter', 'tool_calls', 'refusal'))
  .map(([items, turns, reason]): readonly ModelEvent[] => [
    ...interleave(items, turns),
    { type: 'response-end', reason, nativeReason: 'END', usage: createUsage({ inputTokens: 9, outputTokens: 3, cachedTokens: 2 }) },
  ])
