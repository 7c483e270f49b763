import { expect, it } from 'vitest'
import type { AttemptRecord, Visibility } from '../core/call.ts'
import type { ModelEvent } from '../core/event.ts'
import type { OutputItem } from '../core/item.ts'
import { Outcome } from './attempt-outcome.ts'

const start = (key: string, type: string): ModelEvent => ({ type: 'item-start', key, item: { type } as never })
const thought: ModelEvent = { type: 'reasoning-delta', key: 'r', kind: 'text', delta: 'hm' }
const word: ModelEvent = { type: 'text-delta', key: 'm', delta: 'Yes' }
const end: ModelEvent = { type: 'response-end', reason: 'stop' }

function begun(): Outcome {
  const visibilityOf = ({ type }: OutputItem): Visibility => (type === 'reasoning' ? 'hidden' : type === 'message' ? 'written' : 'whole')
  const outcome = new Outcome(0, false, { visibilityOf })
  outcome.record = { endpoint: { providerName: 'P' }, status: 200, startedAt: 0 } as unknown as AttemptRecord
  return outcome
}

/** Which of these reads let something out, and how many events. */
function freed(...reads: readonly (readonly ModelEvent[])[]): readonly (number | undefined)[] {
  const outcome = begun()
  return reads.map((events) => outcome.take(events)?.length)
}

it('holds back items that the caller does not see, until something else is said', () => {
  expect(freed([start('r', 'reasoning'), thought], [thought], [start('m', 'message')], [word])).toEqual([undefined, undefined, undefined, 4])
})

it('knows such an item by its start, even if that comes well before its content', () => {
  expect(freed([start('r', 'reasoning')], [thought], [thought])).toEqual([undefined, undefined, undefined])
})

it('holds back a call until it is complete, where callers see only whole ones', () => {
  const args: ModelEvent = { type: 'arguments-delta', key: 'c', delta: '{}' }
  expect(freed([start('c', 'function_call')], [args], [{ type: 'item-end', key: 'c' }])).toEqual([undefined, undefined, 3])
})

it('lets everything out at the end', () => {
  expect(freed([start('r', 'reasoning'), thought], [end])).toEqual([undefined, 3])
})

it('lets an answer out that is too long to be held back', () => {
  const long: ModelEvent = { type: 'reasoning-delta', key: 'r', kind: 'text', delta: 'x'.repeat(1024 * 1024) }
  expect(freed([start('r', 'reasoning'), thought], [long], [thought])).toEqual([undefined, 3, 1])
})

it('holds long thoughts in few pieces, and loses none of them', () => {
  const outcome = begun()
  outcome.take([start('r', 'reasoning')])
  for (let n = 0; n < 1_000; n++) outcome.take([{ type: 'reasoning-delta', key: 'r', kind: n < 500 ? 'text' : 'summary', delta: `${n} ` }])
  expect(outcome.held.flat().length).toBeLessThan(20)
  const out = outcome.take([start('m', 'message'), word])!
  const said = (kind: string): string => out.flatMap((event) => (event.type === 'reasoning-delta' && event.kind === kind ? event.delta : [])).join('')
  const numbers = (from: number): string => Array.from({ length: 500 }, (_, n) => `${from + n} `).join('')
  expect([said('text'), said('summary')]).toEqual([numbers(0), numbers(500)])
  expect(out.at(-1)).toBe(word)
})
