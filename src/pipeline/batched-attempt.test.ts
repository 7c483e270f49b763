import { describe, expect, it } from 'vitest'
import type { AttemptRecord, Call } from '../core/call.ts'
import type { BatchLimits, Decoder, Dialect } from '../core/dialect.ts'
import type { Endpoint } from '../core/endpoint.ts'
import { GatewayError } from '../core/error.ts'
import type { ModelEvent } from '../core/event.ts'
import type { InputItem } from '../core/item.ts'
import type { ModelRequest } from '../core/request.ts'
import { createUsage } from '../core/usage.ts'
import { systemClock } from '../lib/clock.ts'
import { HttpFailure, type Exchange } from '../lib/http-client.ts'
import { testConnection, testEndpoint } from '../testing/endpoints.ts'
import type { AttemptInput } from './attempt.ts'
import { runBatched, type BatchDependencies } from './batched-attempt.ts'

interface Reply {
  readonly status?: number
  /** One for each input unless told. */
  readonly vectors?: readonly (readonly number[])[]
  readonly tokens?: number
}
/** What the upstream says to these texts; `nth` counts requests from 1. */
type Answer = (texts: readonly string[], nth: number) => Reply | Promise<Reply>
type Body = { readonly texts: readonly string[]; readonly vectors: readonly number[][]; readonly tokens?: number }

const LIMITS = { connect: 1_000, firstToken: 60_000, idle: 60_000, longestIdle: 60_000, total: 60_000 } as AttemptInput['limits']
const textsOf = ({ input }: ModelRequest): readonly string[] => input.map((item) => (item as { readonly content: string }).content)
const never = new Promise<never>(() => undefined)
const soon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** A format of one JSON document each way. */
class PlainDecoder implements Decoder {
  finished = false
  push(): void {}
  end(): void {}
  body(text: string, out: ModelEvent[]): void {
    const { texts, vectors, tokens } = JSON.parse(text) as Body
    this.finished = true
    out.push({ type: 'response-start', upstreamId: `up-${texts[0]}` })
    const usage = tokens === undefined ? {} : { usage: createUsage({ inputTokens: tokens }) }
    out.push({ type: 'response-end', reason: 'stop', vectors, ...usage })
  }
}

function upstream(answer: Answer) {
  const seen = { sent: [] as (readonly string[])[], open: 0, mostOpen: 0, cancelled: 0 }
  const send = ({ body }: { readonly body: string }): Exchange => {
    const texts = JSON.parse(body) as readonly string[]
    seen.sent.push(texts)
    seen.open++
    seen.mostOpen = Math.max(seen.mostOpen, seen.open)
    const { promise: cancelled, reject } = Promise.withResolvers<never>()
    cancelled.catch(() => undefined)
    const replied = Promise.resolve(answer(texts, seen.sent.length)).then(({ status = 200, vectors, tokens }) => ({
      status,
      text:
        status === 200 ? JSON.stringify({ texts, vectors: vectors ?? texts.map((text) => [Number(text)]), tokens }) : '{"error":{"message":"no"}}',
    }))
    let read = false
    let left = false
    const exchange = {
      head: Promise.race([replied, cancelled])
        .finally(() => seen.open--)
        .then(({ status }) => ({ status, headers: { 'content-type': 'application/json' } })),
      async read() {
        if (read) return undefined
        read = true
        return [Buffer.from((await replied).text)]
      },
      cancel() {
        if (!read && !left) seen.cancelled++
        left = true
        reject(new HttpFailure('cancelled', 'cancelled', true))
      },
      ended: false,
    }
    return exchange
  }
  return { seen, send }
}

interface Scene {
  readonly batch?: BatchLimits
  readonly limits?: Partial<AttemptInput['limits']>
  readonly retries?: boolean
  readonly signal?: AbortSignal
  readonly dialect?: Partial<Dialect>
  readonly load?: (urls: readonly string[]) => Promise<ReadonlyMap<string, never>>
  readonly endpoint?: Pick<Endpoint, 'limits'>
  readonly isByok?: boolean
}

/** An attempt for the texts '0', '1', '2', ..., each with a vector of its own number. */
function scene(count: number, answer: Answer, options: Scene = {}) {
  const { batch = { inputs: 2 }, limits, retries = true, signal, dialect: more, load, isByok } = options
  const { seen, send } = upstream(answer)
  const connection = testConnection('acme')
  const dialect: Dialect = {
    ...connection.dialect,
    answers: 'embeddings',
    batch: () => batch,
    encodeRequest: (request) => ({ method: 'POST', path: '/x', headers: {}, body: JSON.stringify(textsOf(request)), dropped: ['input_type'] }),
    decoder: () => new PlainDecoder(),
    decodeError: (status) =>
      new GatewayError(status === 401 ? 'authentication' : 'provider_overloaded', 'no', { source: 'provider', upstreamStatus: status }),
    ...more,
  }
  const endpoint = testEndpoint({ ...options.endpoint, connection: { ...connection, dialect } })
  const record: AttemptRecord = { endpoint, status: 0, startedAt: 0, ...(isByok === undefined ? {} : { isByok }) }
  const media = { load: async (_: Call, urls: readonly string[]) => load?.(urls) ?? new Map() }
  const deps = { http: { send }, clock: systemClock, userAgent: 'test', media, retries: () => retries } as unknown as BatchDependencies
  const call = { signal: signal ?? new AbortController().signal, clock: systemClock, random: () => 0 } as unknown as Call
  const input: readonly InputItem[] = Array.from({ length: count }, (_, n) => ({ type: 'message', role: 'user', content: String(n) }))
  const request: ModelRequest = { model: 'acme/embed', modalities: ['embeddings'], input }
  const run = async (): Promise<readonly ModelEvent[]> => {
    const events: ModelEvent[] = []
    for await (const some of runBatched(deps, { call, request, endpoint, credential: undefined, limits: { ...LIMITS, ...limits }, record }))
      events.push(...some)
    return events
  }
  const failing = async (): Promise<GatewayError> =>
    run().then(
      () => expect.unreachable(),
      (error: unknown) => error as GatewayError,
    )
  return { seen, record, run, failing }
}

const numbers = (count: number): number[][] => Array.from({ length: count }, (_, n) => [n])

describe('more inputs than an upstream takes at a time', () => {
  it('are sent in several requests, and come back as one answer', async () => {
    const { seen, record, run } = scene(5, (texts) => ({ tokens: texts.length * 10 }))
    const events = await run()
    expect(seen.sent).toEqual([['0', '1'], ['2', '3'], ['4']])
    expect(events).toEqual([
      { type: 'response-start', upstreamId: 'up-0' },
      { type: 'response-end', reason: 'stop', vectors: numbers(5), usage: createUsage({ inputTokens: 50, requests: 3 }) },
    ])
    expect(record).toMatchObject({ status: 200, dropped: ['input_type'] })
    expect(record.firstTokenMs).toBeGreaterThanOrEqual(0)
    expect(record.durationMs).toBeGreaterThanOrEqual(record.firstTokenMs!)
    expect(record).not.toHaveProperty('counted')
  })

  it('stay one request where they are few', async () => {
    const { seen, run } = scene(2, () => ({ tokens: 1 }))
    await run()
    expect(seen.sent).toEqual([['0', '1']])
  })

  it('keep their order, whichever answer comes first', async () => {
    const waits = new Map<number, () => void>()
    const { run } = scene(8, (_, nth) => (nth === 1 ? {} : new Promise((resolve) => waits.set(nth, () => resolve({})))))
    const answered = run()
    while (waits.size < 3) await soon()
    for (const nth of [4, 3, 2]) waits.get(nth)!()
    expect((await answered).at(-1)).toMatchObject({ vectors: numbers(8) })
  })

  it('are sent eight at a time, after a first one', async () => {
    const { seen, run } = scene(
      60,
      async (_, nth) => {
        await soon()
        if (nth === 1) expect(seen.sent).toHaveLength(1)
        return {}
      },
      { batch: { inputs: 1 } },
    )
    expect((await run()).at(-1)).toMatchObject({ vectors: numbers(60) })
    expect(seen.mostOpen).toBe(8)
  })

  it('are sent one after the other where simultaneous requests are limited, because the attempt has one place', async () => {
    const limits = [{ subject: 'provider:acme', concurrentRequests: 3 }]
    const slowly = async (): Promise<Reply> => (await soon(), {})
    const { seen, record, run } = scene(6, slowly, { endpoint: { limits } })
    await run()
    expect([seen.mostOpen, record.requests]).toEqual([1, 3])
    const own = scene(6, slowly, { endpoint: { limits }, isByok: true })
    await own.run()
    expect(own.seen.mostOpen).toBe(2)
  })

  it('are estimated where a part was not counted', async () => {
    const { run } = scene(4, (_, nth) => (nth === 1 ? { tokens: 7 } : {}))
    const usage = (await run()).at(-1) as Extract<ModelEvent, { readonly type: 'response-end' }>
    expect(usage.usage).toMatchObject({ estimated: true })
    expect(usage.usage!.inputTokens).toBeGreaterThan(7)
  })

  it('have all their media fetched before anything is sent', async () => {
    const loads: (readonly string[])[] = []
    const { seen, record, failing } = scene(4, () => ({}), {
      dialect: { mediaUrls: (request) => textsOf(request).map((text) => `https://acme.example/${text}`) },
      load: async (urls) => {
        loads.push(urls)
        throw new Error('no')
      },
    })
    await failing()
    expect(loads).toEqual([['0', '1', '2', '3'].map((text) => `https://acme.example/${text}`)])
    expect(seen.sent).toEqual([])
    expect(record.requests).toBe(0)
  })
})

describe('a batch that fails', () => {
  it('fails the attempt, aborts the others, and is reported', async () => {
    const { seen, record, failing } = scene(40, (_, nth) => (nth === 1 ? { tokens: 3 } : nth === 5 ? { status: 401 } : never))
    expect(await failing()).toMatchObject({ errorType: 'authentication' })
    expect(seen.sent.length).toBeLessThanOrEqual(9)
    expect(seen.open).toBe(0)
    expect(seen.cancelled).toBe(seen.sent.length - 2)
    expect(record).toMatchObject({ status: 401, error: { type: 'authentication' }, counted: { inputTokens: 3 } })
    expect(record.counted).not.toHaveProperty('requests')
    expect(record).not.toHaveProperty('abandoned')
  })

  it('temporarily is sent once more, because the others would be paid for again', async () => {
    const { seen, record, run } = scene(6, (_, nth) => (nth === 2 ? { status: 503 } : {}))
    expect((await run()).at(-1)).toMatchObject({ vectors: numbers(6) })
    expect(seen.sent.filter(([first]) => first === '2')).toHaveLength(2)
    expect(record).toMatchObject({ status: 200, requests: 4 })
    expect(record).not.toHaveProperty('error')
  })

  it.each<readonly [string, Answer, Scene]>([
    ['twice', (texts) => (texts[0] === '2' ? { status: 503 } : {}), {}],
    ['where operators want no second try', (_, nth) => (nth === 2 ? { status: 503 } : {}), { retries: false }],
  ])('%s fails the attempt', async (_, answer, more) => {
    expect(await scene(6, answer, more).failing()).toMatchObject({ errorType: 'provider_overloaded' })
  })

  it('before any succeeded is a failure of the endpoint, and the rest is not sent', async () => {
    const { seen, failing } = scene(40, () => ({ status: 503 }))
    expect(await failing()).toMatchObject({ errorType: 'provider_overloaded' })
    expect(seen.sent).toHaveLength(1)
  })

  it('by exceeding the total limit has used up the time of all', async () => {
    const { failing } = scene(4, (_, nth) => (nth === 1 ? {} : never), { limits: { total: 50 } })
    expect(await failing()).toMatchObject({ errorType: 'timeout', details: { metadata: { limit: 'total' } } })
  })
})

describe('bounds', () => {
  it('apply to requests in flight: fewer are sent at a time for long vectors', async () => {
    const vector = Array.from({ length: 1_000_000 }, () => 0)
    const { seen, run } = scene(7, (texts) => ({ vectors: texts.map(() => vector) }), { batch: { inputs: 1 } })
    await run()
    expect(seen.mostOpen).toBe(4)
  })

  it('apply to all vectors together, whose size is known from the first', async () => {
    const vector = Array.from({ length: 1_000_000 }, () => 0)
    const { seen, failing } = scene(10, (texts) => ({ vectors: texts.map(() => vector) }), { batch: { inputs: 1 } })
    expect(await failing()).toMatchObject({ errorType: 'payload_too_large', failover: 'never', details: { path: 'input' } })
    expect(seen.sent).toHaveLength(1)
  })
})

describe('a caller who leaves', () => {
  it('aborts all requests in flight, and what was made by then is accounted for', async () => {
    const gone = new AbortController()
    const { seen, record, failing } = scene(40, (_, nth) => (nth === 1 ? { tokens: 3 } : never), { signal: gone.signal })
    const failed = failing()
    while (seen.sent.length < 9) await soon()
    gone.abort()
    expect((await failed).message).toBe('The caller went away')
    expect([seen.open, seen.sent.length]).toEqual([0, 9])
    expect(record).toMatchObject({ abandoned: true, counted: { inputTokens: 3 } })
    expect(record.firstTokenMs).toBeGreaterThanOrEqual(0)
  })
})
