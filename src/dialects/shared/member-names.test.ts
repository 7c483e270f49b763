import { expect, it } from 'vitest'
import { listSteps } from '../../testing/list-steps.ts'
import { takenMembers } from './member-names.ts'

const TEXT = { type: 'string' }

it('members with refused names are described to the model, and the schema does not forbid them', () => {
  const long = 'x'.repeat(65)
  const properties = { id: TEXT, 'a.b-c_1': TEXT, 'filter[id]': { type: 'string', maxLength: 3 }, $top: TEXT, [long]: TEXT }
  expect(takenMembers({ type: 'object', properties, required: ['$top', 'id'], additionalProperties: false, $defs: { a: TEXT } })).toEqual({
    schema: { type: 'object', properties: { id: TEXT, 'a.b-c_1': TEXT }, required: ['id'], $defs: { a: TEXT } },
    note:
      'It also takes members of these names, exactly as they are written, under this JSON schema:\n' +
      JSON.stringify({ properties: { 'filter[id]': { type: 'string', maxLength: 3 }, $top: TEXT, [long]: TEXT }, required: ['$top'] }),
  })
})

it('accepted names are unchanged, and so are nested ones', () => {
  for (const schema of [{ type: 'object' }, { type: 'object', properties: { a: { type: 'object', properties: { 'b c': TEXT } } }, required: ['a'] }])
    expect(takenMembers(schema)).toEqual({ schema })
})

it('required members are told apart in one pass, however many there are', () => {
  const names = Array.from({ length: 200 }, (_, n) => `$${n}`)
  const schema = { properties: Object.fromEntries(names.map((name) => [name, TEXT])), required: [...names].reverse() }
  expect(listSteps(() => takenMembers(schema))).toBeLessThan(names.length * 30)
})
