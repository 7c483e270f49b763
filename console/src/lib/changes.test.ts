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

it('what is made new leaves out what is null, and keeps zero, false and nothing', () => {
  expect(withoutNulls({ limit: null, zero: 0, no: false, text: '', list: [] })).toEqual({ zero: 0, no: false, text: '', list: [] })
})

it('a form is changed until all of it is as it was', () => {
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

it('what was typed while a form was saved stays, and the rest is as it is stored', () => {
  const sent = { name: ' a ', text: 'b', list: ['x'] }
  expect(afterSave(sent, { ...sent, text: 'bc' }, { name: 'a', text: 'b', list: ['x', 'y'] })).toEqual({ name: 'a', text: 'bc', list: ['x', 'y'] })
})
