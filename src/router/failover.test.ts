import { describe, expect, it } from 'vitest'
import { GatewayError } from '../core/error.ts'
import type { ErrorDetails, ErrorType } from '../core/error.ts'
import { testEndpoint } from '../testing/endpoints.ts'
import { failedIndexes, isCredentialFailure, nextStep } from './failover.ts'
import type { FailoverAttempt, FailoverInput, Step, Try } from './failover.ts'
import { brokenError, finalError } from './final-error.ts'

const START = 1_700_000_000_000
const one = { endpoint: testEndpoint({ tag: 'one' }) }
const two = { endpoint: testEndpoint({ tag: 'two' }) }
const otherModel = { endpoint: testEndpoint({ tag: 'three', model: 'beta/large' }) }

const error = (type: ErrorType, details: ErrorDetails = {}): GatewayError =>
  new GatewayError(type, `${type} happened`, { source: 'provider', ...details })
const busy = (retryAfterMs?: number): GatewayError =>
  error('rate_limit_exceeded', { upstreamStatus: 429, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) })
const tryOf = (index: number, failure: GatewayError, startedAt = START): Try => ({ index, startedAt, error: failure })
const step = (attempts: readonly FailoverAttempt[], tries: readonly Try[], more: Partial<FailoverInput> = {}): Step =>
  nextStep({ attempts, tries, now: START + 10, random: () => 0.5, ...more })

/** Simulates a call against servers that are scripted per attempt: a failure and how long it takes, or undefined for an answer. */
function play(
  attempts: readonly FailoverAttempt[],
  script: (index: number, time: number, nth: number) => { readonly error: GatewayError; readonly ms?: number } | undefined,
  more: Partial<FailoverInput> = {},
) {
  const tries: Try[] = []
  const sent: { readonly index: number; readonly at: number }[] = []
  let now = START
  let index = 0
  for (;;) {
    const startedAt = now
    const outcome = script(index, now - START, sent.filter((s) => s.index === index).length)
    sent.push({ index, at: now - START })
    if (outcome === undefined) return { served: index, sent, tries, elapsed: now - START }
    now += outcome.ms ?? 5
    tries.push({ index, startedAt, error: outcome.error })
    const next = nextStep({ attempts, tries, now, random: () => 0.5, ...more })
    if (next.kind === 'fail') return { served: undefined, sent, tries, elapsed: now - START, error: finalError(attempts, tries) }
    now += next.delayMs
    if (next.kind === 'next') index = next.index
    if (sent.length > 50) throw new Error('endless')
  }
}
const mostWithin = (sent: readonly { readonly at: number }[], ms: number): number =>
  Math.max(...sent.map(({ at }) => sent.filter((other) => other.at >= at && other.at < at + ms).length))

describe('a failed try', () => {
  it.each<[string, Step['kind'], Step]>([
    ['5xx: once more on the same endpoint', 'retry', step([one, two], [tryOf(0, error('provider_unavailable', { upstreamStatus: 500 }))])],
    ['5xx twice: the next', 'next', step([one, two], [tryOf(0, error('provider_unavailable')), tryOf(0, error('provider_unavailable'))])],
    ['overloaded: once more', 'retry', step([one, two], [tryOf(0, error('provider_overloaded'))])],
    ['overloaded with a long pause: the next', 'next', step([one, two], [tryOf(0, error('provider_overloaded', { retryAfterMs: 5_000 }))])],
    ['5xx without retries: the next', 'next', step([one, two], [tryOf(0, error('provider_unavailable'))], { retries: false })],
    ['5xx of a probe: the next', 'next', step([{ ...one, state: 'probe' }, two], [tryOf(0, error('provider_unavailable'))])],
    ['silence: the next', 'next', step([one, two], [tryOf(0, error('timeout'))])],
    ['silence alone: the end', 'fail', step([one], [tryOf(0, error('timeout'))])],
    ['silence whatever its failover says', 'fail', step([one], [tryOf(0, error('timeout', { failover: 'retry' }))])],
    ['silence: not the same server with another key', 'fail', step([{ ...one, isByok: true }, one], [tryOf(0, error('timeout'))])],
    ['busy: the next', 'next', step([one, two], [tryOf(0, busy(2_000))])],
    ['busy alone, short pause: waits', 'retry', step([one], [tryOf(0, busy(2_000))])],
    ['busy alone, long pause: the end', 'fail', step([one], [tryOf(0, busy(60_000))])],
    ['busy alone without retries: the end', 'fail', step([one], [tryOf(0, busy(2_000))], { retries: false })],
    ['busy beyond the deadline: the end', 'fail', step([one], [tryOf(0, busy(5_000))], { beginBy: START + 4_000 })],
    ['context length: not on the same model', 'fail', step([one, two], [tryOf(0, error('context_length_exceeded'))])],
    ['content policy: not on the same model', 'fail', step([one, two], [tryOf(0, error('content_policy_violation'))])],
    [
      'dead credential: another credential',
      'retry',
      step([one, two], [tryOf(0, error('authentication', { upstreamStatus: 401 }))], { spareCredentials: 1 }),
    ],
    ['dead credential, the last: the next', 'next', step([one, two], [tryOf(0, error('payment_required', { upstreamStatus: 402 }))])],
    ['the caller’s mistake: the end', 'fail', step([one, two], [tryOf(0, error('invalid_request'))])],
    ['what one endpoint cannot take: the next', 'next', step([one, two], [tryOf(0, error('invalid_request', { failover: 'next' }))])],
    ['a budget of the gateway: the end', 'fail', step([one, two], [tryOf(0, new GatewayError('payment_required', 'budget'))])],
    [
      'a limit of the gateway: the end',
      'fail',
      step([one, two], [tryOf(0, new GatewayError('rate_limit_exceeded', 'limit', { source: 'gateway' }))]),
    ],
    ['our bug: the end', 'fail', step([one, two], [tryOf(0, new GatewayError('server', 'bug'))])],
    ['after the commit point: the end', 'fail', step([one, two], [tryOf(0, error('provider_unavailable'))], { committed: true })],
    [
      'after the commit point with continuation: the next, no retry',
      'next',
      step([one, two], [tryOf(0, error('provider_unavailable'))], { committed: true, resume: true }),
    ],
    ['no time left: the end', 'fail', step([one, two], [tryOf(0, error('provider_unavailable'))], { beginBy: START + 500 })],
  ])('%s', (_name, kind, actual) => expect(actual.kind).toBe(kind))

  it('skips a provider whose pause is longer than the call may wait', () => {
    const same = ['a/1', 'a/2', 'a/3', 'a/4', 'a/5'].map((tag) => ({ endpoint: testEndpoint({ tag, provider: 'a' }) }))
    const tries = [0, 1, 2, 3].map((index) => tryOf(index, error('provider_unavailable')))
    const more = { retries: false, beginBy: START + 3_500 }
    expect(step([...same, two], tries, more)).toEqual({ kind: 'next', index: 5, delayMs: 0 })
    expect(step(same, tries, more)).toEqual({ kind: 'fail' })
    expect(step([...same, two], tries, { retries: false })).toEqual({ kind: 'next', index: 4, delayMs: 2_990 })
  })
  it('skips the whole model that refused the prompt', () => {
    expect(step([one, two, otherModel], [tryOf(0, error('context_length_exceeded'))])).toEqual({ kind: 'next', index: 2, delayMs: 0 })
    expect(step([one, otherModel, two], [tryOf(0, error('content_policy_violation')), tryOf(1, error('timeout'))]).kind).toBe('fail')
  })
  it('rotates credentials at once and remembers that it did', () => {
    expect(step([one], [tryOf(0, error('authentication', { upstreamStatus: 401 }))], { spareCredentials: 2 })).toEqual({
      kind: 'retry',
      delayMs: 0,
      rotate: true,
    })
  })
  it('rotates nothing when nothing was sent: a limit of the gateway itself holds for all credentials', () => {
    const limit = error('rate_limit_exceeded', { source: 'gateway', failover: 'next', retryAfterMs: 60_000 })
    const unsent: Try = { ...tryOf(0, limit), sent: false }
    expect(step([one], [unsent], { spareCredentials: 2 }).kind).toBe('fail')
    expect(step([one, two], [unsent], { spareCredentials: 2 })).toEqual({ kind: 'next', index: 1, delayMs: 0 })
  })
  it('waits out a short pause of the gateway itself where no other endpoint can serve, and never retries after a limit of the caller', () => {
    const own = error('rate_limit_exceeded', { source: 'gateway', failover: 'next', retryAfterMs: 500 })
    expect(step([one], [{ ...tryOf(0, own), sent: false }])).toMatchObject({ kind: 'retry', rotate: false })
    const callers = error('rate_limit_exceeded', { source: 'gateway', retryAfterMs: 500 })
    expect(step([one, two], [{ ...tryOf(0, callers), sent: false }]).kind).toBe('fail')
  })
  it('never returns an attempt that was tried', () => {
    expect(step([one, two], [tryOf(0, error('timeout')), tryOf(1, error('timeout'))]).kind).toBe('fail')
  })
})

describe('the fault table', () => {
  const both = [one, otherModel]

  it('429 with Retry-After, then healthy: fails over, or comes back no sooner than told', () => {
    expect(play(both, (index) => (index === 0 ? { error: busy(2_000) } : undefined)).served).toBe(1)
    const alone = play([one], (_index, time) => (time < 2_000 ? { error: busy(2_000) } : undefined))
    expect(alone.served).toBe(0)
    expect(alone.sent[1]?.at).toBeGreaterThanOrEqual(1_800)
    expect(mostWithin(alone.sent, 1_500)).toBeLessThanOrEqual(2)
  })
  it('429 always, no hint: backs off, at most 4 tries in 3 s and 6 in all, fails over', () => {
    const alone = play([one], () => ({ error: busy() }))
    expect(alone.served).toBeUndefined()
    expect(alone.sent.length).toBeGreaterThan(1)
    expect(alone.sent.length).toBeLessThanOrEqual(6)
    expect(mostWithin(alone.sent, 3_000)).toBeLessThanOrEqual(4)
    expect(alone.error?.errorType).toBe('rate_limit_exceeded')
    const over = play(both, (index) => (index === 0 ? { error: busy() } : undefined))
    expect([over.served, over.sent.length]).toEqual([1, 2])
  })
  it('429 with a short pause, and no other endpoint can serve: returns to it, no sooner than the pause', () => {
    for (const failure of [error('provider_unavailable'), error('timeout'), error('authentication', { upstreamStatus: 401 }), error('not_found')]) {
      const result = play([one, two, otherModel], (index, time) =>
        index === 0 ? (time < 2_000 ? { error: busy(2_000) } : undefined) : { error: failure },
      )
      expect(result.served).toBe(0)
      expect(result.sent.filter(({ index }) => index === 0).map(({ at }) => at >= 2_000)).toEqual([false, true])
    }
    // The endpoint that is ready first is retried. A long pause is left to the caller, and a model that has refused the prompt is not asked again.
    expect(
      play([one, two], (index, time) => (time < 1_000 ? { error: busy(index === 0 ? 5_000 : 1_000) } : undefined)).sent.map(({ index }) => index),
    ).toEqual([0, 1, 1])
    expect(play([one, two], (index) => ({ error: index === 0 ? busy(60_000) : error('timeout') })).sent).toHaveLength(2)
    expect(play([one, two], (index) => ({ error: index === 0 ? busy(100) : error('context_length_exceeded') })).sent).toHaveLength(2)
    expect(step([one, two], [tryOf(0, busy(100)), tryOf(1, error('timeout'))], { retries: false }).kind).toBe('fail')
    // Its server did not answer when it was asked with another key.
    const ownKey = { ...one, isByok: true }
    expect(step([ownKey, one], [tryOf(0, busy(100)), tryOf(1, error('timeout'))]).kind).toBe('fail')
    // If a budget forbids the other endpoints, the caller should be told.
    const tooDear = { ...tryOf(1, error('payment_required', { source: 'gateway', failover: 'next' })), sent: false }
    expect(step([one, two], [tryOf(0, busy(100)), tooDear]).kind).toBe('fail')
    // If an own key comes after them in the order, it is what the caller still has.
    expect(step([two, one], [{ ...tooDear, index: 0 }, tryOf(1, busy(100))]).kind).toBe('retry')
    expect(step([one, two], [tryOf(0, busy(100)), { ...tooDear, error: error('payment_required', { upstreamStatus: 402 }) }]).kind).toBe('next')
  })
  it('429 with a short pause: that endpoint may serve later, others that failed may not', () => {
    const tries = [tryOf(0, busy(100)), tryOf(1, error('authentication', { upstreamStatus: 401 })), tryOf(2, busy(60_000)), tryOf(3, busy())]
    expect(failedIndexes(tries)).toEqual(new Set([1, 2]))
    expect(failedIndexes([...tries, tryOf(0, error('provider_unavailable'))])).toEqual(new Set([0, 1, 2]))
  })
  it('holds those bounds per provider even when it serves many endpoints of the model', () => {
    const many = Array.from({ length: 10 }, (_, i) => ({ endpoint: testEndpoint({ tag: `same/${i}` }) }))
    for (const failure of [busy(), busy(1_000), error('provider_unavailable'), error('authentication', { upstreamStatus: 401 })]) {
      const { sent } = play(many, () => ({ error: failure }))
      expect(sent.length).toBeLessThanOrEqual(6)
      expect(mostWithin(sent, 3_000)).toBeLessThanOrEqual(4)
      if (failure.details.retryAfterMs !== undefined) expect(mostWithin(sent, 1_500)).toBeLessThanOrEqual(2)
    }
  })
  it('moves on at once from endpoints to which nothing was sent', () => {
    const many = [...Array.from({ length: 10 }, (_, i) => ({ endpoint: testEndpoint({ tag: `same/${i}` }) })), otherModel]
    const tries = Array.from({ length: 10 }, (_, i): Try => ({ ...tryOf(i, error('provider_unavailable', { failover: 'next' })), sent: false }))
    for (let n = 1; n <= 10; n++) expect(step(many, tries.slice(0, n))).toEqual({ kind: 'next', index: n, delayMs: 0 })
  })
  it('500 once, then healthy: one retry on the same endpoint', () => {
    const result = play(both, (_index, _time, nth) => (nth === 0 ? { error: error('provider_unavailable', { upstreamStatus: 500 }) } : undefined))
    expect([result.served, result.sent.length]).toEqual([0, 2])
  })
  it('503 always: at most 6 tries, fails over, the original error if nowhere to go', () => {
    const failure = error('provider_overloaded', { upstreamStatus: 503 })
    expect(play(both, (index) => (index === 0 ? { error: failure } : undefined))).toMatchObject({ served: 1, tries: { length: 2 } })
    const alone = play([one], () => ({ error: failure }))
    expect(alone.sent.length).toBeLessThanOrEqual(6)
    expect(alone.error?.message).toBe('provider_overloaded happened')
    expect(alone.error?.status).toBe(503)
  })
  it('reset before headers, once: retried', () => {
    expect(play([one], (_index, _time, nth) => (nth === 0 ? { error: error('provider_unavailable') } : undefined)).served).toBe(0)
  })
  it('never answered: one timeout, then the next; the silent route is not retried', () => {
    const result = play(both, (index) => (index === 0 ? { error: error('timeout'), ms: 12_000 } : undefined))
    expect(result.sent.map(({ index }) => index)).toEqual([0, 1])
    expect(result.elapsed).toBeLessThan(15_000)
    const dead = play(both, () => ({ error: error('timeout'), ms: 12_000 }))
    expect(dead.sent.length).toBe(2)
    expect(dead.error?.status).toBe(408)
  })
  it('context length: exactly one try on that model, then the next', () => {
    const result = play([one, two, otherModel], (index) => (index === 2 ? undefined : { error: error('context_length_exceeded') }))
    expect(result.sent.map(({ index }) => index)).toEqual([0, 2])
  })
  it('content policy: exactly one try; the reason reaches the caller', () => {
    const result = play([one, two], () => ({ error: error('content_policy_violation', { raw: 'flagged for x' }) }))
    expect(result.sent.length).toBe(1)
    expect(result.error?.errorType).toBe('content_policy_violation')
    expect(result.error?.details.raw).toBe('flagged for x')
  })
})

describe('the final error', () => {
  it('is rate_limit_exceeded with the shortest pause when every attempt was busy and said how long', () => {
    const shown = finalError([one, two], [tryOf(0, busy(30_000)), tryOf(1, busy(20_000))])
    expect([shown.status, shown.details.retryAfterMs]).toEqual([429, 20_000])
    expect(finalError([one, two], [tryOf(0, busy(30_000)), tryOf(1, busy())]).details.retryAfterMs).toBeUndefined()
  })
  it('says that another try found the model silent', () => {
    const silent = error('provider_unavailable', { wordless: true, fruitless: true })
    const told = (...errors: readonly GatewayError[]): boolean | undefined =>
      finalError(
        [one],
        errors.map((each) => tryOf(0, each)),
      ).details.fruitlessTry
    expect([told(error('provider_overloaded'), silent), told(error('timeout'))]).toEqual([true, undefined])
  })
  it('names no pause that was waited out in vain', () => {
    const soonThenLate = [tryOf(0, busy(1_000)), tryOf(0, busy(60_000), START + 1_100)]
    expect(finalError([one], soonThenLate).details.retryAfterMs).toBe(60_000)
    const overloaded = [1_000, 45_000].map((ms, i) => tryOf(0, error('provider_overloaded', { retryAfterMs: ms }), START + i * 1_200))
    expect(finalError([one], overloaded).details.retryAfterMs).toBe(45_000)
    // Another credential was tried at once, so the first is ready again when the second was refused.
    expect(finalError([one], [tryOf(0, busy(1_000)), tryOf(0, busy(60_000), START + 20)]).details.retryAfterMs).toBe(1_000)
    expect(finalError([one, two], [tryOf(0, busy(1_000)), tryOf(1, busy(60_000), START + 1_100)]).details.retryAfterMs).toBe(1_000)
  })
  it('comes from endpoints that were asked: a provider without a usable credential changes nothing', () => {
    const unsent: Try = { ...tryOf(0, error('provider_unavailable', { metadata: { reason: 'upstream_credentials_exhausted' } })), sent: false }
    const shown = finalError([one, two], [unsent, tryOf(1, busy(20_000))])
    expect([shown.status, shown.details.retryAfterMs]).toEqual([429, 20_000])
    expect(finalError([one, two], [unsent, tryOf(1, error('timeout'))]).status).toBe(408)
    expect(finalError([one, two], [tryOf(1, error('not_found', { upstreamStatus: 404 })), unsent]).status).toBe(404)
    expect(finalError([one], [unsent]).status).toBe(502)
    expect(
      finalError([{ ...one, isByok: true }, two], [tryOf(0, error('authentication', { upstreamStatus: 401 })), { ...unsent, index: 1 }]).status,
    ).toBe(502)
  })
  it('is 502 upstream_credentials_exhausted when only credentials failed, never 401', () => {
    for (const type of ['authentication', 'payment_required', 'permission_denied'] as const) {
      const shown = finalError([one, two], [tryOf(0, error(type, { upstreamStatus: 401, providerCode: 'invalid_api_key' })), tryOf(1, error(type))])
      expect(shown.status).toBe(502)
      expect(shown.message).toContain('upstream_credentials_exhausted')
      expect(shown.details.metadata?.['reason']).toBe('upstream_credentials_exhausted')
      expect(shown.details.providerCode).toBe('invalid_api_key')
    }
    expect(finalError([one, two], [tryOf(0, error('authentication', { upstreamStatus: 401 })), tryOf(1, busy(1_000))]).status).toBe(429)
  })
  it('is the same for an answer that broke in the middle: in a stream, too, a 401 would be read as one of the caller', () => {
    const quota = error('payment_required', { providerCode: 'insufficient_quota' })
    const shown = brokenError([two, one], [tryOf(0, busy(1_000)), tryOf(1, quota)], quota)
    expect([shown.errorType, shown.details.metadata?.['reason'], shown.details.providerCode]).toEqual([
      'provider_unavailable',
      'upstream_credentials_exhausted',
      'insufficient_quota',
    ])
    expect(shown.message).toMatch(/^The gateway's credentials for one were refused/)
    expect(shown.details.metadata?.['attempts']).toMatchObject([{ provider: 'two' }, { provider: 'one', error_type: 'payment_required' }])
    const own = brokenError([{ ...one, isByok: true }], [tryOf(0, quota)], quota)
    expect([own.errorType, own.message]).toEqual(['payment_required', 'Your own key for the provider was refused: payment_required happened'])
    expect(brokenError([one], [tryOf(0, error('provider_overloaded'))], error('provider_overloaded')).errorType).toBe('provider_overloaded')
  })
  it('says so when the gateway has no credential at all for the requested provider', () => {
    const { connection } = one.endpoint
    const attempt = (keys: number): FailoverAttempt => ({
      endpoint: testEndpoint({ tag: 'one', connection: { ...connection, credentials: connection.credentials.slice(0, keys) } }),
    })
    const messageOf = (keys: number): string => finalError([attempt(keys)], [tryOf(0, error('authentication', { upstreamStatus: 401 }))]).message
    expect(messageOf(0)).toMatch(/^The gateway has no key configured for .* \(upstream_credentials_exhausted\)/)
    expect(messageOf(1)).toMatch(/^The gateway's credentials for .* were refused/)
  })
  it.each<[string, ErrorType[], ErrorType]>([
    ['what the caller can fix before what it cannot', ['provider_unavailable', 'context_length_exceeded'], 'context_length_exceeded'],
    ['the request’s own fault before all', ['content_policy_violation', 'invalid_request'], 'invalid_request'],
    ['a failure before a timeout', ['timeout', 'provider_unavailable'], 'provider_unavailable'],
    ['the earliest of equals', ['provider_unavailable', 'provider_overloaded'], 'provider_unavailable'],
    ['not 429 when something else failed', ['rate_limit_exceeded', 'provider_overloaded'], 'provider_overloaded'],
    ['timeouts as timeout', ['timeout', 'timeout'], 'timeout'],
    ['anything before a model unknown upstream', ['not_found', 'timeout'], 'timeout'],
  ])('prefers %s', (_name, types, expected) => {
    expect(
      finalError(
        [one, two],
        types.map((type, i) => tryOf(i, error(type))),
      ).errorType,
    ).toBe(expected)
  })
  it('says that a budget did not cover the remaining endpoint, rather than that the other one failed', () => {
    const tooDear = new GatewayError('payment_required', 'the 0.01 USD that are left do not cover this request', { failover: 'next' })
    expect(finalError([one, two], [tryOf(0, error('provider_unavailable')), tryOf(1, tooDear)]).status).toBe(402)
  })
  it('lists the attempts and says 503 when there were none', () => {
    const shown = finalError([one, two], [tryOf(0, error('provider_unavailable', { upstreamStatus: 500 })), tryOf(1, error('timeout'))])
    expect(shown.details.metadata?.['attempts']).toEqual([
      { provider: 'one', model: 'acme/small', status: 500, error_type: 'provider_unavailable' },
      { provider: 'two', model: 'acme/small', status: 0, error_type: 'timeout' },
    ])
    expect(finalError([], []).status).toBe(503)
  })
  it('distinguishes upstream credentials from the caller’s own limits', () => {
    expect(isCredentialFailure(error('permission_denied', { upstreamStatus: 403 }))).toBe(true)
    expect(isCredentialFailure(error('permission_denied', { upstreamStatus: 403, credentialDead: false }))).toBe(false)
    expect(isCredentialFailure(error('provider_unavailable', { credentialDead: true }))).toBe(true)
    expect(isCredentialFailure(new GatewayError('permission_denied', 'guardrail'))).toBe(false)
  })
})
