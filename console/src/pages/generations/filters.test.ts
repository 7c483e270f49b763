import { expect, it } from 'vitest'
import { filtersOf, NO_FILTERS, queryOf } from './filters.ts'

const address = (text: string) => (name: string) => new URLSearchParams(text).get(name) ?? undefined

it('an address names filters, and what it names wrongly is none', () => {
  expect(filtersOf(address('status=failed&model=acme/small&span=1h&session_id=%20&other=1&status=x'))).toEqual({
    status: 'failed',
    model: 'acme/small',
    span: '1h',
  })
  expect(filtersOf(address('status=lost&span=100y'))).toEqual({})
})

it('a span is counted back from now, each time', () => {
  const now = Date.parse('2026-01-02T03:00:00Z')
  expect(queryOf({ span: '1h', provider: 'acme' }, now)).toEqual({ provider: 'acme', from: '2026-01-02T02:00:00.000Z' })
  expect(queryOf({ span: '1h' }, now + 1_000).from).toBe('2026-01-02T02:00:01.000Z')
  expect(queryOf({}, now)).toEqual({})
})

it('every filter can be taken out of an address', () => {
  const all = { status: 'failed', span: '1h', model: 'a', provider: 'b', error_type: 'c', api_key_hash: 'd', session_id: 'e', workspace_id: 'f' }
  expect(Object.keys(filtersOf(address(new URLSearchParams(all).toString()))).toSorted()).toEqual(Object.keys(NO_FILTERS).toSorted())
})
