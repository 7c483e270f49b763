import { describe, expect, it } from 'vitest'
import type { ModelEvent } from '../../core/event.ts'
import { checkWire } from '../../testing/check-wire.ts'
import { manualClock, sequentialIds } from '../../testing/deterministic.ts'
import { Assembler } from './assemble.ts'

const CODE = 'print("😀")\n'
const RAN = { type: 'code_interpreter_call', status: 'completed', code: CODE, container_id: 'c', outputs: [{ type: 'logs', logs: '1' }] }
const progress = (name: string, fields: { readonly [field: string]: unknown } = {}): ModelEvent => ({ type: 'item-event', key: 'i', name, fields })

function told(...events: readonly ModelEvent[]) {
  const options = { id: 'gen-1', request: { model: 'acme/small', input: [] }, receivedAt: 0, stream: true, newId: sequentialIds() }
  const subject = new Assembler({ ...options, clock: manualClock(), facts: () => ({ model: 'acme/small' }) })
  subject.push([...events, { type: 'response-end', reason: 'stop' }])
  subject.finish()
  const { events: wire, output } = checkWire(subject.takeWire())
  const inside = wire.slice(2, -1).map(({ type, item, delta, code }) => [type.slice('response.'.length), item ?? delta ?? code])
  return { inside, item: output[0]! }
}

describe('code that a provider ran for the model', () => {
  it('gets events of its own where the endpoint reports a run only when it is over', () => {
    const { inside, item } = told({ type: 'item-start', key: 'i', item: RAN }, { type: 'item-end', key: 'i' })
    expect(inside).toEqual([
      ['output_item.added', { ...RAN, id: item.id, status: 'in_progress', code: '', outputs: null }],
      ['code_interpreter_call_code.delta', CODE],
      ['code_interpreter_call_code.done', CODE],
      ['output_item.done', { ...RAN, id: item.id }],
    ])
  })

  it('is not repeated where the endpoint sends such events, and completed where it leaves some out', () => {
    const start: ModelEvent = {
      type: 'item-start',
      key: 'i',
      item: { type: 'code_interpreter_call', status: 'in_progress', code: '', container_id: 'c' },
    }
    const end: ModelEvent = { type: 'item-end', key: 'i', item: RAN }
    const piece = progress('code_interpreter_call_code.delta', { delta: 'print(' })
    const names = (...events: readonly ModelEvent[]): unknown =>
      told(start, ...events, end)
        .inside.slice(1, -1)
        .map(([name, said]) => [String(name).replace(/^code_interpreter_call(_code)?\./, ''), said])
    const rest = CODE.slice('print('.length)
    expect(
      names(piece, progress('code_interpreter_call_code.delta', { delta: rest }), progress('code_interpreter_call_code.done', { code: CODE })),
    ).toEqual([
      ['delta', 'print('],
      ['delta', rest],
      ['done', CODE],
    ])
    expect(names(piece, progress('code_interpreter_call.interpreting'))).toEqual([
      ['delta', 'print('],
      ['interpreting', undefined],
      ['delta', rest],
      ['done', CODE],
    ])
    // Deltas are written even if the endpoint sends the code as a whole, because clients show the deltas.
    const whole = progress('code_interpreter_call_code.done', { code: CODE })
    expect(names(whole)).toEqual([
      ['delta', CODE],
      ['done', CODE],
    ])
    expect(names(piece, whole)).toEqual([
      ['delta', 'print('],
      ['delta', rest],
      ['done', CODE],
    ])
  })

  it('is ended also where only its result is known', () => {
    const { inside } = told({ type: 'item-start', key: 'i', item: { ...RAN, code: null } }, { type: 'item-end', key: 'i' })
    expect(inside.map(([name]) => name)).toEqual(['output_item.added', 'code_interpreter_call_code.done', 'output_item.done'])
  })
})
