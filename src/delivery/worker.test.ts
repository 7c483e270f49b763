import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Destination } from '../core/destination.ts'
import type { Generation } from '../core/generation.ts'
import type { DestinationRecord } from '../core/outbox.ts'
import { createEgress, type Egress } from '../lib/egress.ts'
import { answer, ok, startFakeDestination, type FakeDestination, type ReceivedRequest } from '../testing/fake-destination.ts'
import { createMemoryOutbox, type MemoryOutbox } from '../testing/memory-outbox.ts'
import { minimalGeneration } from '../testing/sample-generations.ts'
import { eventBytes } from './select.ts'
import { createTransport } from './transport.ts'
import { createDeliveryWorker, type DeliveryEvent, type DeliveryWorker, type DeliveryWorkerOptions } from './worker.ts'
import { verifies } from '../../e2e/requirements.ts'

/** A destination of the simplest kind: ids and texts as JSON. */
const plain: Destination<{ readonly url: string; readonly token: string }> = {
  type: 'plain',
  name: 'Plain',
  settings: z.strictObject({ url: z.string(), token: z.string() }),
  secrets: ['token'],
  limits: { records: 10, bytes: 20_000, lingerMs: 20, timeoutMs: 60_000 },
  encode: (batch, { url, token }) => [
    {
      method: 'POST',
      url,
      headers: { authorization: token },
      body: JSON.stringify(batch.map((record) => ({ id: record.generation.id, text: record.content?.instructions }))),
    },
  ],
  probe: () => [],
}

/** Where a receiver does not answer. Elsewhere a busy machine may take its time, and nothing is sent twice for that. */
const impatient = { ...plain, limits: { ...plain.limits, timeoutMs: 300 } }

/** One batch at a time: no other is on its way when the breaker opens. */
const oneByOne = { ...plain, limits: { ...plain.limits, concurrency: 1 } }

const idsOf = (request: ReceivedRequest): string[] => (JSON.parse(request.body.toString()) as { id: string }[]).map(({ id }) => id)

let receiver: FakeDestination
let other: FakeDestination
let egress: Egress
let outbox: MemoryOutbox
let worker: DeliveryWorker | undefined
let records: Map<string, DestinationRecord>
let events: DeliveryEvent[]

beforeEach(async () => {
  receiver = await startFakeDestination()
  other = await startFakeDestination()
  egress = createEgress({ allowPrivate: true })
  outbox = createMemoryOutbox()
  events = []
  records = new Map([destination('a', receiver.url), destination('b', other.url)].map((record) => [record.id, record]))
})
afterEach(async () => {
  await worker?.stop(50)
  worker = undefined
  await Promise.all([egress.close(), receiver.close(), other.close()])
})

function destination(id: string, url: string, changes: Partial<DestinationRecord> = {}): DestinationRecord {
  return {
    id,
    workspaceId: 'w',
    type: 'plain',
    name: id,
    enabled: true,
    paused: false,
    config: { url, token: 'good' },
    apiKeyHashes: null,
    filterRules: null,
    samplingRate: 1,
    privacyMode: false,
    broadcast: { cost: false, identity: false, requestContext: false },
    revision: 1,
    createdAt: 0,
    updatedAt: 0,
    ...changes,
  }
}

function start(changes: Partial<DeliveryWorkerOptions> = {}, type: Destination = plain): void {
  worker = createDeliveryWorker({
    outbox,
    types: new Map([[type.type, type]]),
    destination: (id) => records.get(id),
    transport: createTransport(egress),
    clock: { now: () => Date.now(), monotonic: () => performance.now() },
    random: () => 0.5,
    owner: 'test',
    service: { name: 'signalbox', version: '1' },
    onEvent: (event) => events.push(event),
    backoff: { baseMs: 10, maxMs: 40 },
    breaker: { threshold: 5, openMs: 60, maxOpenMs: 200, unauthorizedMs: 5_000 },
    tuning: { pollMs: 20 },
    ...changes,
  })
  worker.start()
}

async function enter(
  count: number,
  to: readonly string[] = ['a'],
  options: { readonly text?: string; readonly from?: number; readonly generation?: Partial<Generation> } = {},
): Promise<string[]> {
  const ids = Array.from({ length: count }, (_, i) => `gen-${(options.from ?? 0) + i}`)
  await outbox.record(
    ids.map((id) => {
      const generation = { ...minimalGeneration().generation, id, endedAt: Date.now(), ...options.generation }
      const content = JSON.stringify({ instructions: options.text ?? `text of ${id}`, input: [], output: [] })
      return {
        generation,
        content,
        deliveries: to.map((destinationId) => ({ destinationId, withContent: true })),
        bytes: eventBytes(JSON.stringify(generation), content),
      }
    }),
  )
  worker?.wake()
  return ids
}

async function until(what: () => boolean | Promise<boolean>, ms = 4_000): Promise<void> {
  const end = Date.now() + ms
  while (!(await what())) {
    if (Date.now() > end) throw new Error(`not reached in ${ms} ms; events: ${JSON.stringify(events.slice(-5))}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
const drained =
  (id = 'a') =>
  async (): Promise<boolean> =>
    (await outbox.status(id)).queued === 0
const acceptedIds = (fake = receiver): string[] => fake.accepted.flatMap(idsOf)

describe('delivery', () => {
  it('sends what is queued in batches, each record once', async () => {
    const ids = await enter(25)
    start()
    await until(drained())
    expect(acceptedIds().sort()).toEqual([...ids].sort())
    expect(receiver.requests.map((r) => idsOf(r).length)).toEqual([10, 10, 5])
    expect(await outbox.status('a')).toMatchObject({ delivered: 25, dead: 0, rejected: 0 })
  })

  it('waits for a batch to fill, but not long', async () => {
    start()
    await enter(1)
    await enter(1, ['a'], { from: 1 })
    await until(drained())
    expect(receiver.requests).toHaveLength(1)
  })

  it('honours Retry-After of a 429 for everything in the queue', async () => {
    receiver.react = (_r, number) => (number === 0 ? answer(429, { 'retry-after': '1' }) : ok)
    const ids = await enter(3)
    start()
    await until(() => receiver.requests.length === 1)
    await enter(2, ['a'], { from: 3 })
    await until(drained())
    expect(receiver.requests[1]!.at - receiver.requests[0]!.at).toBeGreaterThanOrEqual(990)
    expect(new Set(acceptedIds()).size).toBe(ids.length + 2)
  })

  it('tries again after 503 and loses nothing', async () => {
    receiver.react = (_r, number) => (number < 3 ? answer(503) : ok)
    const ids = await enter(10)
    start()
    await until(drained())
    expect(acceptedIds().sort()).toEqual([...ids].sort())
    expect(receiver.requests).toHaveLength(4)
  })

  it('finds the poison event in a batch of ten: nine arrive, one is a dead letter', async () => {
    receiver.react = (request) => (idsOf(request).includes('gen-6') ? answer(400, {}, 'bad event, key=supersecretvalue') : ok)
    await enter(10)
    start()
    await until(drained())
    expect(acceptedIds()).toHaveLength(9)
    expect(acceptedIds()).not.toContain('gen-6')
    const { letters } = await outbox.deadLetters('a', { offset: 0, limit: 10 })
    expect(letters).toMatchObject([{ generationId: 'gen-6', reason: 'rejected', status: 400, attempts: 1 }])
    expect(letters[0]?.error).toContain('bad event')
    expect(letters[0]?.error).not.toContain('supersecret')
  })

  it('pauses on 401, keeps everything, and drains when the configuration is fixed', async () => {
    receiver.react = (request) => (request.headers['authorization'] === 'fixed' ? ok : answer(401))
    const ids = await enter(12)
    start({}, oneByOne)
    await until(async () => (await outbox.status('a')).health?.breaker === 'unauthorized')
    const before = receiver.requests.length
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(receiver.requests.length).toBe(before)
    expect(await outbox.status('a')).toMatchObject({ queued: 12, dead: 0, health: { lastStatus: 401 } })
    records.set('a', destination('a', receiver.url, { config: { url: receiver.url, token: 'fixed' }, revision: 2 }))
    worker?.wake()
    await until(drained())
    expect(acceptedIds().sort()).toEqual([...ids].sort())
  })

  it('gives up on a receiver that hangs and tries again', async () => {
    receiver.react = (_r, number) => (number === 0 ? { kind: 'hang' } : ok)
    await enter(2)
    start({}, impatient)
    await until(drained())
    expect(receiver.requests).toHaveLength(2)
    expect(receiver.requests[1]!.at - receiver.requests[0]!.at).toBeGreaterThanOrEqual(290)
  })

  it('sends the same ids and bytes again when the connection breaks after the body was read', async () => {
    receiver.react = (_r, number) => (number === 0 ? { kind: 'reset' } : ok)
    await enter(3)
    start()
    await until(drained())
    expect(receiver.requests).toHaveLength(2)
    expect(receiver.requests[1]!.body.equals(receiver.requests[0]!.body)).toBe(true)
  })

  it.each([true, false])('counts an acceptance even if the rest of the answer never comes (cut: %s)', async (cut) => {
    receiver.react = () => ({ kind: 'unfinished', status: 200, cut })
    await enter(3)
    start({}, impatient)
    await until(drained())
    expect(acceptedIds()).toEqual(['gen-0', 'gen-1', 'gen-2'])
    expect(await outbox.status('a')).toMatchObject({ delivered: 3, health: { breaker: 'closed', lastStatus: 200 } })
  })

  it('sends again where the missing rest of the answer would have listed refused records', async () => {
    receiver.react = (_r, number) => (number === 0 ? { kind: 'unfinished', status: 200, cut: true } : ok)
    await enter(3)
    start({}, { ...plain, answersInBody: true })
    await until(drained())
    expect(receiver.requests).toHaveLength(2)
  })

  it('retries after a refusal whose reasons never came', async () => {
    receiver.react = (_r, number) => (number === 0 ? { kind: 'unfinished', status: 400, cut: true } : ok)
    await enter(3)
    start()
    await until(drained())
    expect(await outbox.status('a')).toMatchObject({ delivered: 3, dead: 0 })
  })

  it('halves a batch that is too large for the receiver', async () => {
    receiver.react = (request) => (idsOf(request).length > 3 ? answer(413) : ok)
    const ids = await enter(10)
    start()
    await until(drained())
    expect(acceptedIds().sort()).toEqual([...ids].sort())
  })

  it('halves what exceeds the limit of the type before sending it, and shortens a single giant', async () => {
    await enter(5, ['a'], { text: 'word '.repeat(1500) })
    await enter(1, ['a'], { text: 'word '.repeat(50_000), from: 5 })
    start()
    await until(drained())
    expect(acceptedIds()).toHaveLength(6)
    for (const request of receiver.requests) expect(request.body.length).toBeLessThanOrEqual(20_000)
    expect(receiver.accepted.map((r) => r.body.toString()).join('')).toContain('[truncated from 250000 characters]')
  })

  it('makes a dead letter of what stays too large', async () => {
    receiver.react = () => answer(413)
    await enter(1)
    start()
    await until(drained())
    expect((await outbox.deadLetters('a', { offset: 0, limit: 1 })).letters).toMatchObject([{ reason: 'too-large', status: 413 }])
  })

  it(verifies('E2', 'follows no redirect and treats it as a configuration error'), async () => {
    receiver.react = () => answer(302, { location: other.url })
    await enter(1)
    start()
    await until(async () => (await outbox.status('a')).health?.breaker === 'unauthorized')
    expect(other.requests).toEqual([])
  })

  it(verifies('E2', 'pauses a destination whose address may not be reached'), async () => {
    records.set('a', destination('a', 'http://169.254.169.254/'))
    await enter(1)
    start()
    await until(async () => (await outbox.status('a')).health?.breaker === 'unauthorized')
    expect(await outbox.status('a')).toMatchObject({ queued: 1, health: { lastError: expect.stringContaining('never allowed') } })
  })
})

describe('the status of a destination', () => {
  it('shows a refusal as no success, with the message of the platform', async () => {
    receiver.react = () => answer(422, {}, 'no such project')
    await enter(3)
    start()
    await until(drained())
    const { health } = await outbox.status('a')
    expect(health).toMatchObject({ breaker: 'closed', lastStatus: 422, lastError: 'HTTP 422: no such project', lastErrorAt: expect.any(Number) })
    expect(health).not.toHaveProperty('lastSuccessAt')
  })

  it('shows a refusal even if the rest of the batch was accepted', async () => {
    receiver.react = (request) => (idsOf(request).includes('gen-0') ? answer(422, {}, 'poison') : ok)
    await enter(4)
    start()
    await until(drained())
    expect((await outbox.status('a')).health).toMatchObject({ lastError: 'HTTP 422: poison', lastSuccessAt: expect.any(Number) })
  })
})

describe('isolation', () => {
  it(verifies('I3', 'a dead destination delays no other'), async () => {
    receiver.react = () => ({ kind: 'hang' })
    start()
    await enter(30, ['a', 'b'])
    await until(drained('b'), 250)
    expect(acceptedIds(other)).toHaveLength(30)
    expect((await outbox.status('a')).queued).toBe(30)
  })

  it(verifies('I3', 'any number of destinations that hang leave room for one that answers'), async () => {
    const dead = Array.from({ length: 6 }, (_, i) => `dead-${i}`)
    for (const id of dead) records.set(id, destination(id, receiver.url))
    receiver.react = () => ({ kind: 'hang' })
    start({ tuning: { pollMs: 20, concurrency: 4 } })
    await enter(1, ['b'])
    await until(drained('b'))
    await enter(20, dead, { from: 1 })
    await until(() => receiver.requests.length > 1)
    await new Promise((resolve) => setTimeout(resolve, 50))
    await enter(10, ['b'], { from: 100 })
    await until(drained('b'), 1_000)
    expect(acceptedIds(other)).toHaveLength(11)
  })

  it('opens the breaker after failures in a row, then sends one trial at a time until it works', async () => {
    receiver.react = () => answer(500)
    // Long enough that no trial falls into the look below, however busy the machine is.
    start({ breaker: { threshold: 5, openMs: 800, maxOpenMs: 800, unauthorizedMs: 5_000 } }, oneByOne)
    await enter(30)
    await until(async () => (await outbox.status('a')).health?.breaker === 'open')
    const before = receiver.requests.length
    await new Promise((resolve) => setTimeout(resolve, 30))
    expect(receiver.requests.length).toBe(before)
    receiver.react = () => ok
    await until(drained())
    expect(new Set(acceptedIds()).size).toBe(30)
  })

  it(verifies('I7', 'continues at once when the clock is set back by an hour, whatever it waited for'), async () => {
    let shift = 0
    receiver.react = () => answer(500)
    start({
      breaker: { threshold: 5, openMs: 600_000, maxOpenMs: 600_000, unauthorizedMs: 5_000 },
      clock: { now: () => Date.now() + shift, monotonic: () => performance.now() },
    })
    await enter(30)
    await until(async () => (await outbox.status('a')).health?.breaker === 'open')
    receiver.react = () => ok
    shift = -3_600_000
    await until(drained())
    expect(new Set(acceptedIds()).size).toBe(30)
  })

  it('does not wait for a batch to fill longer because the clock was set back', async () => {
    let shift = 0
    const now = () => Date.now() + shift
    let urgent = false
    outbox = createMemoryOutbox(now)
    start({ putOff: () => urgent, clock: { now, monotonic: () => performance.now() } })
    await enter(1)
    await until(drained())
    urgent = true
    await enter(3, ['a'], { from: 1 })
    shift = -3_600_000
    urgent = false
    await until(drained())
    expect(new Set(acceptedIds()).size).toBe(4)
  })

  it('obeys a pause, and continues afterwards', async () => {
    records.set('a', destination('a', receiver.url, { paused: true }))
    start()
    await enter(2)
    await new Promise((resolve) => setTimeout(resolve, 80))
    expect(receiver.requests).toEqual([])
    records.set('a', destination('a', receiver.url, { revision: 2 }))
    worker?.wake()
    await until(drained())
  })

  it('sends nothing new while there is more urgent work, and continues by itself', async () => {
    let urgent = true
    start({ putOff: () => urgent, tuning: { pollMs: 20, putOffMs: 20 } })
    await enter(3)
    await new Promise((resolve) => setTimeout(resolve, 80))
    expect(receiver.requests).toEqual([])
    urgent = false
    await until(drained())
    expect(new Set(acceptedIds()).size).toBe(3)
  })

  it('says once that stored settings are no longer valid, and keeps the queue', async () => {
    records.set('a', destination('a', receiver.url, { config: {} }))
    start()
    await enter(1)
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(events.filter((event) => event.kind === 'problem')).toHaveLength(1)
    expect((await outbox.status('a')).queued).toBe(1)
  })

  it('shows invalid settings in the status, and continues with valid ones', async () => {
    records.set('a', destination('a', receiver.url, { config: {} }))
    start()
    await enter(1)
    const health = async () => (await outbox.status('a')).health
    await until(async () => (await health()) !== undefined)
    expect(await health()).toMatchObject({ breaker: 'unauthorized', lastError: expect.stringContaining('not valid any more: url') })
    records.set('a', destination('a', receiver.url, { revision: 2 }))
    worker?.wake()
    await until(drained())
    await until(async () => (await health())?.breaker === 'closed')
  })
})

describe('outcomes of a delivery', () => {
  it('drops content for a destination that has switched to privacy mode since', async () => {
    await enter(1)
    records.set('a', destination('a', receiver.url, { privacyMode: true, revision: 2 }))
    start()
    await until(drained())
    expect(receiver.requests[0]?.body.toString()).not.toContain('text of')
  })

  it('makes dead letters of deliveries the platform would drop for their age', async () => {
    await enter(1, ['a'], { generation: { endedAt: Date.now() - 8 * 86_400_000 } })
    start({}, { ...plain, limits: { ...plain.limits, maxAgeMs: 7 * 86_400_000 } })
    await until(drained())
    expect((await outbox.deadLetters('a', { offset: 0, limit: 1 })).letters).toMatchObject([{ reason: 'expired' }])
    expect(receiver.requests).toEqual([])
  })

  it('counts what was refused inside an accepted batch and does not send it again', async () => {
    start({}, { ...plain, classify: () => ({ kind: 'partial', message: 'two were bad', rejectedCount: 2 }) })
    await enter(5)
    await until(drained())
    expect(receiver.requests).toHaveLength(1)
    expect(await outbox.status('a')).toMatchObject({
      delivered: 3,
      rejected: 2,
      health: { lastError: 'two were bad', lastSuccessAt: expect.any(Number) },
    })
  })

  it('settles single records of an accepted batch when the platform names them', async () => {
    let calls = 0
    start(
      {},
      {
        ...plain,
        classify: () =>
          calls++ === 0 ? { kind: 'partial', message: 'some', rejected: [{ index: 1, message: 'no' }], retry: [3] } : { kind: 'delivered' },
      },
    )
    await enter(5)
    await until(drained())
    expect(receiver.requests.map(idsOf)).toEqual([['gen-0', 'gen-1', 'gen-2', 'gen-3', 'gen-4'], ['gen-3']])
    expect((await outbox.deadLetters('a', { offset: 0, limit: 9 })).letters.map((l) => l.generationId)).toEqual(['gen-1'])
  })

  it('gives up after the tries a type allows for an unlikely recovery', async () => {
    receiver.react = () => answer(500)
    start({}, { ...plain, classify: () => ({ kind: 'retry', message: 'HTTP 500', maxAttempts: 3 }) })
    await enter(1)
    await until(drained())
    expect(receiver.requests).toHaveLength(3)
    expect((await outbox.deadLetters('a', { offset: 0, limit: 1 })).letters).toMatchObject([{ reason: 'gave-up', attempts: 3 }])
  })

  it('gives up the one record a platform fails on, and none of those beside it', async () => {
    receiver.react = (request) => (idsOf(request).includes('gen-6') ? answer(500) : ok)
    start(
      {},
      { ...oneByOne, classify: ({ status }) => (status === 200 ? { kind: 'delivered' } : { kind: 'retry', message: 'HTTP 500', maxAttempts: 3 }) },
    )
    const ids = await enter(10)
    await until(drained())
    expect(acceptedIds().sort()).toEqual(ids.filter((id) => id !== 'gen-6').sort())
    expect((await outbox.deadLetters('a', { offset: 0, limit: 9 })).letters).toMatchObject([
      { generationId: 'gen-6', reason: 'gave-up', status: 500 },
    ])
    expect((await outbox.status('a')).health).toMatchObject({ breaker: 'closed', lastError: 'HTTP 500', lastSuccessAt: expect.any(Number) })
  })

  it('asks a platform that fails on everything a few times more, and leaves the rest for later', async () => {
    receiver.react = () => answer(500)
    start(
      { backoff: { baseMs: 60_000, maxMs: 60_000 } },
      {
        ...oneByOne,
        limits: { ...oneByOne.limits, records: 100, bytes: 1_000_000 },
        classify: () => ({ kind: 'retry', message: 'HTTP 500', maxAttempts: 1 }),
      },
    )
    await enter(100)
    await until(() => events.some((event) => event.kind === 'batch'))
    expect(receiver.requests).toHaveLength(11)
    expect(events).toContainEqual(expect.objectContaining({ kind: 'batch', verdict: 'failed', message: 'HTTP 500' }))
    const { queued, dead } = await outbox.status('a')
    expect(queued + dead).toBe(100)
    expect(dead).toBeLessThan(5)
  })

  it('isolates a record that cannot be encoded', async () => {
    const picky = {
      ...plain,
      encode: (batch, settings, context) => {
        if (batch.some((r) => r.generation.id === 'gen-2')) throw new Error('cannot write this')
        return plain.encode(batch, settings as never, context)
      },
    } as Destination
    start({}, picky)
    await enter(5)
    await until(drained())
    expect(acceptedIds()).toHaveLength(4)
    expect((await outbox.deadLetters('a', { offset: 0, limit: 1 })).letters).toMatchObject([{ reason: 'encode-failed', error: 'cannot write this' }])
  })

  it('retries waiting deliveries at once when the destination changes', async () => {
    receiver.react = () => answer(503, { 'retry-after': '3600' })
    start()
    await enter(2)
    await until(async () => receiver.requests.length > 0 && (await outbox.due(Date.now(), 9)).work.length === 0)
    receiver.react = () => ok
    records.set('a', destination('a', receiver.url, { paused: true, revision: 2 }))
    worker?.wake()
    await new Promise((resolve) => setTimeout(resolve, 60))
    expect(acceptedIds()).toEqual([])
    records.set('a', destination('a', receiver.url, { revision: 3 }))
    worker?.wake()
    await until(drained())
    expect(acceptedIds()).toHaveLength(2)
  })

  it.each<[string, () => Partial<DestinationRecord>, () => readonly ReceivedRequest[], boolean]>([
    ['is sent to its new address', () => ({ config: { url: other.url, token: 'good' } }), () => other.accepted, true],
    ['is sent without words once it is private', () => ({ privacyMode: true }), () => receiver.accepted, false],
  ])('a delivery in flight when the destination changes %s, and does not wait for the old answer', async (_what, change, accepted, withWords) => {
    receiver.react = (_request, number) => (number === 0 ? { kind: 'hang' } : ok)
    start({}, oneByOne)
    await enter(2)
    await until(() => receiver.requests.length === 1)
    records.set('a', destination('a', receiver.url, { ...change(), revision: 2 }))
    worker?.wake()
    await until(drained())
    expect(accepted().flatMap(idsOf)).toEqual(['gen-0', 'gen-1'])
    expect(accepted()[0]!.body.includes('text of')).toBe(withWords)
  })

  it('a delivery in flight when its destination is deleted is given up', async () => {
    receiver.react = () => ({ kind: 'hang' })
    start({}, oneByOne)
    await enter(2)
    await until(() => receiver.requests.length === 1)
    records.delete('a')
    worker?.wake()
    await until(() => events.some((event) => event.kind === 'batch' && event.verdict === 'aborted'))
    expect(receiver.requests).toHaveLength(1)
  })

  it('a deleted destination keeps no state in memory', async () => {
    const asked: string[] = []
    start({ destination: (id) => (asked.push(id), records.get(id)) })
    await enter(1)
    await until(drained())
    records.delete('a')
    for (let n = 1; n <= 2; n++) {
      asked.length = 0
      await enter(1, ['b'], { from: n })
      await until(drained('b'))
    }
    expect(asked).toContain('b')
    expect(asked).not.toContain('a')
  })

  it.each<[string, Partial<DestinationRecord>]>([
    ['is disabled', { enabled: false, revision: 2 }],
    // Nothing of its own has changed: the next batch must not be taken for this one.
    ['is one of a workspace that keeps everything in', { enabled: false }],
    ['is paused and becomes private', { paused: true, privacyMode: true, revision: 2 }],
  ])('a delivery in flight when its destination %s returns to the queue, and is sent once it is on again', async (_what, change) => {
    receiver.react = (_request, number) => (number === 0 ? { kind: 'hang' } : ok)
    start({}, oneByOne)
    await enter(2)
    await until(() => receiver.requests.length === 1)
    records.set('a', destination('a', receiver.url, change))
    worker?.wake()
    await until(() => events.some((event) => event.kind === 'batch' && event.verdict === 'aborted'))
    expect(receiver.requests).toHaveLength(1)
    const { revision = 0 } = change
    records.set('a', destination('a', receiver.url, { ...change, enabled: true, paused: false, revision: revision + 1 }))
    worker?.wake()
    await until(drained())
    expect(acceptedIds()).toEqual(['gen-0', 'gen-1'])
  })

  it('a delivery in flight when only the name changes continues', async () => {
    receiver.react = () => ({ kind: 'answer', status: 200, body: '', afterMs: 100 })
    start({}, oneByOne)
    await enter(2)
    await until(() => receiver.requests.length === 1)
    records.set('a', destination('a', receiver.url, { name: 'other', revision: 2 }))
    worker?.wake()
    await until(drained())
    expect(receiver.requests).toHaveLength(1)
  })

  it('replays dead letters', async () => {
    receiver.react = () => answer(400)
    start()
    await enter(3)
    await until(drained())
    receiver.react = () => ok
    expect(await outbox.replay('a', Date.now())).toBe(3)
    worker?.wake()
    await until(async () => (await outbox.status('a')).delivered === 3)
  })

  it('replays dead letters of any age where the platform accepts them', async () => {
    receiver.react = () => answer(400)
    start()
    await enter(1, ['a'], { generation: { endedAt: Date.now() - 20 * 86_400_000 } })
    await until(drained())
    receiver.react = () => ok
    expect(await outbox.replay('a', Date.now())).toBe(1)
    worker?.wake()
    await until(async () => (await outbox.status('a')).delivered === 1)
  })
})

describe('types with needs of their own', () => {
  it('poll until the platform is done', async () => {
    receiver.react = (request, number) => (request.method === 'POST' ? answer(202) : answer(number < 3 ? 202 : 200))
    const polling = {
      ...plain,
      followUp: (response, step, settings) =>
        response.status === 202
          ? { afterMs: 5 * step, request: { method: 'GET', url: `${(settings as { url: string }).url}/status`, headers: {} } }
          : undefined,
    } as Destination
    start({}, polling)
    await enter(1)
    await until(drained())
    expect(receiver.requests.map((r) => `${r.method} ${r.path}`)).toEqual(['POST /', 'GET /status', 'GET /status', 'GET /status'])
  })

  it('look something up once per configuration', async () => {
    const preparing = {
      ...plain,
      limits: { ...plain.limits, records: 1 },
      prepare: async (settings, _context, send) =>
        (await send({ method: 'GET', url: `${(settings as { url: string }).url}/region`, headers: {} })).status,
      encode: (batch, settings, context) => plain.encode(batch, { ...(settings as { url: string }), token: String(context.prepared) }, context),
    } as Destination
    start({}, preparing)
    await enter(3)
    await until(drained())
    expect(receiver.requests.filter((r) => r.method === 'GET')).toHaveLength(1)
    expect(receiver.requests.filter((r) => r.method === 'POST').map((r) => r.headers['authorization'])).toEqual(['200', '200', '200'])
  })

  it('send one request per record side by side, and only the failed ones again', async () => {
    receiver.react = (request, number) => (request.body.toString() === 'gen-2' && number < 6 ? answer(503) : ok)
    const objects = {
      ...plain,
      encode: (batch, settings) =>
        batch.map((record, i) => ({ method: 'PUT', url: (settings as { url: string }).url, headers: {}, body: record.generation.id, records: [i] })),
    } as Destination
    start({}, objects)
    await enter(6)
    await until(drained())
    const delivered = receiver.accepted.map((r) => r.body.toString())
    expect(new Set(delivered).size).toBe(6)
    expect(delivered.filter((id) => id === 'gen-2')).toHaveLength(1)
  })
})

describe('leases', () => {
  it('are renewed while a request takes longer than they last, so that no other process sends the same', async () => {
    receiver.react = () => ({ kind: 'answer', status: 200, afterMs: 2_500 })
    start({ tuning: { leaseMs: 1_000, pollMs: 10 } })
    const first = worker
    await enter(3)
    await until(() => receiver.requests.length === 1)
    start({ owner: 'another', tuning: { leaseMs: 1_000, pollMs: 10 } })
    await until(drained())
    await first?.stop(1_000)
    expect(receiver.requests).toHaveLength(1)
  })
})

describe('shutdown', () => {
  it('finishes deliveries in flight', async () => {
    receiver.react = () => ({ kind: 'answer', status: 200, afterMs: 100 })
    start()
    await enter(3)
    await until(() => receiver.requests.length === 1)
    await worker?.stop(2_000)
    expect(await outbox.status('a')).toMatchObject({ queued: 0, delivered: 3 })
  })

  it('gives back what it could not finish, untried, for the next worker', async () => {
    receiver.react = () => ({ kind: 'hang' })
    start()
    await enter(3)
    await until(() => receiver.requests.length === 1)
    await worker?.stop(30)
    const { work } = await outbox.due(Date.now(), 10)
    expect(work).toMatchObject([{ records: 3, retried: false }])
    receiver.react = () => ok
    start({ owner: 'next' })
    await until(drained())
  })

  it('returns deliveries that were only about to be sent as untried, too, and not as failed', async () => {
    receiver.react = () => ({ kind: 'hang' })
    start(
      {},
      {
        ...plain,
        prepare: (settings, _context, send) => send({ method: 'GET', url: (settings as { url: string }).url, headers: {} }),
      },
    )
    await enter(3)
    await until(() => receiver.requests.length === 1)
    await worker?.stop(30)
    expect((await outbox.due(Date.now(), 10)).work).toMatchObject([{ records: 3, retried: false }])
    expect((await outbox.status('a')).health).not.toHaveProperty('lastError')
  })

  it('does not wait for a store that is down', async () => {
    start({ outbox: { ...outbox, settle: async () => Promise.reject(new Error('disk is full')) } })
    await enter(2)
    await until(() => events.some((event) => event.kind === 'problem'))
    const stopping = performance.now()
    await worker?.stop(50)
    expect(performance.now() - stopping).toBeLessThan(1_000)
  })
})

describe('a store that is down', () => {
  it('learns what was sent as soon as it is back, so that nothing is sent twice, even if the lease has ended', async () => {
    const settle = outbox.settle.bind(outbox)
    let failing = true
    start({
      outbox: { ...outbox, settle: async (...args) => (failing ? Promise.reject(new Error('disk is full')) : settle(...args)) },
      tuning: { pollMs: 20, leaseMs: 100 },
    })
    const ids = await enter(2)
    await until(() => events.some((event) => event.kind === 'problem'))
    await new Promise((resolve) => setTimeout(resolve, 300))
    failing = false
    await until(drained())
    expect(receiver.requests.flatMap(idsOf)).toEqual(ids)
    expect(await outbox.status('a')).toMatchObject({ delivered: 2, dead: 0 })
    // Its queue goes on.
    await enter(1, ['a'], { from: 10 })
    await until(drained())
  })
})

describe('a queue that fails', () => {
  it(verifies('I3', 'does not delay the others, and is asked less and less often'), async () => {
    let asked = 0
    start({
      outbox: {
        ...outbox,
        lease: (id, options) => {
          if (id !== 'a') return outbox.lease(id, options)
          asked++
          return Promise.reject(new Error('the queue of a is broken'))
        },
      },
    })
    await enter(5, ['a'])
    for (let round = 0; round < 10; round++) {
      await enter(1, ['b'], { from: 100 + round })
      worker!.wake()
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    await expect.poll(() => other.accepted.flatMap(idsOf)).toHaveLength(10)
    expect(asked).toBeLessThan(6)
    expect(events).toContainEqual({ kind: 'problem', destinationId: 'a', message: 'the queue of a is broken' })
  })
})
