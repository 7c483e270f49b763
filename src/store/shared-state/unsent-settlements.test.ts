import { describe, expect, it } from 'vitest'
import type { Settlement } from '../../core/counter.ts'
import { createUnsentSettlements } from './unsent-settlements.ts'

const settlement = (id: string): Settlement => ({ id, now: 1, payments: [{ subject: `key:${id}`, spentUsd: 1, rates: [] }] })

function setUp(max?: number) {
  const sent: string[] = []
  const uncertain: string[] = []
  const failures: string[] = []
  const state = { fails: false, missed: [] as readonly string[] }
  const unsent = createUnsentSettlements({
    send: ({ id, payments }, again) => {
      sent.push(`${id} ${payments[0]!.spentUsd}${again ? ' again' : ''}`)
      return state.fails ? Promise.reject(new Error('late')) : Promise.resolve(state.missed)
    },
    reachable: () => true,
    onFailure: () => failures.push('failed'),
    retryMs: 60_000,
    onUncertain: (subjects) => void uncertain.push(...subjects),
    ...(max === undefined ? {} : { max }),
  })
  return { unsent, sent, uncertain, state, failures }
}

describe('settlements Redis has not confirmed', () => {
  it('are sent once it answers; what may have arrived only pays for what is still open', async () => {
    const { unsent, sent, state, uncertain, failures } = setUp()
    state.fails = true
    await unsent.send(settlement('a'))
    expect(failures).toEqual(['failed'])
    unsent.keep(settlement('b'))
    state.fails = false
    await unsent.drain()
    expect([sent, unsent.size, uncertain]).toEqual([['a 1', 'a 1 again', 'b 1'], 0, []])
  })

  it('are all kept when it fails again', async () => {
    const { unsent, state, sent } = setUp()
    for (let i = 0; i < 500; i++) unsent.keep(settlement(`${i}`))
    state.fails = true
    await expect(unsent.drain()).rejects.toThrow('late')
    expect(unsent.size).toBe(500)
    state.fails = false
    sent.length = 0
    await Promise.all([unsent.drain(), unsent.drain()])
    expect([unsent.size, sent.length]).toEqual([0, 500])
  })

  it('are bounded in number: after one is given up, or found nothing to pay, the store has to be asked', async () => {
    const { unsent, uncertain, state } = setUp(2)
    for (const id of ['a', 'b', 'c']) unsent.keep(settlement(id))
    expect([unsent.size, uncertain]).toEqual([2, ['key:a']])
    state.missed = ['key:c']
    await unsent.drain()
    expect(uncertain).toEqual(['key:a', 'key:c', 'key:c'])
  })

  it('spend nothing once the figures were compared with the store, and are still closed', async () => {
    const { unsent, sent } = setUp()
    unsent.keep(settlement('a'))
    unsent.spendNothing()
    await unsent.drain()
    expect(sent).toEqual(['a 0'])
  })
})
