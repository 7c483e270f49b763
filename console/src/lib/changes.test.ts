import { expect, it } from 'vitest'
import { afterSave, changesOf, isChanged, withoutNulls } from './changes.ts'

it('a change sends what differs, an emptied field as null', () => {
  const before = { name: 'a', limit: 5 as number | null, models: ['x', 'y'], rates: { rpm: 1 } as { rpm: number } | null, on: true }
  expect(changesOf(before, { ...before, models: ['x', 'y'], rates: { rpm: 1 } })).toEqual({})
  expect(changesOf(before, { ...before, limit: null, models: ['y', 'x'], rates: { rpm: 2 } })).toEqual({
    limit: null,
    models: ['y', 'x'],
    rates: { rpm: 2 },
  })
  expect(changesOf(before, { ...before, limit: 0, rates: null, on: false })).toEqual({ limit: 0, rates: null, on: false })
})

it('a list is not an object with the same entries', () => {
  expect(changesOf({ value: ['a'] as unknown }, { value: { 0: 'a' } })).toEqual({ value: { 0: 'a' } })
})

it('the body of a new resource leaves out null, and keeps zero, false and empty texts', () => {
  expect(withoutNulls({ limit: null, zero: 0, no: false, text: '', list: [] })).toEqual({ zero: 0, no: false, text: '', list: [] })
})

it('a form counts as changed until every field has its original value again', () => {
  const before = { name: 'a', rates: { rpm: '' as number | string }, models: ['x'] }
  expect([{ ...before }, { ...before, rates: { rpm: '' } }, { ...before, models: ['x'] }].map((after) => isChanged(before, after))).toEqual([
    false,
    false,
    false,
  ])
  expect(
    [
      { ...before, rates: { rpm: 1 } },
      { ...before, models: ['x', 'y'] },
    ].map((after) => isChanged(before, after)),
  ).toEqual([true, true])
})

it('what was typed while a form was saved is kept, and the other fields show what is stored', () => {
  const sent = { name: ' a ', text: 'b', list: ['x'] }
  expect(afterSave(sent, { ...sent, text: 'bc' }, { name: 'a', text: 'b', list: ['x', 'y'] })).toEqual({ name: 'a', text: 'bc', list: ['x', 'y'] })
})
