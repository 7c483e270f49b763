import { describe, expect, it } from 'vitest'
import { compileLinearPattern } from './linear-pattern.ts'

describe('a linear pattern', () => {
  it('finds what JavaScript would find', () => {
    const spans = compileLinearPattern('PROJ-\\d{4,6}').find('PROJ-1234 and PROJ-99 and PROJ-654321', 10)
    expect(spans).toEqual([
      { start: 0, end: 9 },
      { start: 26, end: 37 },
    ])
  })

  it('reads JavaScript’s named groups and escapes', () => {
    expect(compileLinearPattern('(?<year>\\d{4})-\\u0041').test('2024-A')).toBe(true)
    expect(compileLinearPattern('https?:\\/\\/').test('http://')).toBe(true)
  })

  it('finds no more than it was asked for, and nothing empty', () => {
    expect(compileLinearPattern('a').find('a'.repeat(100), 3)).toHaveLength(3)
    expect(compileLinearPattern('x*').find('aaxaa', 10)).toEqual([{ start: 2, end: 3 }])
  })

  it.each([
    ['(?=a)b', 'lookarounds'],
    ['(?<!a)b', 'lookarounds'],
    ['(a)\\1', 'backreferences'],
    ['(', 'invalid regular expression'],
    ['a{1000}{1000}', 'regular expression'],
    ['x'.repeat(10_001), '10000 characters'],
  ])('refuses %j', (source, reason) => {
    expect(() => compileLinearPattern(source)).toThrow(reason)
  })

  it('is not stalled by what stalls others', () => {
    const pattern = compileLinearPattern('(a+)+$')
    expect(pattern.test(`${'a'.repeat(50_000)}!`)).toBe(false)
  })
})
