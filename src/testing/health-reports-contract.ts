import { expect, it } from 'vitest'
import type { Outbox } from '../core/outbox.ts'
import type { Clock } from '../lib/clock.ts'

/** What an outbox keeps of the reports of several processes about the health of a destination. Part of its contract; call it within a `describe`. */
export function describeHealthReports(opened: () => { readonly outbox: Outbox; readonly clock: Clock }): void {
  it('shows the newest health report', async () => {
    const { outbox } = opened()
    await outbox.report('d1', { breaker: 'open', until: 5, lastError: 'refused' })
    await outbox.report('d1', { breaker: 'closed', lastSuccessAt: 9 })
    expect((await outbox.status('d1')).health).toEqual({ breaker: 'closed', lastSuccessAt: 9 })
    expect((await outbox.status('d2')).health).toBeUndefined()
  })

  it('keeps the last success and the last error when a process that has seen neither reports', async () => {
    const { outbox, clock } = opened()
    const now = clock.now()
    await outbox.report('d1', { breaker: 'closed', lastSuccessAt: now, lastStatus: 200 })
    await outbox.report('d1', { breaker: 'open', lastErrorAt: now + 1, lastStatus: 503, lastError: 'away' })
    expect((await outbox.status('d1')).health).toEqual({
      breaker: 'open',
      lastSuccessAt: now,
      lastErrorAt: now + 1,
      lastStatus: 503,
      lastError: 'away',
    })
    await outbox.report('d1', { breaker: 'closed', lastSuccessAt: now + 2, lastStatus: 200 })
    expect((await outbox.status('d1')).health).toEqual({
      breaker: 'closed',
      lastSuccessAt: now + 2,
      lastErrorAt: now + 1,
      lastStatus: 200,
      lastError: 'away',
    })
  })

  it('joins the first reports of two processes at once', async () => {
    const { outbox, clock } = opened()
    const now = clock.now()
    const ids = Array.from({ length: 5 }, (_, i) => `d${i}`)
    await Promise.all(
      ids.flatMap((id) => [
        outbox.report(id, { breaker: 'closed', lastSuccessAt: now }),
        outbox.report(id, { breaker: 'closed', lastErrorAt: now, lastError: 'away' }),
      ]),
    )
    for (const id of ids)
      expect((await outbox.status(id)).health).toEqual({ breaker: 'closed', lastSuccessAt: now, lastErrorAt: now, lastError: 'away' })
  })

  it('shows the newest of two reports that cross', async () => {
    const { outbox, clock } = opened()
    const now = clock.now()
    await outbox.report('d1', { breaker: 'closed', lastErrorAt: now + 2, lastError: 'second' })
    await outbox.report('d1', { breaker: 'closed', lastErrorAt: now + 1, lastError: 'first', lastSuccessAt: now })
    expect((await outbox.status('d1')).health).toEqual({ breaker: 'closed', lastErrorAt: now + 2, lastError: 'second', lastSuccessAt: now })
  })

  it('forgets times of a clock that was set back since', async () => {
    const { outbox, clock } = opened()
    const now = clock.now()
    await outbox.report('d1', { breaker: 'open', lastErrorAt: now + 60_000, lastError: 'away' })
    await outbox.report('d1', { breaker: 'closed', lastSuccessAt: now })
    expect((await outbox.status('d1')).health).toEqual({ breaker: 'closed', lastSuccessAt: now })
  })
}
