import { expect, it } from 'vitest'
import { filtersOf, NO_FILTERS, queryOf } from './filters.ts'

const address = (text: string) => (name: string) => new URLSearchParams(text).get(name) ?? undefined

it('filters are read from the URL, and invalid ones are ignored', () => {
  expect(filtersOf(address('status=failed&model=acme/small&span=1h&session_id=%20&other=1&status=x'))).toEqual({
    status: 'failed',
    model: 'acme/small',
    span: '1h',
  })
  expect(filtersOf(address('status=lost&span=100y'))).toEqual({})
})

it('a time span is counted back from the current time at each read', () => {
  const now = Date.parse('2026-01-02T03:00:00Z')
  expect(queryOf({ span: '1h', provider: 'acme' }, now)).toEqual({ provider: 'acme', from: '2026-01-02T02:00:00.000Z' })
  expect(queryOf({ span: '1h' }, now + 1_000).from).toBe('2026-01-02T02:00:01.000Z')
  expect(queryOf({}, now)).toEqual({})
})

it('a start, an end or both may replace a time span', () => {
  const day = filtersOf(address('span=between&from=2026-01-02T02:00:00Z&to=2026-01-02T04:00:00%2B01:00'))
  expect(day).toEqual({ span: 'between', from: '2026-01-02T02:00:00.000Z', to: '2026-01-02T03:00:00.000Z' })
  expect(queryOf(day, 0)).toEqual({ from: '2026-01-02T02:00:00.000Z', to: '2026-01-02T03:00:00.000Z' })
  expect(filtersOf(address('from=2026-01-02T02:00:00Z&to=never'))).toEqual({ span: 'between', from: '2026-01-02T02:00:00.000Z' })
  expect(queryOf(filtersOf(address('span=between')), 0)).toEqual({})
  expect(filtersOf(address('span=1h&from=2026-01-02T02:00:00Z'))).toEqual({ span: '1h' })
})

it('every filter can be removed from the URL', () => {
  const all = { status: 'failed', span: '1h', model: 'a', provider: 'b', error_type: 'c', api_key_hash: 'd', session_id: 'e', workspace_id: 'f' }
  const between = { ...all, span: 'between', from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' }
  expect(Object.keys(filtersOf(address(new URLSearchParams(between).toString()))).toSorted()).toEqual(Object.keys(NO_FILTERS).toSorted())
})
