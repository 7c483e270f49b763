import { expect, it } from 'vitest'
import { listSteps } from '../../testing/list-steps.ts'
import { fitJsonSchema } from './rooted-schema.ts'
import { Unfolding } from './unfolding.ts'

const MANY = 200
const named = (letter: string, schema: (n: number) => object): object =>
  Object.fromEntries(Array.from({ length: MANY }, (_, n) => [`${letter}${n}`, schema(n)]))

it('every target of a reference that is no definition becomes one, under a name that no other has', () => {
  const schema = {
    $defs: { shared1: { type: 'null' } },
    properties: {
      a: { type: 'string' },
      b: { type: 'integer' },
      c: { $ref: '#/properties/a' },
      d: { $ref: '#/properties/b' },
      e: { $ref: '#/properties/a' },
    },
  }
  const { $defs, properties } = fitJsonSchema(schema, new Unfolding()) as { $defs: object; properties: { [name: string]: { $ref?: string } } }
  const [c, d, e] = ['c', 'd', 'e'].map((name) => properties[name]!.$ref)
  expect($defs).toEqual({ shared1: { type: 'null' }, [c!.slice(8)]: { type: 'string' }, [d!.slice(8)]: { type: 'integer' } })
  expect(e).toBe(c)
})

it('names are counted once, however many definitions there are and however many are added', () => {
  const schema = {
    $defs: named('def', () => ({})),
    properties: { ...named('from', (n) => ({ $ref: `#/properties/to${n}` })), ...named('to', () => ({ type: 'string' })) },
  }
  expect(listSteps(() => fitJsonSchema(schema, new Unfolding()))).toBeLessThan(MANY * 50)
})
