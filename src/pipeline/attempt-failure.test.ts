import { expect, it } from 'vitest'
import type { Call } from '../core/call.ts'
import type { Endpoint } from '../core/endpoint.ts'
import { HttpFailure } from '../lib/http-client.ts'
import { judgeFailure } from '../router/endpoint-record.ts'
import { attemptFailure } from './attempt-failure.ts'

const input = { call: { signal: new AbortController().signal } as Call, endpoint: { providerName: 'Acme' } as Endpoint }

it('a gateway without free sockets does not count as a failure of the endpoint', () => {
  const failure = attemptFailure(new HttpFailure('exhausted', 'no connection could be opened (EMFILE)', false), input, undefined)
  expect(failure).toMatchObject({ status: 503, failover: 'next', details: { source: 'gateway', retryAfterMs: 1_000 } })
  expect(failure.message).not.toContain('Acme')
  expect(judgeFailure(failure)).toBe('none')
})

it('a lost connection counts as a failure of the provider', () => {
  const failure = attemptFailure(new HttpFailure('reset', 'the connection ended early', true), input, undefined)
  expect(failure).toMatchObject({ status: 502, failover: 'retry', details: { source: 'provider', providerName: 'Acme' } })
  expect(judgeFailure(failure)).toBe('outage')
})

it('a request that was already sent a second time is not sent to the same endpoint a third time', () => {
  const lost = Object.assign(new HttpFailure('reset', 'the connection ended early', true), { twice: true })
  const failure = attemptFailure(lost, input, undefined)
  expect(failure).toMatchObject({ status: 502, failover: 'next' })
  expect(judgeFailure(failure)).toBe('outage')
})
