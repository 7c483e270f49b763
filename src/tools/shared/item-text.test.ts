import { describe, expect, it } from 'vitest'
import type { ModelEvent } from '../../core/event.ts'
import type { OutputItem } from '../../core/item.ts'
import { checkWire } from '../../testing/check-wire.ts'
import { wireOf } from '../../testing/wire-of.ts'
import { ItemText } from './item-text.ts'

const DONE: ModelEvent = { type: 'response-end', reason: 'stop' }

/** The validated events of an item whose text comes in these pieces. */
function shown(pieces: readonly string[]): { readonly name: string; readonly said: unknown }[] {
  const events: ModelEvent[] = [{ type: 'item-start', key: 'a', item: { type: 'gateway:advisor', status: 'in_progress' } as OutputItem }]
  const text = new ItemText((name, fields) => events.push({ type: 'item-event', key: 'a', name, fields }))
  for (const piece of pieces) text.push(piece)
  text.end()
  text.push('late')
  text.end()
  events.push({ type: 'item-end', key: 'a', item: { status: 'completed' } }, DONE)
  return checkWire(wireOf(events))
    .events.filter((event) => 'content_index' in event)
    .map(({ type, ...event }) => ({
      name: type.slice('response.'.length),
      said: event['delta'] ?? event['text'] ?? (event['part'] as { text: string }).text,
    }))
}

describe('text of a tool’s own item', () => {
  it('is in one part that is opened before it and closed after it', () => {
    expect(shown(['Do ', 'it.'])).toEqual([
      { name: 'content_part.added', said: '' },
      { name: 'output_text.delta', said: 'Do ' },
      { name: 'output_text.delta', said: 'it.' },
      { name: 'output_text.done', said: 'Do it.' },
      { name: 'content_part.done', said: 'Do it.' },
    ])
  })
  it('has no part while there is no text', () => {
    expect(shown([])).toEqual([])
    expect(shown([''])).toEqual([])
  })
  it('comes in whole characters', () => {
    expect(shown(['a\ud83d', '\ude00', '\ud83d']).map(({ said }) => said)).toEqual(['', 'a', '😀', '\ufffd', 'a😀\ufffd', 'a😀\ufffd'])
  })
})
