import { describe, expect, it } from 'vitest'
import type { ApiKey } from '../../api/schema.ts'
import { createKeyBody, curlOf, keyChanges, keyFormOf, newKeyForm } from './form.ts'
import { keysWith, ratesOfKey, stateOf, unusedFor, usedShare } from './list.ts'

const key = (more: Partial<ApiKey> = {}): ApiKey =>
  ({
    hash: 'ab12',
    name: 'CI of Ämter',
    label: 'sk-sb-v1-ab…cd',
    disabled: false,
    limit: 5,
    limit_remaining: 4,
    limit_reset: 'daily',
    include_byok_in_limit: false,
    expires_at: null,
    rate_limits: { requests_per_minute: 60 },
    ...more,
  }) as ApiKey

describe('the body of a new key', () => {
  it('leaves out what was not asked for', () => {
    expect(createKeyBody({ ...newKeyForm(''), name: ' ci ' })).toEqual({ name: 'ci', include_byok_in_limit: false })
  })

  it('has limits, rates, workspace and the moment of expiry in UTC', () => {
    const form = { ...newKeyForm('w1'), name: 'ci', limit: 0, reset: 'weekly', expires: '2026-01-31T12:00' } as const
    expect(createKeyBody({ ...form, rates: { requests: 60, tokens: '', concurrent: '' } })).toEqual({
      name: 'ci',
      limit: 0,
      limit_reset: 'weekly',
      include_byok_in_limit: false,
      rate_limits: { requests_per_minute: 60 },
      expires_at: new Date(2026, 0, 31, 12).toISOString(),
      workspace_id: 'w1',
    })
  })
})

describe('a change of a key', () => {
  it('is empty when nothing was changed', () => {
    expect(keyChanges(key(), keyFormOf(key()))).toEqual({})
  })

  it('names what was changed, and takes limits away with null', () => {
    const form = keyFormOf(key())
    expect(keyChanges(key(), { ...form, limit: '' })).toEqual({ limit: null })
    expect(keyChanges(key(), { ...form, reset: 'never', name: 'x' })).toEqual({ name: 'x', limit_reset: null })
    expect(keyChanges(key(), { ...form, rates: { requests: '', tokens: '', concurrent: '' } })).toEqual({ rate_limits: null })
    expect(keyChanges(key(), { ...form, rates: { ...form.rates, tokens: 9 } })).toEqual({
      rate_limits: { requests_per_minute: 60, tokens_per_minute: 9 },
    })
  })

  it('has another end only where it was changed: the field knows no seconds', () => {
    const ending = key({ expires_at: new Date(2031, 0, 31, 12, 5, 59, 999).toISOString() })
    const form = keyFormOf(ending)
    expect(form.expires).toBe('2031-01-31T12:05')
    expect(keyChanges(ending, { ...form, name: 'x' })).toEqual({ name: 'x' })
    expect(keyChanges(ending, { ...form, expires: '' })).toEqual({ expires_at: null })
    expect(keyChanges(ending, { ...form, expires: '2032-01-31T12:05' })).toEqual({ expires_at: new Date(2032, 0, 31, 12, 5).toISOString() })
    expect(keyChanges(key(), { ...keyFormOf(key()), expires: '2032-01-31T12:05' })).toHaveProperty('expires_at')
  })
})

it('a disabled key is shown as disabled even if it has expired, and a key counts as expired from that moment on', () => {
  const at = Date.parse('2026-01-01T00:00:00Z')
  const expires_at = new Date(at).toISOString()
  expect([stateOf(key(), at), stateOf(key({ expires_at }), at - 1), stateOf(key({ expires_at }), at)]).toEqual(['active', 'active', 'expired'])
  expect(stateOf(key({ expires_at, disabled: true }), at)).toBe('disabled')
})

it('keys are found by name, label and hash, in any case', () => {
  const rows = [key(), key({ name: 'other', hash: 'ff00', label: 'sk…zz' })]
  expect(keysWith(rows, 'äMT').length).toBe(1)
  expect(keysWith(rows, 'FF0').map(({ name }) => name)).toEqual(['other'])
  expect(keysWith(rows, ' ')).toEqual(rows)
  expect(keysWith(rows, 'none')).toEqual([])
})

it('keys are unused if they existed and nobody called with them for some days', () => {
  const now = Date.parse('2026-06-01T00:00:00Z')
  const of = (created_at: string, last_used_at: string | null) => key({ name: `${created_at} ${last_used_at}`, created_at, last_used_at })
  const [young, never, long, busy] = [
    of('2026-05-20T00:00:00Z', null),
    of('2026-01-01T00:00:00Z', null),
    of('2026-01-01T00:00:00Z', '2026-04-01T00:00:00Z'),
    of('2026-01-01T00:00:00Z', '2026-05-31T00:00:00Z'),
  ]
  expect(unusedFor([young, never, long, busy], 30, now)).toEqual([never, long])
  expect(unusedFor([young, never, long, busy], 90, now)).toEqual([never])
  expect(unusedFor([young, busy], undefined, now)).toEqual([young, busy])
})

it('rates are described in a few words', () => {
  expect(ratesOfKey(key({ rate_limits: { requests_per_minute: 60, tokens_per_minute: 1_200_000, concurrent_requests: null } }))).toEqual([
    '60 req/min',
    '1.2M tok/min',
  ])
  expect(ratesOfKey({ ...key(), rate_limits: undefined })).toEqual([])
})

it('the used share of a limit stays between 0 and 1', () => {
  const used = (limit: number | null, left: number | null) => usedShare(key({ limit, limit_remaining: left }))
  expect([used(5, 4), used(5, 0), used(0, 0), used(null, null)]).toEqual([expect.closeTo(0.2), 1, 1, undefined])
})

it('the command works as it is pasted', () => {
  const command = curlOf('http://gateway:8787', 'sk-1', "it's/this")
  expect(command).toContain('curl http://gateway:8787/api/v1/responses')
  expect(command).toContain("'Authorization: Bearer sk-1'")
  expect(command).toContain(String.raw`"model":"it'\''s/this"`)
  expect(curlOf('http://gateway', 'k', undefined)).toContain('{"input":"Say hello."}')
})
