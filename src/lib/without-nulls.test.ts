import { expect, it } from 'vitest'
import { withoutNulls } from './without-nulls.ts'

it('members that are null are left out at any depth, entries of lists are not', () => {
  expect(withoutNulls({ a: null, b: { c: null, d: 0, e: '' }, f: [null, { g: null, h: [null] }], i: false })).toEqual({
    b: { d: 0, e: '' },
    f: [null, { h: [null] }],
    i: false,
  })
  for (const value of [null, 'a', 7, undefined, []]) expect(withoutNulls(value)).toEqual(value)
})
