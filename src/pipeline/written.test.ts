import { expect, it } from 'vitest'
import type { ModelEvent } from '../core/event.ts'
import { likelyOutput, Written } from './written.ts'

const amountOf = (events: readonly ModelEvent[]): Written => {
  const written = new Written()
  for (const event of events) written.note(event)
  return written
}
const picture = { type: 'image_generation_call', result: 'iVBORw0KGgo=' } as const
const empty = { ...picture, result: '' }

it.each<[string, readonly ModelEvent[]]>([
  [
    'at the start of its item',
    [
      { type: 'item-start', key: 'i', item: picture },
      { type: 'item-end', key: 'i' },
    ],
  ],
  [
    'at its end',
    [
      { type: 'item-start', key: 'i', item: empty },
      { type: 'item-end', key: 'i', item: { result: 'iVBORw0KGgo=' } },
    ],
  ],
  [
    'in both',
    [
      { type: 'item-start', key: 'i', item: picture },
      { type: 'item-end', key: 'i', item: picture },
    ],
  ],
])('a picture counts once, whether it comes %s', (_where, events) => {
  expect(amountOf(events)).toMatchObject({ chars: 0, pictures: 1 })
})

it('a picture that failed, and a result of another tool, are no pictures', () => {
  const file = { type: 'gateway:files' }
  const events: ModelEvent[] = [
    { type: 'item-start', key: 'i', item: empty },
    { type: 'item-end', key: 'i', item: { status: 'failed' } },
    { type: 'item-start', key: 'f', item: file },
    { type: 'item-end', key: 'f', item: { result: 'done' } },
  ]
  expect(amountOf(events).pictures).toBe(0)
})

it('pictures are tokens of models that draw them; those of a tool are paid in another way', () => {
  const amount = { chars: 8, pictures: 2 }
  expect(likelyOutput(amount, { outputModalities: new Set(['text', 'image']) })).toEqual({
    outputTokens: 2 + 2 * 1_290,
    imageOutputTokens: 2 * 1_290,
  })
  expect(likelyOutput(amount, { outputModalities: new Set(['text']) })).toEqual({ outputTokens: 2 })
})
