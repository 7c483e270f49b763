import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import type { Destination, OutgoingResponse } from '../core/destination.ts'
import type { DestinationRecord } from '../core/outbox.ts'
import { NotNow } from '../core/outcome.ts'
import { classifyOtlp } from '../destinations/shared/otlp-classify.ts'
import { EgressError } from '../lib/egress-policy.ts'
import { manualClock } from '../testing/deterministic.ts'
import { createMemoryOutbox } from '../testing/memory-outbox.ts'
import { minimalGeneration } from '../testing/sample-generations.ts'
import { BatchProcessor } from './batch-processor.ts'
import { BREAKER_DEFAULTS } from './breaker.ts'
import { createLane, refreshLane } from './lane.ts'

const HOUR_MS = 3_600_000

const plain: Destination = {
  type: 'plain',
  name: 'Plain',
  settings: z.strictObject({ url: z.string() }),
  secrets: [],
  limits: { records: 10, bytes: 20_000 },
  encode: (batch, _settings, { prepared }) => [
    { method: 'POST', url: 'https://x.example/', headers: {}, body: JSON.stringify({ prepared, ids: batch.map((each) => each.generation.id) }) },
  ],
  probe: () => [],
}

const answer = (status: number, headers: OutgoingResponse['headers'] = {}): OutgoingResponse => ({ status, headers, body: Buffer.alloc(0) })
const refused = (): never => {
  throw new Error('refused')
}

/** One delivery on one lane, sent by hand: no scheduler, no waiting. */
async function stage(changes: Partial<Destination> = {}) {
  const clock = manualClock()
  const outbox = createMemoryOutbox(() => clock.now())
  const type = { ...plain, ...changes }
  let record: DestinationRecord = {
    id: 'a',
    workspaceId: 'w',
    type: 'plain',
    name: 'a',
    enabled: true,
    paused: false,
    config: { url: 'https://x.example/' },
    apiKeyHashes: null,
    filterRules: null,
    samplingRate: 1,
    privacyMode: false,
    broadcast: { cost: false, identity: false, requestContext: false },
    revision: 1,
    createdAt: 0,
    updatedAt: 0,
  }
  let respond: () => OutgoingResponse | Promise<OutgoingResponse> = () => answer(200)
  const bodies: unknown[] = []
  const types = new Map([[type.type, type]])
  const processor = new BatchProcessor(
    {
      outbox,
      types,
      destination: () => record,
      transport: async ({ body }) => {
        bodies.push(body === undefined ? undefined : JSON.parse(String(body)))
        return respond()
      },
      clock,
      random: () => 0.5,
      owner: 'test',
      service: { name: 's', version: '1' },
    },
    30_000,
    new AbortController().signal,
  )
  const lane = createLane('a', BREAKER_DEFAULTS)
  refreshLane(lane, record, types)
  const enter = (id: string): Promise<void> =>
    outbox.record([
      {
        generation: { ...minimalGeneration().generation, id, endedAt: clock.now() },
        deliveries: [{ destinationId: 'a', withContent: false }],
        bytes: 500,
      },
    ])
  await enter('gen-1')
  return {
    bodies,
    clock,
    enter,
    lane,
    outbox,
    change: () => (record = { ...record, revision: record.revision + 1 }),
    refresh: () => refreshLane(lane, record, types),
    /** Sends what waits, however long it was told to; answered so. */
    send: async (how: typeof respond, afterMs = HOUR_MS): Promise<void> => {
      respond = how
      clock.advance(afterMs)
      const leased = await outbox.lease('a', { owner: 'test', records: 10, bytes: 20_000, now: clock.now(), leaseMs: 30_000 })
      expect(leased.length).toBeGreaterThan(0)
      await processor.process(lane, lane.ready!, leased)
    },
  }
}

describe('an answer that is unlikely to change', () => {
  const doubtful: Partial<Destination> = {
    classify: ({ status }) => {
      if (status < 300) return { kind: 'delivered' }
      return { kind: 'retry', message: `HTTP ${status}`, ...(status === 500 ? { maxAttempts: 3 } : {}) }
    },
  }

  it('is accepted when it came as often as the type allows', async () => {
    const { send, outbox } = await stage(doubtful)
    for (const _ of [1, 2]) await send(() => answer(500))
    expect(await outbox.status('a')).toMatchObject({ queued: 1, dead: 0 })
    await send(() => answer(500))
    expect((await outbox.deadLetters('a', { offset: 0, limit: 1 })).letters).toMatchObject([{ reason: 'gave-up', status: 500 }])
  })

  it('is counted separately from tries that failed for other reasons', async () => {
    const { send, outbox } = await stage(doubtful)
    for (const _ of [1, 2, 3, 4]) await send(refused)
    await send(() => answer(500))
    await send(() => answer(503))
    for (const _ of [1, 2]) await send(() => answer(500))
    expect(await outbox.status('a')).toMatchObject({ queued: 1, dead: 0 })
    await send(() => answer(500))
    expect(await outbox.status('a')).toMatchObject({ queued: 0, dead: 1 })
  })

  it('is forgotten when the configuration or the delivery is gone', async () => {
    const { send, outbox, change, refresh, clock } = await stage(doubtful)
    for (const _ of [1, 2]) await send(() => answer(500))
    change()
    refresh()
    for (const _ of [1, 2]) await send(() => answer(500))
    expect(await outbox.status('a')).toMatchObject({ queued: 1, dead: 0 })
    await send(() => answer(500))
    await outbox.replay('a', clock.now())
    await send(() => answer(500))
    expect(await outbox.status('a')).toMatchObject({ queued: 1, dead: 0 })
  })
})

describe('a platform whose rules allow few tries', () => {
  const otlp: Partial<Destination> = { classify: classifyOtlp }

  it('is retried for longer than an outage of ten minutes, which loses nothing', async () => {
    const { send, outbox, clock, lane } = await stage(otlp)
    const began = clock.now()
    for (let tries = 0; (await outbox.status('a')).queued > 0 && tries < 20; tries++)
      await send(() => answer(500), Math.max(10_000, (lane.breaker.waitsUntil(clock.now()) ?? 0) - clock.now()))
    expect(await outbox.status('a')).toMatchObject({ queued: 0, dead: 1 })
    expect(clock.now() - began).toBeGreaterThan(10 * 60_000)
  })

  it('delays nothing because of one record it cannot take: the batch is split as early as elsewhere', async () => {
    const { send, outbox, bodies, enter } = await stage(otlp)
    for (const id of ['gen-2', 'gen-3', 'gen-4']) await enter(id)
    for (const _ of [1, 2, 3, 4, 5]) await send(() => answer(JSON.stringify(bodies.at(-1)).includes('gen-3') ? 500 : 200))
    expect(await outbox.status('a')).toMatchObject({ queued: 1, delivered: 3, dead: 0 })
  })
})

describe('a platform that fails on a batch again and again', () => {
  const several = async () => {
    const all = await stage()
    for (const id of ['gen-2', 'gen-3', 'gen-4']) await all.enter(id)
    return all
  }

  it('is given its records in smaller and smaller parts: one that it cannot take holds up no other', async () => {
    const { send, outbox, bodies } = await several()
    const failsOn = (id: string) => () => answer(JSON.stringify(bodies.at(-1)).includes(id) ? 500 : 200)
    for (const _ of [1, 2, 3, 4]) await send(failsOn('gen-3'))
    expect(await outbox.status('a')).toMatchObject({ queued: 4, delivered: 0 })
    await send(failsOn('gen-3'))
    expect(await outbox.status('a')).toMatchObject({ queued: 1, delivered: 3, dead: 0 })
    // Nobody has said that it will never be taken.
    for (const _ of [1, 2, 3]) await send(() => answer(500))
    expect(await outbox.status('a')).toMatchObject({ queued: 1, dead: 0 })
    await send(() => answer(200))
    expect(await outbox.status('a')).toMatchObject({ queued: 0, delivered: 4 })
  })

  it('is retried a few times with single records where it takes nothing at all, and not while it is merely down', async () => {
    const { send, outbox, bodies } = await several()
    for (let n = 0; n < 6; n++) await send(() => answer(502))
    expect(bodies).toHaveLength(6)
    for (let n = 0; n < 5; n++) await send(() => answer(500))
    const before = bodies.length
    await send(() => answer(500))
    expect(bodies.length - before).toBeLessThanOrEqual(11)
    expect(await outbox.status('a')).toMatchObject({ queued: 4, dead: 0 })
  })
})

describe('an address where nothing is, or what takes another format', () => {
  it.each([404, 410, 415])('is an outage (HTTP %i): deliveries are kept until the URL is corrected', async (status) => {
    const { send, outbox, enter } = await stage()
    for (const id of ['gen-2', 'gen-3', 'gen-4']) await enter(id)
    for (let n = 0; n < 4; n++) await send(() => answer(status))
    expect(await outbox.status('a')).toMatchObject({ queued: 4, dead: 0, health: { breaker: 'unauthorized', lastStatus: status } })
    await send(() => answer(200))
    expect(await outbox.status('a')).toMatchObject({ queued: 0, delivered: 4, health: { breaker: 'closed' } })
  })

  it.each([404, 415])('is distinguished from the same answer about one record (HTTP %i)', async (status) => {
    const { send, outbox, bodies, enter } = await stage()
    for (const id of ['gen-2', 'gen-3', 'gen-4']) await enter(id)
    for (const _ of [1, 2, 3]) await send(() => answer(JSON.stringify(bodies.at(-1)).includes('gen-3') ? status : 200))
    expect(await outbox.status('a')).toMatchObject({ queued: 0, delivered: 3, dead: 1, health: { breaker: 'closed' } })
  })
})

describe('a firewall in front of a platform', () => {
  const guarded = async () => {
    const all = await stage()
    for (const id of ['gen-2', 'gen-3', 'gen-4']) await all.enter(id)
    const names = (id: string): boolean => JSON.stringify(all.bodies.at(-1)).includes(id)
    return { ...all, names }
  }

  it('that blocks one record for its text delays no other', async () => {
    const { send, outbox, names, enter } = await guarded()
    for (const _ of [1, 2]) await send(() => answer(names('gen-3') ? 403 : 200))
    expect(await outbox.status('a')).toMatchObject({ queued: 4, dead: 0, health: { breaker: 'unauthorized' } })
    await send(() => answer(names('gen-3') ? 403 : 200))
    expect(await outbox.status('a')).toMatchObject({ queued: 0, delivered: 3, dead: 1, health: { breaker: 'closed', lastError: 'HTTP 403' } })
    expect((await outbox.deadLetters('a', { offset: 0, limit: 1 })).letters).toMatchObject([
      { generationId: 'gen-3', reason: 'rejected', status: 403 },
    ])
    for (const id of ['gen-5', 'gen-6']) await enter(id)
    await send(() => answer(names('gen-5') ? 403 : 200))
    expect(await outbox.status('a')).toMatchObject({ queued: 0, delivered: 4, dead: 2 })
  })

  it('that blocks everything is retried a few times, and nothing is given up', async () => {
    const { send, outbox, bodies } = await guarded()
    for (let n = 0; n < 4; n++) await send(() => answer(403))
    expect(bodies.length).toBeLessThanOrEqual(2 + 2 * 11)
    expect(await outbox.status('a')).toMatchObject({ queued: 4, dead: 0, health: { breaker: 'unauthorized', lastStatus: 403 } })
  })

  it('that lets everything through later gives no record up', async () => {
    const { send, outbox, bodies } = await guarded()
    for (const _ of [1, 2]) await send(() => answer(403))
    const before = bodies.length
    await send(() => answer(bodies.length - before <= 4 ? 403 : 200))
    expect(await outbox.status('a')).toMatchObject({ queued: 0, delivered: 4, dead: 0 })
  })

  const apart: Destination['encode'] = (batch) =>
    batch.map(({ generation: { id } }, at) => ({
      method: 'POST',
      url: 'https://x.example/',
      headers: {},
      body: JSON.stringify({ id }),
      records: [at],
    }))

  it('that blocks one record is distinguished from one that starts to block everything by the next batch, where each record is a request', async () => {
    const { send, outbox, bodies, enter } = await stage({ encode: apart })
    const guard = () => answer(JSON.stringify(bodies.at(-1)).includes('gen-3') ? 403 : 200)
    for (const _ of [1, 2]) await send(() => answer(403))
    for (const id of ['gen-2', 'gen-3', 'gen-4']) await enter(id)
    await send(guard)
    expect(await outbox.status('a')).toMatchObject({ queued: 1, delivered: 3, dead: 0 })
    await enter('gen-5')
    await send(guard)
    expect(await outbox.status('a')).toMatchObject({ queued: 0, delivered: 4, dead: 1, health: { breaker: 'closed' } })
  })

  it('that starts to block everything during a batch of several requests gives no record up', async () => {
    const { send, outbox, bodies, enter } = await stage({ encode: apart })
    for (const _ of [1, 2]) await send(() => answer(403))
    for (const id of ['gen-2', 'gen-3', 'gen-4']) await enter(id)
    const before = bodies.length
    await send(() => answer(bodies.length - before <= 2 ? 200 : 403))
    expect(await outbox.status('a')).toMatchObject({ queued: 2, delivered: 2, dead: 0, health: { breaker: 'unauthorized' } })
    await send(() => answer(200))
    expect(await outbox.status('a')).toMatchObject({ queued: 0, delivered: 4, dead: 0 })
  })

  it('that demands authentication does not cause a batch to be split', async () => {
    const { send, bodies } = await guarded()
    for (let n = 0; n < 4; n++) await send(() => answer(401))
    expect(bodies).toHaveLength(4)
  })
})

describe('a platform that takes the first of two requests that carry a record, and not the second', () => {
  const twoSteps: Destination['encode'] = (batch) =>
    ['head', 'rest'].map((part) => ({
      method: 'POST',
      url: 'https://x.example/',
      headers: {},
      body: JSON.stringify({ part, ids: batch.map(({ generation }) => generation.id) }),
    }))
  const halfOpen = async () => {
    const all = await stage({ encode: twoSteps })
    for (let n = 2; n <= 10; n++) await all.enter(`gen-${n}`)
    const toHeads = (rest: number) => () => answer(JSON.stringify(all.bodies.at(-1)).includes('head') ? 200 : rest)
    return { ...all, toHeads }
  }

  it('does not cause the record to be given up', async () => {
    const { send, outbox, toHeads } = await halfOpen()
    for (let n = 0; n < 4; n++) await send(toHeads(403))
    expect(await outbox.status('a')).toMatchObject({ queued: 10, dead: 0, health: { breaker: 'unauthorized' } })
    await send(() => answer(200))
    expect(await outbox.status('a')).toMatchObject({ queued: 0, delivered: 10, dead: 0 })
  })

  it.each([403, 500, 502])('is asked a bounded number of times (%i)', async (status) => {
    const { send, bodies, toHeads } = await halfOpen()
    for (let n = 0; n < 12; n++) await send(toHeads(status))
    const before = bodies.length
    await send(toHeads(status))
    expect(bodies.length - before).toBeLessThanOrEqual(2 * 11)
  })
})

describe('a platform that one record takes down', () => {
  const takenDownBy = async (down: (bodies: readonly unknown[]) => OutgoingResponse) => {
    const all = await stage()
    for (const id of ['gen-2', 'gen-3', 'gen-4']) await all.enter(id)
    return { ...all, attempt: () => all.send(() => (JSON.stringify(all.bodies.at(-1)).includes('gen-3') ? down(all.bodies) : answer(200))) }
  }
  const broken = (): never => {
    throw new EgressError('network', 'the connection broke')
  }

  it.each([
    ['502', () => answer(502)],
    ['a broken connection', broken],
  ])('gets the other records separately, once it has been down for unusually long (%s)', async (_name, down) => {
    const { attempt, outbox, bodies, send } = await takenDownBy(down)
    for (let n = 0; n < 10; n++) await attempt()
    expect(bodies).toHaveLength(10)
    await attempt()
    expect(await outbox.status('a')).toMatchObject({ queued: 1, delivered: 3, dead: 0 })
    await send(() => answer(200))
    expect(await outbox.status('a')).toMatchObject({ queued: 0, delivered: 4 })
  })

  it.each([
    [
      'where nobody is reached',
      () => {
        throw new EgressError('connect', 'cannot be reached')
      },
    ],
    ['where it says when to come back', () => answer(503, { 'retry-after': '1' })],
    ['where it is busy', () => answer(429)],
  ])('is not assumed %s', async (_name, down) => {
    const { send, bodies } = await takenDownBy(() => answer(200))
    for (let n = 0; n < 15; n++) await send(down)
    expect(bodies).toHaveLength(15)
  })
})

/** What a worker finds then. */
const afterwards = async ({ lane, clock, outbox }: Awaited<ReturnType<typeof stage>>) => {
  const now = clock.now()
  const { work, nextAt } = await outbox.due(now, 10)
  return { waitsMs: (lane.breaker.waitsUntil(now) ?? now) - now, due: work.length, nextInMs: (nextAt ?? now) - now }
}

describe('a platform that is busy', () => {
  it.each([
    ['and names no time', answer(429), 500],
    ['and names one', answer(429, { 'retry-after': '60' }), 60_000],
    ['or away until a time', answer(503, { 'retry-after': '60' }), 60_000],
  ])('%s, gets nothing of its queue meanwhile', async (_what, busy, ms) => {
    const staged = await stage()
    await staged.send(() => busy)
    // Where no time is named, half of the first pause: chance is in the middle here.
    expect(await afterwards(staged)).toEqual({ waitsMs: ms, due: 0, nextInMs: ms })
  })

  it('or fails does not get the requests that waited behind the failed one', async () => {
    const staged = await stage({
      encode: (batch) =>
        batch.map((_record, index) => ({ method: 'POST', url: `https://x.example/${index}`, headers: {}, body: '{}', records: [index, 0] })),
    })
    await staged.enter('gen-2')
    await staged.send(() => answer(503))
    expect(staged.bodies).toHaveLength(1)
    expect(await afterwards(staged)).toEqual({ waitsMs: 0, due: 0, nextInMs: 500 })
  })
})

describe('what a destination type looks up before it sends', () => {
  const lookingUp = (...found: readonly unknown[]) => {
    const asked: unknown[] = []
    const prepare = async (): Promise<unknown> => {
      const next = found[asked.length]
      asked.push(next)
      if (next instanceof Error) throw next
      return next
    }
    return { asked, prepare }
  }
  const preparedIn = (bodies: readonly unknown[]): unknown[] => bodies.map((body) => (body as { prepared?: unknown }).prepared)

  it('is kept once it is known', async () => {
    const { asked, prepare } = lookingUp('eu')
    const { send, bodies } = await stage({ prepare })
    for (const _ of [1, 2]) await send(() => answer(503))
    expect(preparedIn(bodies)).toEqual(['eu', 'eu'])
    expect(asked).toHaveLength(1)
  })

  it('is looked up again with the next batch while there is no result', async () => {
    const { asked, prepare } = lookingUp(undefined, 'eu')
    const { send, bodies } = await stage({ prepare })
    for (const _ of [1, 2, 3]) await send(() => answer(503))
    expect(preparedIn(bodies)).toEqual([undefined, 'eu', 'eu'])
    expect(asked).toHaveLength(2)
  })

  it('is looked up again when the destination reports a wrong configuration', async () => {
    const { prepare } = lookingUp('us', 'eu')
    const { send, bodies } = await stage({ prepare })
    await send(() => answer(401))
    await send(() => answer(200))
    expect(preparedIn(bodies)).toEqual(['us', 'eu'])
  })

  it('delays a batch when it cannot be looked up', async () => {
    const { prepare } = lookingUp(new Error('HTTP 503'), 'eu')
    const { send, bodies, outbox } = await stage({ prepare })
    await send(() => answer(200))
    expect(await outbox.status('a')).toMatchObject({ queued: 1, delivered: 0 })
    await send(() => answer(200))
    expect(preparedIn(bodies)).toEqual(['eu'])
  })

  it('is looked up again when its platform says, like deliveries: the queue waits until then', async () => {
    const busy = { kind: 'retry', message: 'HTTP 429', overload: true } as const
    const { prepare } = lookingUp(new NotNow('no columns', answer(429, { 'retry-after': '90' }), busy), 'eu')
    const staged = await stage({ prepare })
    await staged.send(() => answer(200))
    expect(staged.lane).toMatchObject({ lastVerdict: 'overload', lastStatus: 429, lastError: 'no columns: HTTP 429' })
    expect(await afterwards(staged)).toMatchObject({ nextInMs: 90_000 })
  })

  it('pauses a destination with a forbidden address, as sending does, without counting a try', async () => {
    const { prepare } = lookingUp(new EgressError('refused', 'x.example leads to a private address'), 'eu')
    const { send, lane, clock, outbox } = await stage({ prepare })
    await send(() => answer(200))
    expect(lane).toMatchObject({ lastVerdict: 'unauthorized', lastError: 'x.example leads to a private address' })
    expect(lane.breaker.state(clock.now())).toBe('unauthorized')
    const [delivery] = await outbox.lease('a', { owner: 'test', records: 10, bytes: 20_000, now: clock.now(), leaseMs: 30_000 })
    expect(delivery?.attempts).toBe(0)
  })
})

describe('an answer to what was sent with a configuration that has changed since', () => {
  it.each([
    ['a refusal', answer(401)],
    ['a wish to wait', answer(429, { 'retry-after': '3600' })],
  ])('does not judge the new one: %s', async (_name, late) => {
    const { send, change, refresh, lane, clock, outbox } = await stage()
    await send(() => {
      change()
      refresh()
      return late
    })
    expect(lane.breaker.state(clock.now())).toBe('closed')
    expect(lane.breaker.allows(clock.now())).toBe('all')
    expect((await outbox.due(clock.now(), 10)).work).toMatchObject([{ records: 1 }])
  })

  it('does not judge it either before the worker has read the change', async () => {
    const { send, change, lane, clock } = await stage()
    await send(() => {
      change()
      return answer(401)
    })
    expect(lane.breaker.allows(clock.now())).toBe('all')
  })

  it('does not change the health of the new one', async () => {
    const { send, change, lane } = await stage()
    await send(() => {
      change()
      return answer(500)
    })
    expect(lane.lastError).toBeUndefined()
  })
})

describe('the reported health', () => {
  it('changes with the first success after a failure, at once: the error is older than it', async () => {
    const { send, enter, outbox, clock } = await stage()
    await send(() => answer(503))
    const failedAt = clock.now()
    expect((await outbox.status('a')).health).toMatchObject({ lastErrorAt: failedAt, lastStatus: 503, lastError: 'HTTP 503' })
    await enter('gen-2')
    await send(() => answer(200), 1_000)
    expect((await outbox.status('a')).health).toMatchObject({ lastSuccessAt: failedAt + 1_000, lastErrorAt: failedAt, lastStatus: 200 })
  })

  it('changes with the same failure after a success, at once', async () => {
    const { send, enter, outbox, clock } = await stage()
    await send(() => answer(503))
    for (const [n, status] of [200, 503].entries()) {
      await enter(`more-${n}`)
      await send(() => answer(status), 1_000)
    }
    expect((await outbox.status('a')).health).toMatchObject({ lastErrorAt: clock.now(), lastSuccessAt: clock.now() - 1_000, lastStatus: 503 })
  })

  it('changes with the first success after a refusal, and with the next refusal, at once', async () => {
    const { send, enter, outbox, clock } = await stage()
    await send(() => answer(400))
    const refusedAt = clock.now()
    await enter('gen-2')
    await send(() => answer(200), 1_000)
    expect((await outbox.status('a')).health).toMatchObject({ lastSuccessAt: refusedAt + 1_000, lastErrorAt: refusedAt, lastStatus: 200 })
    await enter('gen-3')
    await send(() => answer(400), 1_000)
    expect((await outbox.status('a')).health).toMatchObject({ lastSuccessAt: refusedAt + 1_000, lastErrorAt: refusedAt + 2_000, lastStatus: 400 })
  })
})

describe('a platform that rejects our clock', () => {
  const MINUTE_MS = 60_000
  const signing = (ahead: number, clockNow: () => number): Partial<Destination> => ({
    encode: (_batch, _settings, { now }) => [{ method: 'PUT', url: 'https://x.example/', headers: {}, body: JSON.stringify({ now }) }],
    classify: ({ status }) => (status < 300 ? { kind: 'delivered' } : { kind: 'retry', message: 'skewed', platformTime: clockNow() + ahead }),
  })

  it.each([
    ['is followed, forwards', 20 * MINUTE_MS, 20 * MINUTE_MS],
    ['is followed, backwards', -20 * MINUTE_MS, -20 * MINUTE_MS],
    ['is not followed to any time', 25 * 60 * MINUTE_MS, 0],
  ])('%s', async (_what, ahead, offset) => {
    let clockNow = (): number => 0
    const { send, bodies, clock, enter } = await stage(signing(ahead, () => clockNow()))
    clockNow = () => clock.now()
    const signedAt = () => (bodies.at(-1) as { now: number }).now - clock.now()
    await send(() => answer(403))
    expect(signedAt()).toBe(0)
    await send(() => answer(200))
    expect(signedAt()).toBe(offset)
    await enter('gen-2')
    await send(() => answer(200))
    expect(signedAt()).toBe(offset)
  })

  it('is tried again with our own clock when the configuration has changed', async () => {
    let clockNow = (): number => 0
    const { send, bodies, clock, change, refresh } = await stage(signing(20 * MINUTE_MS, () => clockNow()))
    clockNow = () => clock.now()
    await send(() => answer(403))
    change()
    refresh()
    await send(() => answer(200))
    expect((bodies.at(-1) as { now: number }).now).toBe(clock.now())
  })
})

describe('a delivery that is too old to be sent', () => {
  it.each([
    [55 * 60_000, '55 minutes'],
    [HOUR_MS, '1 hour'],
    [90 * 60_000, '90 minutes'],
    [23 * HOUR_MS, '23 hours'],
    [undefined, '168 hours'],
  ])('fails with the maximum age in its error: %s ms', async (maxAgeMs, words) => {
    const { send, outbox } = await stage(maxAgeMs === undefined ? {} : { limits: { ...plain.limits, maxAgeMs } })
    await send(refused, (maxAgeMs ?? 168 * HOUR_MS) + 1)
    expect((await outbox.deadLetters('a', { offset: 0, limit: 1 })).letters).toMatchObject([{ reason: 'expired', error: `older than ${words}` }])
  })
})

describe('a lease whose holder has its clock set back', () => {
  it('is renewed with the new time, because others end leases that run far ahead', async () => {
    let setBack = (): void => undefined
    const { send, clock, outbox } = await stage({
      prepare: () => {
        setBack()
        return Promise.resolve({})
      },
    })
    setBack = () => clock.advance(-HOUR_MS)
    const extend = vi.spyOn(outbox, 'extend')
    await send(() => answer(200), 0)
    expect(extend.mock.calls).toEqual([['test', ['gen-1/a'], clock.now() + 30_000]])
  })
})
