import { expect, it } from 'vitest'
import { filtersOf, queryOf, withFilter } from './filters.ts'

it('an address names filters, and what it names wrongly is none', () => {
  expect(filtersOf(new URLSearchParams('status=failed&model=acme/small&span=1h&session_id=%20&other=1&status=x'))).toEqual({
    status: 'failed',
    model: 'acme/small',
    span: '1h',
  })
  expect(filtersOf(new URLSearchParams('status=lost&span=100y'))).toEqual({})
})

it('a span is counted back from now, each time', () => {
  const now = Date.parse('2026-01-02T03:00:00Z')
  expect(queryOf({ span: '1h', provider: 'acme' }, now)).toEqual({ provider: 'acme', from: '2026-01-02T02:00:00.000Z' })
  expect(queryOf({ span: '1h' }, now + 1_000).from).toBe('2026-01-02T02:00:01.000Z')
  expect(queryOf({}, now)).toEqual({})
})

it('a filter that changes closes the record that was open and leaves the other filters', () => {
  const search = new URLSearchParams('status=failed&id=gen-1&model=a')
  expect(withFilter(search, 'model', 'b').toString()).toBe('status=failed&model=b')
  expect(withFilter(search, 'status', null).toString()).toBe('model=a')
  expect(search.get('id')).toBe('gen-1')
})
