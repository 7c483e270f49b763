import { expect, it } from 'vitest'
import { z } from 'zod'
import { unknownKey } from './unknown-key.ts'

const schema = z.object({ a: z.object({ b: z.number() }).optional(), open: z.looseObject({}).default({}), list: z.array(z.object({})).optional() })

it('finds what a schema would pass over, however deep', () => {
  expect(unknownKey(schema, { x: 1 })).toEqual({ path: ['x'], known: ['a', 'open', 'list'] })
  expect(unknownKey(schema, { a: { b: 1, c: 2 } })).toEqual({ path: ['a', 'c'], known: ['b'] })
  expect(unknownKey(schema, { toString: 1 })).toMatchObject({ path: ['toString'] })
})

it('finds nothing where everything is known, or may be anything', () => {
  for (const value of [{}, { a: { b: 'x' }, open: { c: 1 }, list: [{ d: 1 }] }, { a: null }, 7, null])
    expect(unknownKey(schema, value)).toBeUndefined()
  expect(unknownKey(z.looseObject({}), { x: 1 })).toBeUndefined()
  expect(unknownKey(z.string(), { x: 1 })).toBeUndefined()
})
