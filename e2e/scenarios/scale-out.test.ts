import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startFakeDestination, type FakeDestination } from '../../src/testing/fake-destination.ts'
import { startBalancer, type BalancedCall, type Balancer } from '../../src/testing/load-balancer.ts'
import { createNetwork, type Network } from '../../src/testing/network.ts'
import { findTestPostgres, type TestSchema } from '../../src/testing/postgres.ts'
import { startGatewayProcess, type GatewayProcess } from '../../src/testing/processes.ts'
import { generationSpans } from '../../src/testing/received-spans.ts'
import { findTestRedis } from '../../src/testing/redis.ts'
import { TEST_KEY, TEST_MANAGEMENT_KEY } from '../../src/testing/start-gateway.ts'
import { verifies } from '../requirements.ts'

/** Two gateways and one worker, as real processes, on one PostgreSQL and one Redis, each behind a network that can fail. */
const WHAT = 'several processes on PostgreSQL and Redis'
const postgres = await findTestPostgres(WHAT)
const redis = await findTestRedis(WHAT)
const SECRET_KEY = Buffer.alloc(32, 9).toString('base64')

describe.skipIf(!postgres.available || !redis.available)('two gateways and a worker', { timeout: 180_000 }, () => {
  if (!postgres.available || !redis.available) return
  let directory: string
  let schema: TestSchema
  let database: Network
  let shared: Network
  let namespace: string
  let receiver: FakeDestination
  let balancer: Balancer | undefined
  let forwardedFrom: ReadonlySet<string>
  const processes: GatewayProcess[] = []

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'signalbox-scale-'))
    schema = await postgres.createSchema()
    database = await createNetwork(schema.url)
    shared = await createNetwork(redis.url)
    namespace = redis.namespace()
    receiver = await startFakeDestination()
    forwardedFrom = new Set()
  })
  afterEach(async () => {
    await balancer?.stop()
    balancer = undefined
    await Promise.all(processes.splice(0).map((each) => each.end('SIGKILL')))
    await Promise.all([database.close(), shared.close(), receiver.close()])
    await schema.drop()
    await rm(directory, { recursive: true, force: true })
  })

  async function start(role: 'gateway' | 'worker' | 'all', name: string = role): Promise<GatewayProcess> {
    const home = join(directory, name)
    await mkdir(home, { recursive: true })
    const config = { server: { shutdown_delay: '600ms', shutdown_grace: '10s' }, storage: { redis_namespace: namespace } }
    await writeFile(join(home, 'signalbox.json'), JSON.stringify(config))
    const started = await startGatewayProcess({
      directory: home,
      args: ['--role', role],
      env: { SIGNALBOX_DATABASE_URL: database.url.reveal(), SIGNALBOX_REDIS_URL: shared.url.reveal(), SIGNALBOX_SECRET_KEY: SECRET_KEY },
    })
    processes.push(started)
    return started
  }
  const load = (targets: readonly GatewayProcess[]): Balancer =>
    (balancer = startBalancer({
      targets: targets.map(({ url }) => url),
      key: TEST_KEY,
      parallel: 8,
      body: (n) => ({ model: 'demo/echo', input: `call ${n}`, stream: n % 3 === 0 }),
    }))
  const failed = (calls: readonly BalancedCall[]): readonly BalancedCall[] =>
    calls.filter(({ status, text }) => status !== 200 || !/"status":"completed"|response\.completed/.test(text))
  const api = (of: GatewayProcess, method: string, path: string, body?: object): Promise<Response> =>
    fetch(`${of.url}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${TEST_MANAGEMENT_KEY}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  const ask = (of: GatewayProcess, key = TEST_KEY): Promise<Response> =>
    fetch(`${of.url}/api/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'demo/echo', input: 'hello' }),
    })
  const readyz = async (of: GatewayProcess): Promise<unknown> => {
    const answer = await fetch(`${of.url}/readyz`)
    return { http: answer.status, ...((await answer.json()) as object) }
  }
  /** Registers a destination and waits until all of these gateways forward to it; it ignores earlier calls. */
  const addWebhook = async (...gateways: readonly [GatewayProcess, ...GatewayProcess[]]): Promise<void> => {
    const made = await api(gateways[0], 'POST', '/observability/destinations', {
      type: 'webhook',
      name: 'all',
      config: { url: `${receiver.url}/hook` },
    })
    expect(made.status).toBe(201)
    for (const gateway of gateways) {
      const forwards = async (): Promise<boolean> => {
        const id = (await ask(gateway)).headers.get('x-generation-id') ?? ''
        return (
          (await expect
            .poll(() => deliveredIds().has(id), { timeout: 3_000 })
            .toBe(true)
            .catch(() => 'late')) !== 'late'
        )
      }
      await expect.poll(forwards, { timeout: 15_000 }).toBe(true)
    }
    forwardedFrom = new Set(await recordedIds())
  }
  async function recordedIds(): Promise<readonly string[]> {
    const client = new pg.Client({ connectionString: schema.url.reveal() })
    await client.connect()
    try {
      return (await client.query<{ id: string }>('select id from generations')).rows.map(({ id }) => id)
    } finally {
      await client.end()
    }
  }
  const deliveredIds = (): ReadonlySet<string> => new Set(generationSpans(receiver.accepted).map(({ generationId }) => generationId))
  const missing = async (): Promise<number> => {
    const delivered = deliveredIds()
    return (await recordedIds()).filter((id) => !delivered.has(id) && !forwardedFrom.has(id)).length
  }
  const calls = (at: number) => (): boolean => (balancer?.calls.length ?? 0) >= at

  it('share the work by role: gateways serve and record, the worker delivers and serves nobody', async () => {
    const [a, b, worker] = await Promise.all([start('gateway', 'a'), start('gateway', 'b'), start('worker')])
    await addWebhook(a, b)
    expect((await ask(worker)).status).toBe(404)
    expect((await api(worker, 'GET', '/keys')).status).toBe(404)
    expect(await readyz(worker)).toEqual({ http: 200, status: 'ready' })
    expect(await (await fetch(`${worker.url}/metrics`)).text()).toMatch(/gateway_delivery_total\{type="webhook",outcome="delivered"\} [1-9]/)
    expect(await (await fetch(`${a.url}/metrics`)).text()).not.toMatch(/outcome="delivered"\} [1-9]/)
  })

  it(verifies('S7-revocation', 'know changed keys and destinations at once'), async () => {
    const [a, b] = await Promise.all([start('gateway', 'a'), start('gateway', 'b'), start('worker')])
    const made = (await (await api(a, 'POST', '/keys', { name: 'short-lived' })).json()) as { key: string; data: { hash: string } }
    await expect.poll(async () => (await ask(b, made.key)).status, { timeout: 5_000, interval: 20 }).toBe(200)
    const revoked = performance.now()
    await api(a, 'DELETE', `/keys/${made.data.hash}`)
    await expect.poll(async () => (await ask(b, made.key)).status, { timeout: 5_000, interval: 10 }).toBe(401)
    expect(performance.now() - revoked).toBeLessThan(5_000)
    await addWebhook(b, a)
  })

  it(verifies('S7-rolling', 'are replaced one after the other without a failed request or a lost record'), async () => {
    const running = [await start('gateway', 'a'), await start('gateway', 'b'), await start('worker')]
    await addWebhook(running[0]!, running[1]!)
    const { calls: made } = load(running.slice(0, 2))
    for (const [i, role] of (['gateway', 'gateway', 'worker'] as const).entries()) {
      await expect.poll(calls(made.length + 30), { timeout: 20_000 }).toBe(true)
      const old = running[i]!
      expect(await old.end('SIGTERM')).toBe(0)
      running[i] = await start(role, `${role}-${i}-next`)
      if (role === 'gateway') balancer?.replace(i, running[i].url)
    }
    await expect.poll(calls(made.length + 30), { timeout: 20_000 }).toBe(true)
    await balancer?.stop()
    expect(failed(made)).toEqual([])
    await expect.poll(async () => (await recordedIds()).length - forwardedFrom.size, { timeout: 10_000 }).toBe(made.length)
    await expect.poll(missing, { timeout: 30_000, interval: 250 }).toBe(0)
  })

  it.each(['gateway', 'worker'] as const)(
    verifies('S7-kill', 'continue when a %s is killed: no other process fails a request, and what it was delivering arrives'),
    async (victimRole) => {
      const [a, b, worker, spare] = await Promise.all([start('gateway', 'a'), start('gateway', 'b'), start('worker'), start('worker', 'spare')])
      await addWebhook(a, b)
      // Slow enough that batches are in flight when the process dies.
      receiver.react = () => ({ kind: 'answer', status: 200, afterMs: 300 })
      const { calls: made } = load([a, b])
      await expect.poll(calls(100), { timeout: 20_000 }).toBe(true)
      await expect.poll(() => receiver.requests.length, { timeout: 10_000 }).toBeGreaterThan(0)
      const victim = victimRole === 'gateway' ? b : worker
      const before = made.length
      await victim.end('SIGKILL')
      await expect.poll(calls(before + 100), { timeout: 20_000 }).toBe(true)
      await balancer?.stop()
      expect(failed(made).filter(({ target }) => target !== victim.url)).toEqual([])
      expect(await readyz(spare)).toMatchObject({ http: 200 })
      receiver.react = () => ({ kind: 'answer', status: 200 })
      await expect.poll(missing, { timeout: 60_000, interval: 500 }).toBe(0)
    },
  )

  it(verifies('S7-outage', 'lose database and Redis in the middle: no inference fails, readyz says so, records and deliveries follow'), async () => {
    const [a, b, worker] = await Promise.all([start('gateway', 'a'), start('gateway', 'b'), start('worker')])
    await addWebhook(a, b)
    const { calls: made } = load([a, b])
    await expect.poll(calls(30), { timeout: 20_000 }).toBe(true)
    database.cut()
    shared.cut()
    await expect
      .poll(async () => [await readyz(a), await readyz(worker)], { timeout: 15_000 })
      .toEqual([
        { http: 200, status: 'ready', degraded: ['database', 'shared state'] },
        { http: 503, status: 'not_ready', reason: 'the database does not answer', degraded: ['database', 'shared state'] },
      ])
    await expect.poll(calls(made.length + 60), { timeout: 20_000 }).toBe(true)
    database.repair()
    shared.repair()
    await expect
      .poll(async () => [await readyz(a), await readyz(worker)], { timeout: 15_000 })
      .toEqual([
        { http: 200, status: 'ready' },
        { http: 200, status: 'ready' },
      ])
    await balancer?.stop()
    expect(failed(made)).toEqual([])
    await expect.poll(async () => (await recordedIds()).length - forwardedFrom.size, { timeout: 20_000 }).toBe(made.length)
    await expect.poll(missing, { timeout: 30_000, interval: 250 }).toBe(0)
  })

  it(verifies('S7-outage', 'start while database and Redis are away: known keys are served'), async () => {
    const before = await start('gateway', 'a')
    const made = (await (await api(before, 'POST', '/keys', { name: 'known' })).json()) as { key: string }
    await expect.poll(async () => (await ask(before, made.key)).status).toBe(200)
    await before.end('SIGTERM')
    database.cut()
    shared.cut()
    const a = await start('gateway', 'a')
    expect(await readyz(a)).toMatchObject({ http: 200, degraded: ['database', 'shared state'] })
    expect((await ask(a)).status).toBe(200)
    expect((await ask(a, made.key)).status).toBe(200)
    database.repair()
    shared.repair()
    await expect.poll(() => readyz(a), { timeout: 15_000 }).toEqual({ http: 200, status: 'ready' })
    await expect.poll(async () => (await recordedIds()).length, { timeout: 15_000 }).toBe(3)
  })
})
