import { isDeepStrictEqual } from 'node:util'
import { expect } from 'vitest'

/**
 * `toEqual` for properties that compare thousands of values: what Node finds strictly equal is equal for `toEqual` too, which takes many times as long
 * to find out. Anything else it judges, and describes, itself.
 */
export function expectEqual(actual: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual).toEqual(expected)
}
