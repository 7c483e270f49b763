import { expect, it } from 'vitest'
import { forgetNotes, storeNotes, consumeNotes } from './notes.ts'

function tab(room: number) {
  const kept = new Map<string, string>()
  return {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem(name: string, text: string) {
      if (text.length > room) throw new Error('QuotaExceededError')
      kept.set(name, text)
    },
    removeItem: (name: string) => void kept.delete(name),
  }
}

it('stored notes are read once, and not at all after forgetNotes', () => {
  const store = tab(1_000)
  expect(storeNotes(store, { text: 'half a sent' })).toBe(true)
  expect(consumeNotes(store)).toEqual({ text: 'half a sent' })
  expect(consumeNotes(store)).toEqual({})
  storeNotes(store, { text: 'half a sent' })
  forgetNotes(store)
  expect(consumeNotes(store)).toEqual({})
})

it('storing notes reports a lack of room, and invalid notes count as none', () => {
  const store = tab(30)
  expect(storeNotes(store, { text: 'x'.repeat(100) })).toBe(false)
  for (const text of ['{', 'null', '7']) {
    store.setItem('signalbox.notes', text)
    expect(consumeNotes(store)).toEqual({})
  }
})
