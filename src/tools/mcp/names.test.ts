import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { functionName } from './names.ts'

describe('the function name of a remote tool', () => {
  it('contains the label of its server', () => {
    expect(functionName('docs', 'search-all')).toBe('docs__search-all')
  })

  it('fits every provider, and no two tools share it', () => {
    const words = fc.oneof(fc.string({ minLength: 1, maxLength: 90 }), fc.stringMatching(/^[ab_.]{1,4}$/))
    fc.assert(
      fc.property(words, words, words, words, (a, b, c, d) => {
        expect(functionName(a, b)).toMatch(/^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/)
        if (a !== c || b !== d) expect(functionName(a, b)).not.toBe(functionName(c, d))
      }),
      { numRuns: 2_000 },
    )
  })

  it('does not depend on anything else, so that histories stay readable', () => {
    expect(functionName('a b', 'tool.v2')).toBe(functionName('a b', 'tool.v2'))
    expect(functionName('a b', 'tool.v2')).toMatch(/^a_b__tool_v2_[0-9a-f]{8}$/)
  })
})
