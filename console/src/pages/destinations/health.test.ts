import { expect, it } from 'vitest'
import type { DestinationStatus } from '../../api/schema.ts'
import { healthOf } from './health.ts'

const status: DestinationStatus = {
  enabled: true,
  paused: false,
  queued: 0,
  queued_bytes: 0,
  oldest_age_seconds: null,
  delivered: 0,
  rejected: 0,
  dropped: 0,
  bodies_dropped: 0,
  dead: 0,
  breaker: 'closed',
  retry_at: null,
  last_success_at: null,
  last_error_at: null,
  last_status: null,
  last_error: null,
}
const EARLY = '2026-01-01T00:00:00.000Z'
const LATE = '2026-01-01T00:00:01.000Z'

it.each<[string, Partial<DestinationStatus>, string, boolean]>([
  ['nothing was sent', {}, 'Nothing sent yet', false],
  ['what was sent arrived', { delivered: 1, last_success_at: LATE }, 'Delivering', false],
  ['a failure is over', { last_error_at: EARLY, last_success_at: LATE }, 'Delivering', false],
  ['the last try failed', { last_error_at: LATE, last_success_at: EARLY }, 'Failing', true],
  ['every try failed', { last_error_at: EARLY }, 'Failing', true],
  ['the breaker is open', { breaker: 'open', last_success_at: LATE }, 'Failing', false],
  ['it is paused, whatever was before', { paused: true, last_error_at: LATE }, 'Paused', true],
  ['it is disabled, and paused as well', { enabled: false, paused: true }, 'Disabled', false],
])('%s', (_when, part, word, isErrorCurrent) => {
  expect(healthOf({ ...status, ...part })).toMatchObject({ word, isErrorCurrent })
})
