import type { IncomingMessage } from 'node:http'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Authentication } from '../core/account.ts'
import { GatewayError } from '../core/error.ts'
import { manualClock } from '../testing/deterministic.ts'
import { sampleKey } from '../testing/sample-records.ts'
import { createAuthenticate } from './authenticate.ts'
import { GuessGuard } from './guess-guard.ts'

const UNKNOWN: Authentication = { ok: false, reason: 'unknown' }
const key = sampleKey('hash', { kind: 'inference' })
const ACCEPTED: Authentication = { ok: true, key, owner: { workspaceId: key.workspaceId, keyHash: 'hash', keyName: 'n', keyLabel: 'l' } }
const request = (bearer: string) => ({ headers: { authorization: `Bearer ${bearer}` }, socket: { remoteAddress: '198.51.100.7' } }) as IncomingMessage

describe('authenticate', () => {
  let known: Set<string>
  let looks: number
  /** What a look brings. */
  let look: (() => Promise<void>) | undefined
  const make = (wrongKeysPerMinute: number | null = null) =>
    createAuthenticate(
      {
        authenticate: (bearer) => (known.has(bearer) ? ACCEPTED : UNKNOWN),
        lookAgain: () => {
          if (look === undefined) return undefined
          looks++
          return look()
        },
      },
      new GuessGuard({ clock: manualClock(), wrongKeysPerMinute: () => wrongKeysPerMinute }),
    )
  beforeEach(() => {
    known = new Set(['good'])
    looks = 0
    look = () => Promise.resolve()
  })

  it('answers for a known key at once, from memory', () => {
    expect(make()(request('good'), 'inference')).toBe(ACCEPTED)
    expect(looks).toBe(0)
  })

  it('accepts a key that the second lookup finds, and does not count it as a guess', async () => {
    look = () => Promise.resolve(void known.add('new'))
    const authenticate = make(1)
    expect(await authenticate(request('new'), 'inference')).toBe(ACCEPTED)
    await expect(authenticate(request('wrong'), 'inference')).rejects.toMatchObject({ status: 401 })
  })

  it('refuses a key of the wrong kind that the second lookup finds', async () => {
    look = () => Promise.resolve(void known.add('new'))
    await expect(make()(request('new'), 'management')).rejects.toMatchObject({ status: 403 })
  })

  it('refuses a wrong key after the second lookup, at once without one, and never while the lookup is impossible', async () => {
    const authenticate = make()
    await expect(authenticate(request('wrong'), 'inference')).rejects.toMatchObject({ status: 401 })
    look = () => Promise.reject(new GatewayError('provider_overloaded', 'away'))
    await expect(authenticate(request('wrong'), 'inference')).rejects.toMatchObject({ status: 503 })
    look = undefined
    expect(() => authenticate(request('wrong'), 'inference')).toThrow(expect.objectContaining({ status: 401 }))
  })

  it('looks up no key for an address that has guessed too often', async () => {
    const authenticate = make(2)
    for (let n = 0; n < 2; n++) await expect(authenticate(request(`wrong-${n}`), 'inference')).rejects.toMatchObject({ status: 401 })
    expect(() => authenticate(request('wrong-2'), 'inference')).toThrow(expect.objectContaining({ status: 429 }))
    expect(looks).toBe(2)
  })

  it.each<readonly [string, boolean]>([
    ['Bearer good', true],
    ['bearer good', true],
    ['BEARER   good  ', true],
    ['Bearer good x', false],
    ['Bearergood', false],
    ['Bearer', false],
    ['good', false],
    ['Basic good', false],
    ['', false],
  ])('reads a bearer token however it is written: %j', async (authorization, isGood) => {
    const answer = (async () => await make()({ ...request(''), headers: { authorization } } as IncomingMessage, undefined))()
    if (isGood) expect(await answer).toBe(ACCEPTED)
    else await expect(answer).rejects.toMatchObject({ status: 401 })
  })

  it.each([
    ['missing', 'An API key is required: send it as "Authorization: Bearer <key>"'],
    ['revoked', 'The API key has been revoked'],
    ['expired', 'The API key has expired'],
    ['disabled', 'The API key is disabled'],
  ] as const)('explains what is wrong with a key, without a second lookup and without counting a guess: %s', (reason, message) => {
    const guard = new GuessGuard({ clock: manualClock(), wrongKeysPerMinute: () => 1 })
    const lookAgain = () => expect.unreachable()
    const authenticate = createAuthenticate({ authenticate: () => ({ ok: false, reason }), lookAgain }, guard)
    for (let n = 0; n < 3; n++) expect(() => authenticate(request('old'), 'inference')).toThrow(expect.objectContaining({ status: 401, message }))
  })

  it('remembers where a valid key is used, so that it continues to work there while others guess', async () => {
    const authenticate = make(1)
    expect(authenticate(request('good'), 'inference')).toBe(ACCEPTED)
    await expect(authenticate(request('wrong'), 'inference')).rejects.toMatchObject({ status: 401 })
    expect(authenticate(request('good'), 'inference')).toBe(ACCEPTED)
  })

  describe('the header of another format', () => {
    const sent = (headers: object) => ({ headers, socket: { remoteAddress: '198.51.100.7' } }) as IncomingMessage

    it.each<readonly [string, object]>([
      ['alone', { 'x-api-key': ' good ' }],
      ['beside an authorization that is no bearer', { 'x-api-key': 'good', authorization: 'Basic abc' }],
      ['beside an empty bearer', { 'x-api-key': 'good', authorization: 'Bearer ' }],
      ['beside the bearer, which counts', { 'x-api-key': 'wrong', authorization: 'Bearer good' }],
    ])('holds a key: %s', (_name, headers) => {
      expect(make()(sent(headers), 'inference', 'x-api-key')).toBe(ACCEPTED)
    })

    it('counts guesses like a bearer token', async () => {
      const authenticate = make(1)
      await expect(authenticate(sent({ 'x-api-key': 'wrong' }), 'inference', 'x-api-key')).rejects.toMatchObject({ status: 401 })
      expect(() => authenticate(sent({ 'x-api-key': 'wronger' }), 'inference', 'x-api-key')).toThrow(expect.objectContaining({ status: 429 }))
      expect(() => authenticate(request('wronger'), 'inference')).toThrow(expect.objectContaining({ status: 429 }))
    })

    it('gives no access a bearer token would not', () => {
      expect(() => make()(sent({ 'x-api-key': 'good' }), 'management', 'x-api-key')).toThrow(expect.objectContaining({ status: 403 }))
    })

    it('is not a key where the route does not allow it', async () => {
      await expect((async () => await make()(sent({ 'x-api-key': 'good' }), 'inference'))()).rejects.toMatchObject({ status: 401 })
    })
  })
})
