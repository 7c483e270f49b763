import { expect, it } from 'vitest'
import { table } from './table.ts'

it('aligns its columns, numbers at the right', () => {
  expect(
    table(
      [
        ['MODEL', 'USD'],
        ['acme/small', '1'],
      ],
      new Set([1]),
    ),
  ).toBe('MODEL       USD\nacme/small    1\n')
})

it('shows a row in one line, and what would control a terminal by its code', () => {
  expect(table([['MODEL'], ['acme/\u001B]0;title\u0007\u009B2J\nacme/forged']])).toBe(
    'MODEL\nacme/\\u001b]0;title\\u0007\\u009b2J\\u000aacme/forged\n',
  )
})

it('has room for as many rows as callers have made up names', () => {
  expect(table(Array.from({ length: 200_000 }, () => ['x'])).length).toBe(400_000)
})
