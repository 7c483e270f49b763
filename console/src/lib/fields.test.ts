import { expect, it } from 'vitest'
import { ApiError } from '../api/client.ts'
import { listOf, mergedRates, numberOf, rateFieldsOf, ratesOf, refusalAt, refusalElsewhere, textOf } from './fields.ts'

it('emptied fields are null, and zero is a number', () => {
  expect([numberOf(''), numberOf(' '), numberOf(0), numberOf('0.5'), textOf('  '), textOf(' a '), listOf([]), listOf(['a'])]).toEqual([
    null,
    null,
    0,
    0.5,
    null,
    'a',
    null,
    ['a'],
  ])
})

it('text that is not a number is sent for the gateway to refuse, and does not remove the limit', () => {
  expect(JSON.stringify({ limit: numberOf('.') })).toBe('{"limit":"."}')
})

it('rates are sent as one object with those that are set, or null', () => {
  expect(ratesOf(rateFieldsOf({ requests_per_minute: 60, concurrent_requests: 4 }))).toEqual({ requests_per_minute: 60, concurrent_requests: 4 })
  expect(ratesOf({ requests: '', tokens: 1_000, concurrent: '' })).toEqual({ tokens_per_minute: 1_000 })
  expect(ratesOf(rateFieldsOf(undefined))).toBeNull()
})

it('rates that others have changed since the form was opened stay, unless they were changed in it, too', () => {
  const before = { requests_per_minute: 60, tokens_per_minute: 1_000 }
  const after = { requests_per_minute: 90, tokens_per_minute: 1_000 }
  expect(mergedRates(before, after, { requests_per_minute: 70, concurrent_requests: 4 })).toEqual({ requests_per_minute: 90, concurrent_requests: 4 })
  expect(mergedRates(before, null, { ...before, concurrent_requests: 4 })).toEqual({ concurrent_requests: 4 })
  expect(mergedRates(before, { tokens_per_minute: 1_000 }, null)).toBeNull()
  expect(mergedRates(undefined, after, null)).toEqual(after)
})

it('an error is shown at the field it names, and only once', () => {
  const at = (path?: string) => new ApiError(400, 'invalid_request', 'no', path)
  expect(refusalAt(at('limit'), 'limit')).toBe('no')
  expect(refusalAt(at('limit_reset'), 'limit')).toBeUndefined()
  expect(refusalAt(at('rate_limits.tokens_per_minute'), 'rate_limits')).toBe('no')
  expect(refusalAt(at('allowed_api_key_hashes[2]'), 'allowed_api_key_hashes')).toBe('no')
  expect(refusalAt(at('allowed_models.0'), 'allowed_models')).toBe('no')
  expect([refusalAt(at(), 'limit'), refusalAt(null, 'limit')]).toEqual([undefined, undefined])
  expect(refusalElsewhere(at('limit'), ['name', 'limit'])).toBeNull()
  expect(refusalElsewhere(at('other'), ['name', 'limit'])?.path).toBe('other')
  expect(refusalElsewhere(at(), ['name'])?.message).toBe('no')
})
