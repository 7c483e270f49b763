import { describe, expect, it } from 'vitest'
import { unfoldedSize } from './unfolded-size.ts'

describe('the size of a pattern, unfolded', () => {
  it.each([
    ['', 0],
    ['abc', 3],
    ['a{100}', 100],
    ['a{2,}b{1,50}', 52],
    ['(?:ab){100}', 400],
    ['(?<name>a{10}){10}', 120],
    ['(?P<name>a)(?i)b', 4],
    ['((a{10}){10}){10}', 1_220],
    ['.{1000}.{1000}', 2_000],
  ])('of %s is %i', (source, size) => {
    expect(unfoldedSize(source)).toBe(size)
  })

  it.each([
    '[a{9000}]',
    '[]{9000}]',
    '[^]{9000}]',
    '[[:alpha:]{9000}]',
    '[\\]{9000}]',
    '\\{9000}',
    '\\Q{9000}\\E',
    '\\p{Greek}',
    '\\x{1F600}',
    '{9000}',
    'a{,9000}',
    'a{9000',
    '(',
    ')',
    '[',
    '\\',
  ])('counts no repetition in %s', (source) => {
    expect(unfoldedSize(source)).toBeLessThan(20)
  })
})
