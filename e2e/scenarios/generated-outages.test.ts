import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, afterEach, beforeEach, describe, expect, it, onTestFailed } from 'vitest'
import { Secret } from '../../src/lib/secret.ts'
import { createCluster, type Cluster, type Place } from '../../src/testing/cluster.ts'
import { startFakeDestination, type FakeDestination } from '../../src/testing/fake-destination.ts'
import { CHAT_USAGE, chatText, startFakeUpstream, stream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { startBalancer, type BalancedCall, type Balancer } from '../../src/testing/load-balancer.ts'
import { findTestPostgres, type TestSchema } from '../../src/testing/postgres.ts'
import { generationSpans } from '../../src/testing/received-spans.ts'
import { startPrivateRedis } from '../../src/testing/redis.ts'
import { seeded } from '../../src/testing/replay-server.ts'
import { chatConfig, TEST_MANAGEMENT_KEY } from '../../src/testing/start-gateway.ts'
import { createMisfortunes, type Misfortunes, type Severed } from '../misfortunes.ts'
import { verifies } from '../requirements.ts'

/** Two gateways and two workers, as real processes under load, suffer generated failures; compared with `docs/guides/several-processes.md`. */
const WHAT = 'generated outages of several processes'
const postgres = await findTestPostgres(WHAT)
const redis = await startPrivateRedis(WHAT)

/** Other seeds: SIGNALBOX_TEST_OUTAGE_SEEDS=1,2,3. */
const SEEDS = (process.env['SIGNALBOX_TEST_OUTAGE_SEEDS'] ?? '15').split(',').map(Number)
const MISFORTUNES = 12
const CALL_USD = (8 * 1 + 3 * 0.1 + CHAT_USAGE.completion_tokens * 2) / 1e6
/** A killed process loses what it had not written: tenths of a second if processors are busy, and everything that an unreachable database could not take. */
const UNWRITTEN_MS = 3_000
/** How long a dead connection is considered alive. */
const BELIEVED_MS = 20_000

afterAll(async () => {
  await redis?.close()
})

describe.skipIf(!postgres.available || redis === undefined)('two gateways and two workers', { timeout: 300_000 }, () => {
  if (!postgres.available || redis === undefined) return
  let schema: TestSchema
  let cluster: Cluster
  let upstream: FakeUpstream
  let receiver: FakeDestination
  let balancer: Balancer | undefined
  let database: pg.Client

  beforeEach(async () => {
    schema = await postgres.createSchema()
    upstream = await startFakeUpstream(stream(chatText('one ', 'two ', 'three'), { everyMs: 15 }))
    receiver = await startFakeDestination()
    cluster = await createCluster({
      databaseUrl: schema.url,
      redisUrl: new Secret(redis.url),
      places: [
        { role: 'gateway', name: 'a' },
        { role: 'gateway', name: 'b' },
        { role: 'worker', name: 'c' },
        { role: 'worker', name: 'd' },
      ],
      config: chatConfig([upstream.url], { server: { shutdown_delay: '600ms', shutdown_grace: '10s' }, routing: { cooldown: false } }),
    })
    database = new pg.Client({ connectionString: schema.url.reveal() })
    await database.connect()
    await Promise.all(cluster.places.map((place) => cluster.start(place)))
  })
  afterEach(async () => {
    await balancer?.stop()
    balancer = undefined
    await cluster.close()
    await Promise.all([receiver.close(), upstream.close(), database.end()])
    await schema.drop()
  })

  interface Answer {
    /** 0 means no answer. */
    readonly status: number
    readonly body: { readonly [field: string]: unknown }
  }
  async function send(to: Place, method: string, path: string, key: string, body?: object): Promise<Answer> {
    try {
      const response = await fetch(`${to.process?.url}${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(20_000),
      })
      return { status: response.status, body: (await response.json()) as Answer['body'] }
    } catch {
      return { status: 0, body: {} }
    }
  }
  const manage = (through: Place, method: string, path: string, body?: object): Promise<Answer> =>
    send(through, method, `/api/v1${path}`, TEST_MANAGEMENT_KEY, body)
  const ask = async (at: Place, key: string): Promise<number> =>
    (await send(at, 'POST', '/api/v1/responses', key, { model: 'acme/small', input: 'hello' })).status
  const readyz = async (at: Place): Promise<object> => {
    const { status, body } = await send(at, 'GET', '/readyz', '')
    return { http: status, ...body }
  }

  interface TestKey {
    readonly hash: string
    readonly key: string
  }
  async function createKey(through: Place, limits: object = {}): Promise<TestKey | number> {
    const { status, body } = await manage(through, 'POST', '/keys', { name: 'caller', ...limits })
    return status === 201 ? { hash: (body['data'] as { hash: string }).hash, key: body['key'] as string } : status
  }

  const deliveredIds = (): ReadonlySet<string> => new Set(generationSpans(receiver.accepted).map(({ generationId }) => generationId))
  async function recordedIds(): Promise<ReadonlySet<string>> {
    return new Set((await database.query<{ id: string }>('select id from generations')).rows.map(({ id }) => id))
  }
  /** Registers a destination and waits until both gateways forward to it. */
  async function addWebhook(gateways: readonly Place[], key: string): Promise<string> {
    const { body } = await manage(gateways[0]!, 'POST', '/observability/destinations', {
      type: 'webhook',
      name: 'all',
      config: { url: `${receiver.url}/hook` },
    })
    for (const gateway of gateways) {
      const forwards = async (): Promise<boolean> => {
        const before = deliveredIds().size
        await ask(gateway, key)
        await sleep(1_000)
        return deliveredIds().size > before
      }
      await expect.poll(forwards, { timeout: 15_000 }).toBe(true)
    }
    return (body['data'] as { id: string }).id
  }

  const idOf = ({ text }: BalancedCall): string => /"id":"(gen-[^"]+)"/.exec(text)?.[1] ?? ''
  const isServed = ({ status, text }: BalancedCall): boolean => status === 200 && /"status":"completed"|response\.completed/.test(text)
  /** Calls that were in flight in a process when it was killed, or that arrived before anybody could know. */
  const isVictim = ({ since, at }: BalancedCall, places: readonly Place[]): boolean =>
    places.some(({ killedAt }) => killedAt.some((t) => since <= t + 1_000 && at >= t - 10))
  /** Answered, but not yet written anywhere when its process was killed. */
  function isUnwritten({ at }: BalancedCall, places: readonly Place[], severed: readonly Severed[]): boolean {
    const unwrittenFrom = (place: Place, killed: number): number => {
      const away = severed.filter(
        (one) => one.place === place && one.from <= killed && one.to + (one.silently ? BELIEVED_MS : UNWRITTEN_MS) >= killed,
      )
      return Math.min(killed, ...away.map(({ from }) => from)) - UNWRITTEN_MS
    }
    return places.some((place) => place.killedAt.some((killed) => at >= unwrittenFrom(place, killed) && at <= killed + 1_000))
  }

  it.each(SEEDS)(
    verifies('S7-kill', 'S7-outage', 'S7-rolling', 'serve everybody, and record, count and deliver everything (schedule %i)'),
    async (seed) => {
      const random = seeded(seed)
      const gateways = cluster.places.filter(({ role }) => role === 'gateway')
      const caller = (await createKey(gateways[0]!, { limit: 1_000 })) as TestKey
      for (const gateway of gateways) await expect.poll(() => ask(gateway, caller.key), { timeout: 5_000 }).toBe(200)
      const destination = await addWebhook(gateways, caller.key)
      const earlier = await recordedIds()
      balancer = startBalancer({
        targets: gateways.map((place) => place.process!.url),
        key: caller.key,
        parallel: 8,
        body: (n) => ({ model: 'acme/small', input: `call ${n}`, stream: n % 2 === 0 }),
      })
      const { calls } = balancer

      const [kept, revoked]: [TestKey[], TestKey[]] = [[], []]
      const answers = new Set<number>()
      const change = async (through: Place): Promise<void> => {
        const oldest = kept[0]
        if (kept.length > 1 && oldest !== undefined) {
          const { status } = await manage(through, 'DELETE', `/keys/${oldest.hash}`)
          answers.add(status)
          // Without an answer it is unknown whether this happened.
          if (status !== 503) kept.shift()
          if (status === 200) revoked.push(oldest)
        }
        const made = await createKey(through)
        if (typeof made === 'number') answers.add(made)
        else kept.push(made)
        answers.add((await manage(through, 'PATCH', `/observability/destinations/${destination}`, { name: `all ${kept.length}` })).status)
      }
      const misfortunes: Misfortunes = createMisfortunes({
        cluster,
        redis,
        receiver,
        random,
        change,
        onRestart: (place) => {
          const i = gateways.indexOf(place)
          if (i >= 0) balancer?.replace(i, place.process!.url)
        },
      })
      onTestFailed(() => console.warn(misfortunes.story.join('\n')))
      for (let n = 0; n < MISFORTUNES; n++) {
        await sleep(200 + random() * 1_800)
        misfortunes.next()
      }
      await misfortunes.over()
      for (const place of cluster.places) {
        await expect.poll(() => readyz(place), { timeout: 30_000, message: place.name }).toEqual({ http: 200, status: 'ready' })
      }
      const before = calls.length
      await expect.poll(() => calls.length - before, { timeout: 20_000 }).toBeGreaterThan(40)
      await balancer.stop()

      const unserved = calls.filter((call) => !isServed(call))
      const refused = unserved.filter((call) => !isVictim(call, gateways))
      expect(refused.map(({ status, at, text }) => ({ status, at, text: text.slice(0, 300) }))).toEqual([])
      expect([...answers].filter((status) => ![0, 200, 503].includes(status))).toEqual([])

      const served = calls.filter(isServed)
      expect(new Set(served.map(idOf)).size).toBe(served.length)
      const unrecorded = async (): Promise<number> => {
        const recorded = await recordedIds()
        return served.filter((call) => !recorded.has(idOf(call)) && !isUnwritten(call, gateways, misfortunes.severed)).length
      }
      await expect.poll(unrecorded, { timeout: 30_000, interval: 500 }).toBe(0)

      const ids = [...(await recordedIds())].filter((id) => !earlier.has(id))
      const undelivered = (): number => {
        const delivered = deliveredIds()
        return ids.filter((id) => !delivered.has(id)).length
      }
      await expect.poll(undelivered, { timeout: 90_000, interval: 500 }).toBe(0)
      const queued = async (): Promise<unknown> => (await database.query('select generation_id, reason, last_error from outbox_deliveries')).rows
      await expect.poll(queued, { timeout: 60_000, interval: 500 }).toEqual([])

      const sums = 'select sum(cost) as usd, count(*)::int as calls from generations where key_hash = $1'
      const spent = (await database.query<{ usd: number; calls: number }>(sums, [caller.hash])).rows[0]!
      expect(spent.usd).toBeCloseTo(spent.calls * CALL_USD, 9)
      for (const gateway of gateways) {
        const usage = async (): Promise<unknown> => ((await manage(gateway, 'GET', `/keys/${caller.hash}`)).body['data'] as { usage: number }).usage
        await expect.poll(usage, { timeout: 30_000, interval: 500 }).toBeCloseTo(spent.usd, 9)
        for (const { key } of kept) expect(await ask(gateway, key)).toBe(200)
        for (const { key } of revoked) expect(await ask(gateway, key)).toBe(401)
      }
      const written = cluster.places.flatMap(({ outputs, process: running }) => [...outputs, running?.output() ?? ''])
      expect(written.filter((text) => /a bug|TypeError/.test(text))).toEqual([])
    },
  )
})
