import { expect, it } from 'vitest'
import type { DeliveryStatus } from '../core/outbox.ts'
import { shownStatus } from './shown-status.ts'

const status: DeliveryStatus = {
  queued: 1,
  queuedBytes: 10,
  oldestAt: 5,
  delivered: 3,
  rejected: 0,
  dropped: 0,
  dead: 0,
  health: { breaker: 'closed', lastSuccessAt: 20, lastErrorAt: 10, lastStatus: 503, lastError: 'busy' },
}

it('the state of a destination whose rules can be used is shown as it is', () => {
  expect(shownStatus(status, undefined, 30)).toBe(status)
})

it('rules that cannot be used are its latest failure, which goes on, while what waits is still sent', () => {
  const failure = { lastErrorAt: 30, lastStatus: 0, lastError: 'no such field' }
  expect(shownStatus(status, 'no such field', 30)).toEqual({ ...status, health: { breaker: 'closed', lastSuccessAt: 20, ...failure } })
  expect(shownStatus({ ...status, health: undefined }, 'no such field', 30).health).toEqual({ breaker: 'closed', ...failure })
})
