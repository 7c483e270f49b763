import { describe, expect, it } from 'vitest'
import { letterAim } from './letter-aim.ts'

describe('the dead letters that a replay or purge applies to', () => {
  it('are all of them where none was chosen', () => {
    expect(letterAim(new Set(), ['a', 'b'])).toEqual({ chosen: [], body: {}, said: 'all' })
  })

  it('are those that were chosen and still exist', () => {
    expect(letterAim(new Set(['a', 'c', 'gone']), ['a', 'b', 'c'])).toEqual({ chosen: ['a', 'c'], body: { ids: ['a', 'c'] }, said: '2 chosen' })
  })

  it('are none, and never all, once everything that was chosen is gone', () => {
    expect(letterAim(new Set(['gone']), ['a', 'b'])).toEqual({ chosen: [], body: undefined, said: '0 chosen' })
  })
})
