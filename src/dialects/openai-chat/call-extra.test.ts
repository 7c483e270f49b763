import { describe, expect, it } from 'vitest'
import type { ModelEvent } from '../../core/event.ts'
import { openReasoning } from '../../core/reasoning-envelope.ts'
import { checkEventBalance } from '../../testing/event-balance.ts'
import { chatTarget } from './__fixtures__/target.ts'
import type { TargetOverrides } from './__fixtures__/target.ts'
import { ChatDecoder } from './stream.ts'

const EXTRA = { vendor: { thought_signature: 'sig' } }

const piece = (args: string, beside: object): object => ({
  choices: [{ delta: { tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: args }, ...beside }] } }],
})

function decode(frames: readonly object[], overrides: TargetOverrides): ModelEvent[] {
  const decoder = new ChatDecoder({ input: [] }, chatTarget(overrides))
  const out: ModelEvent[] = []
  for (const frame of [...frames, { choices: [{ delta: {}, finish_reason: 'tool_calls' }] }]) decoder.push(JSON.stringify(frame), undefined, out)
  decoder.push('[DONE]', undefined, out)
  checkEventBalance(out)
  return out
}

describe('what a server says of a call', () => {
  it('is carried, whatever it says, once and before the call', () => {
    const events = decode([piece('{"a":', { extra_content: EXTRA }), piece('1}', { extra_content: EXTRA })], { scope: 's' })
    const keys = events.flatMap((event) => ('key' in event ? [`${event.type}:${event.key}`] : []))
    expect(keys.slice(0, 4)).toEqual(['item-start:r0', 'item-end:r0', 'item-start:c1', 'arguments-delta:c1'])
    const sealed = events.flatMap((event) => (event.type === 'item-end' ? [event.item?.['encrypted_content']] : []))
    expect(openReasoning(sealed[0] as string)).toEqual({ format: 'unknown', scope: 's', data: JSON.stringify(EXTRA), signs: 'call' })
    expect(sealed.filter((each) => each !== undefined)).toHaveLength(1)
  })

  it.each<[string, object, object]>([
    ['says nothing', { extra_content: {} }, {}],
    ['says no object', { extra_content: 'x' }, {}],
    ['says too much', { extra_content: { x: 'x'.repeat(70_000) } }, {}],
    ['is not wanted back', { extra_content: { x: 1 } }, { tool_extra: null }],
  ])('is not carried where it %s', (_name, extra, options) => {
    const items = decode([piece('{}', extra)], { options }).filter(({ type }) => type === 'item-start')
    expect(items).toMatchObject([{ item: { type: 'function_call' } }])
  })
})
