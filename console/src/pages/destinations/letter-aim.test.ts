import { describe, expect, it } from 'vitest'
import { letterAim } from './letter-aim.ts'

describe('which dead letters an order is about', () => {
  it('is all of them where none was chosen', () => {
    expect(letterAim(new Set(), ['a', 'b'])).toEqual({ chosen: [], body: {}, said: 'all' })
  })

  it('is what was chosen, without what has gone since', () => {
    expect(letterAim(new Set(['a', 'c', 'gone']), ['a', 'b', 'c'])).toEqual({ chosen: ['a', 'c'], body: { ids: ['a', 'c'] }, said: '2 chosen' })
  })

  it('is nothing, and never all, once everything that was chosen has gone', () => {
    expect(letterAim(new Set(['gone']), ['a', 'b'])).toEqual({ chosen: [], body: undefined, said: '0 chosen' })
  })
})
