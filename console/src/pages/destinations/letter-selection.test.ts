import { describe, expect, it } from 'vitest'
import { selectLetters } from './letter-selection.ts'

describe('the dead letters that a replay or purge applies to', () => {
  it('are all of them where none was chosen', () => {
    expect(selectLetters(new Set(), ['a', 'b'])).toEqual({ chosen: [], body: {}, label: 'all' })
  })

  it('are those that were chosen and still exist', () => {
    expect(selectLetters(new Set(['a', 'c', 'gone']), ['a', 'b', 'c'])).toEqual({ chosen: ['a', 'c'], body: { ids: ['a', 'c'] }, label: '2 chosen' })
  })

  it('are none, and never all, once everything that was chosen is gone', () => {
    expect(selectLetters(new Set(['gone']), ['a', 'b'])).toEqual({ chosen: [], body: undefined, label: '0 chosen' })
  })
})
