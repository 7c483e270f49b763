import { describe, expect, it } from 'vitest'
import { GatewayError } from '../core/error.ts'
import { createHealth } from './health.ts'
import type { Cooldown, CooldownChannel, Health } from './health.ts'
import { OutcomeRing, QuantileRing, SKETCH_ERROR } from './sketch.ts'
import { verifies } from '../../e2e/requirements.ts'
import { manualClock } from '../testing/deterministic.ts'

const down = new GatewayError('provider_unavailable', 'down', { source: 'provider' })
const busy = (retryAfterMs?: number): GatewayError =>
  new GatewayError('rate_limit_exceeded', 'busy', {
    source: 'provider',
    upstreamStatus: 429,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  })

function setup(options: { readonly maxEndpoints?: number; readonly channel?: CooldownChannel } = {}): {
  readonly clock: ReturnType<typeof manualClock>
  readonly health: Health
  readonly state: () => string | undefined
} {
  const clock = manualClock()
  const health = createHealth({ clock, ...options })
  return { clock, health, state: () => health.view().get('e')?.state }
}

describe('the sketch', () => {
  it('keeps its stated error against exact percentiles, for latency and throughput', () => {
    let seed = 7
    const random = (): number => (seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0) / 4_294_967_296
    const values = Array.from({ length: 5_000 }, () => 20 * Math.exp(random() * 6))
    const sorted = [...values].sort((a, b) => a - b)
    for (const highIsGood of [false, true]) {
      const ring = new QuantileRing({ lowest: 1, slots: 10, slotMs: 30_000, highIsGood })
      for (const value of values) ring.add(value, 1_000)
      const measured = ring.quantiles()
      for (const [name, share] of [
        ['p50', 0.5],
        ['p75', 0.75],
        ['p90', 0.9],
        ['p99', 0.99],
      ] as const) {
        const rank = Math.ceil(share * sorted.length)
        const exact = sorted[highIsGood ? sorted.length - rank : rank - 1] ?? NaN
        expect(Math.abs((measured?.[name] ?? NaN) / exact - 1)).toBeLessThanOrEqual(SKETCH_ERROR + 1e-9)
      }
    }
  })
  it('forgets what left the window, slot by slot', () => {
    const ring = new QuantileRing({ lowest: 1, slots: 10, slotMs: 30_000, highIsGood: false })
    ring.add(1_000, 0)
    ring.add(10, 290_000)
    expect(ring.quantiles()?.p99).toBeGreaterThan(900)
    ring.advance(300_000)
    expect(ring.quantiles()?.p99).toBeLessThan(12)
    ring.advance(10_000_000)
    expect(ring.quantiles()).toBeUndefined()
    ring.add(10, 9_000_000)
    expect(ring.total).toBe(1)
  })
  it('accepts extreme and invalid values', () => {
    const ring = new QuantileRing({ lowest: 1, slots: 2, slotMs: 1_000, highIsGood: false })
    for (const value of [0, NaN, -1, 1e12]) ring.add(value, 0)
    expect(ring.total).toBe(2)
    const outcomes = new OutcomeRing(3, 1_000)
    outcomes.add(true, 0)
    outcomes.add(false, 1_000)
    expect(outcomes.share()).toBe(0.5)
    outcomes.advance(3_000)
    expect(outcomes.share()).toBe(0)
    outcomes.advance(60_000)
    expect(outcomes.share()).toBeUndefined()
  })
})

describe('figures', () => {
  it('measures first token and throughput over five minutes', () => {
    const { clock, health } = setup()
    for (let n = 0; n < 10; n++) health.success('e', { firstTokenMs: 200, tokens: 100, durationMs: 2_200 })
    const view = health.view().get('e')
    expect(view?.latency?.p90).toBeCloseTo(200, -2)
    expect((view?.throughput?.p50 ?? 0) / 50).toBeCloseTo(1, 1)
    clock.advance(301_000)
    expect(health.view().get('e')?.latency).toBeUndefined()
    expect(health.stats('e').latencyLast30m?.p50).toBeCloseTo(0.2, 1)
  })
  it('measures an answer in one piece over its whole time, and tiny answers not at all', () => {
    const { health } = setup()
    health.success('e', { firstTokenMs: 1_990, tokens: 100, durationMs: 2_000 })
    expect((health.view().get('e')?.throughput?.p50 ?? 0) / 50).toBeCloseTo(1, 1)
    health.success('f', { firstTokenMs: 10, tokens: 2, durationMs: 20 })
    expect(health.view().get('f')?.throughput).toBeUndefined()
  })
  it('reports uptime for the endpoints API', () => {
    const { clock, health } = setup()
    expect(health.stats('e')).toEqual({ uptimeLast5m: null, uptimeLast30m: null, uptimeLast1d: null, latencyLast30m: null, throughputLast30m: null })
    health.failure('e', down)
    clock.advance(10 * 60_000)
    for (let n = 0; n < 3; n++) health.success('e', {})
    expect(health.stats('e')).toMatchObject({ uptimeLast5m: 100, uptimeLast30m: 75, uptimeLast1d: 75 })
  })
  it('rates quality by served requests and well-formed tool calls, once there are enough', () => {
    const { health } = setup()
    for (let n = 0; n < 19; n++) health.success('e', { badToolCall: n < 5 })
    expect(health.view().get('e')?.quality).toBeUndefined()
    health.success('e', { badToolCall: false })
    expect(health.view().get('e')?.quality).toBeCloseTo(0.75)
  })
  it('remembers a bounded number of endpoints, the least used forgotten first', () => {
    const { health } = setup({ maxEndpoints: 3 })
    for (const id of ['a', 'b', 'c']) health.success(id, { firstTokenMs: 1 })
    health.success('a', { firstTokenMs: 1 })
    health.success('d', { firstTokenMs: 1 })
    const view = health.view()
    expect(['a', 'b', 'c', 'd'].map((id) => view.get(id) !== undefined)).toEqual([true, false, true, true])
  })
})

describe('outages', () => {
  it('marks a failure for 30 seconds', () => {
    const { clock, health, state } = setup()
    expect(health.view().quiet).toBe(true)
    health.failure('e', down)
    expect([state(), health.view().quiet]).toEqual(['outage', false])
    clock.advance(31_000)
    expect([state(), health.view().quiet]).toEqual(['healthy', true])
  })
  it('does not mark a busy endpoint for one failure in many', () => {
    const { health, state } = setup()
    for (let n = 0; n < 100; n++) health.success('e', {})
    health.failure('e', down)
    expect(state()).toBe('healthy')
  })
  it('ignores errors that are not the endpoint’s fault', () => {
    const { health, state } = setup()
    for (const error of [
      new GatewayError('context_length_exceeded', ''),
      new GatewayError('content_policy_violation', ''),
      new GatewayError('invalid_request', ''),
      new GatewayError('authentication', '', { credentialDead: true, upstreamStatus: 401 }),
      new GatewayError('rate_limit_exceeded', '', { source: 'provider', credentialDead: true }),
      new GatewayError('provider_unavailable', '', { source: 'provider', credentialDead: true }),
      new GatewayError('rate_limit_exceeded', '', { source: 'gateway' }),
      new GatewayError('server', ''),
    ]) {
      for (let n = 0; n < 5; n++) health.failure('e', error)
    }
    expect(state()).toBeUndefined()
  })
})

describe('the breaker', () => {
  const open = (health: Health): void => {
    for (let n = 0; n < 3; n++) {
      health.started('e')
      health.failure('e', down)
    }
  }
  it(verifies('P48', 'opens after three failures, probes once when due, closes on success'), () => {
    const { clock, health, state } = setup()
    open(health)
    expect(state()).toBe('benched')
    expect(health.benched()).toEqual([{ endpointId: 'e', until: clock.now() + 5_000 }])
    clock.advance(5_000)
    expect(state()).toBe('probe')
    health.started('e')
    expect(state()).toBe('benched')
    expect(health.benched()).toEqual([{ endpointId: 'e', until: clock.now() + 1 }])
    health.success('e', {})
    expect(state()).toBe('healthy')
    expect(health.view().get('e')?.lastOutageAt).toBe(clock.now() - 5_000)
  })
  it('waits longer after each failed probe, never more than 20 seconds', () => {
    const { clock, health, state } = setup()
    open(health)
    for (const wait of [5_000, 10_000, 20_000, 20_000, 20_000]) {
      clock.advance(wait - 1)
      expect(state()).toBe('benched')
      clock.advance(1)
      expect(state()).toBe('probe')
      health.started('e')
      health.failure('e', down)
    }
  })
  it('does not wait longer for late failures of requests sent before it opened', () => {
    const { clock, health, state } = setup()
    open(health)
    for (let n = 0; n < 20; n++) health.failure('e', down)
    clock.advance(5_000)
    expect(state()).toBe('probe')
  })
  it('forgets an outage that was not read for ten minutes', () => {
    const { clock, health, state } = setup()
    open(health)
    clock.advance(600_000)
    expect(state()).toBe('healthy')
    health.failure('e', down)
    expect(state()).toBe('benched')
  })
  it('ranks an endpoint behind others while the gateway’s own limit is used up, without a failure and without telling other processes', () => {
    const told: Cooldown[] = []
    const { clock, health, state } = setup({ channel: { announce: (cooldown) => void told.push(cooldown), listen: () => () => undefined } })
    health.pause('e', 700)
    expect(state()).toBe('benched')
    // Callers with a key of their own are not affected.
    expect(health.view().get('e')!.ownKeyState).toBe('healthy')
    clock.advance(700)
    expect(state()).toBe('healthy')
    expect(health.stats('e').uptimeLast5m).toBeNull()
    expect(told).toEqual([])
  })
  it('frees the probe when its caller left', () => {
    const { clock, health, state } = setup()
    open(health)
    clock.advance(5_000)
    health.started('e')
    health.abandoned('e')
    expect(state()).toBe('probe')
    health.started('e')
    clock.advance(30_000)
    expect(state()).toBe('probe')
  })
  it('counts failures in a row, and waits from the beginning again once it has served', () => {
    const { clock, health, state } = setup()
    health.failure('e', down)
    health.failure('e', down)
    health.success('e', {})
    health.failure('e', down)
    expect(state()).not.toBe('benched')
    for (let n = 0; n < 2; n++) {
      open(health)
      expect(state()).toBe('benched')
      clock.advance(5_000)
      expect(state()).toBe('probe')
      health.started('e')
      health.success('e', {})
      expect(state()).not.toBe('benched')
    }
    clock.advance(3_600_000)
    expect(health.view().quiet).toBe(true)
  })
  it('frees the probe when its request was at fault', () => {
    const { clock, health, state } = setup()
    open(health)
    clock.advance(5_000)
    health.started('e')
    expect(state()).toBe('benched')
    health.failure('e', new GatewayError('invalid_request', 'no such tool', { source: 'provider', upstreamStatus: 400 }))
    expect(state()).toBe('probe')
  })
  it('counts as not quiet while a circuit is open, even if endpoints are forgotten meanwhile', () => {
    const { clock, health } = setup({ maxEndpoints: 2 })
    const calm = (): boolean | undefined => health.view().quiet
    health.success('healthy', {})
    open(health)
    health.success('another', {})
    clock.advance(3_600_000)
    expect(calm()).toBe(false)
    health.success('third', {})
    expect(calm()).toBe(true)
  })
  it('does not wait for times from before the clock was set back', () => {
    const { clock, health, state } = setup()
    health.failure('e', busy())
    expect(state()).toBe('benched')
    clock.advance(-3_600_000)
    expect(state()).not.toBe('benched')
    expect(health.benched()).toEqual([])
    health.failure('e', busy())
    expect(state()).toBe('benched')
    clock.advance(-1_000)
    expect(state()).toBe('benched')
  })

  it('stays closed for three unlucky requests in a busy stretch, and opens for ten', () => {
    const { health, state } = setup()
    for (let n = 0; n < 1_000; n++) health.success('e', {})
    open(health)
    expect(state()).toBe('healthy')
    for (let n = 0; n < 7; n++) health.failure('e', down)
    expect(state()).toBe('benched')
  })
  it('is back within 30 s of recovery with a request every 4 s', () => {
    const { clock, health, state } = setup()
    const start = clock.now()
    let back: number | undefined
    while (back === undefined) {
      const elapsed = clock.now() - start
      if (state() !== 'benched') {
        health.started('e')
        if (elapsed < 60_000) {
          health.failure('e', down)
          if (state() !== 'benched') health.failure('e', down) // the one retry
        } else {
          health.success('e', {})
          back = elapsed - 60_000
        }
      }
      clock.advance(4_000)
    }
    expect(back).toBeLessThanOrEqual(30_000)
  })
})

describe('cooldowns', () => {
  it('last as long as Retry-After says, or back off without a hint', () => {
    const { clock, health, state } = setup()
    health.failure('e', busy(2_000))
    clock.advance(1_999)
    expect(state()).toBe('benched')
    clock.advance(1)
    expect(state()).toBe('healthy')
    for (const wait of [2_000, 4_000, 8_000]) {
      health.failure('e', busy())
      expect(health.benched()[0]?.until).toBe(clock.now() + wait)
      clock.advance(wait)
    }
    health.success('e', {})
    health.failure('e', busy())
    expect(health.benched()[0]?.until).toBe(clock.now() + 1_000)
  })
  it('count refusals that come together as one, and never wait longer than ten minutes', () => {
    const { clock, health } = setup()
    for (let n = 0; n < 50; n++) health.failure('e', busy())
    expect(health.benched()[0]?.until).toBe(clock.now() + 1_000)
    health.failure('f', busy(86_400_000))
    expect(health.benched().find(({ endpointId }) => endpointId === 'f')?.until).toBe(clock.now() + 600_000)
  })
  it('apply to a 503 with a pause, too', () => {
    const { clock, health, state } = setup()
    health.failure('e', down.with({ retryAfterMs: 3_000 }))
    expect(state()).toBe('benched')
    clock.advance(3_000)
    expect(state()).toBe('outage')
  })
  it(verifies('P48', 'are sent to other processes, and nothing else is'), () => {
    const handlers = new Set<(cooldown: Cooldown) => void>()
    const sent: Cooldown[] = []
    const channel: CooldownChannel = {
      announce: (cooldown) => {
        sent.push(cooldown)
        for (const handler of handlers) handler(cooldown)
      },
      listen: (handler) => {
        handlers.add(handler)
        return () => void handlers.delete(handler)
      },
    }
    const clock = manualClock()
    const [here, there] = [createHealth({ clock, channel }), createHealth({ clock, channel })]
    here.success('e', { firstTokenMs: 5 })
    here.failure('e', busy(4_000))
    expect(sent).toEqual([{ endpointId: 'e', until: clock.now() + 4_000 }])
    expect(there.view().get('e')?.state).toBe('benched')
    expect(there.view().get('e')?.latency).toBeUndefined()
    clock.advance(4_000)
    expect(there.view().get('e')?.state).toBe('healthy')
    channel.announce({ endpointId: 'late', until: clock.now() })
    expect(there.view().get('late')).toBeUndefined()
    there.close()
    here.failure('f', busy(4_000))
    expect(there.view().get('f')).toBeUndefined()
  })
})
