import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Secret } from '../lib/secret.ts'
import { findTestPostgres, type TestSchema } from '../testing/postgres.ts'
import { sampleGeneration, sampleKey } from '../testing/store-contract.ts'
import { createStore } from './index.ts'

/** A network between the store and the database that can be cut, silenced and repaired. */
interface Network {
  readonly url: Secret
  /** Bytes no longer pass, connections stay. */
  silence(): void
  cut(): void
  repair(): void
  close(): Promise<void>
}

async function createNetwork(target: Secret): Promise<Network> {
  const url = new URL(target.reveal())
  let state: 'open' | 'silent' | 'cut' = 'open'
  const sockets = new Set<Socket>()
  const server: Server = createServer((inbound) => {
    if (state === 'cut') {
      inbound.destroy()
      return
    }
    const outbound = connect(Number(url.port || 5432), url.hostname)
    for (const [from, to] of [
      [inbound, outbound],
      [outbound, inbound],
    ] as const) {
      sockets.add(from)
      from.on('data', (bytes) => state === 'open' && to.write(bytes))
      from.on('error', () => undefined)
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const through = new URL(url)
  through.hostname = '127.0.0.1'
  through.port = String((server.address() as AddressInfo).port)
  const destroyAll = () => sockets.forEach((socket) => socket.destroy())
  return {
    url: new Secret(through.toString()),
    silence: () => void (state = 'silent'),
    cut: () => {
      state = 'cut'
      destroyAll()
    },
    repair: () => void (state = 'open'),
    close: async () => {
      destroyAll()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const postgres = await findTestPostgres('the faults of a PostgreSQL database')
describe.skipIf(!postgres.available)('a store whose PostgreSQL', () => {
  if (!postgres.available) return
  let schema: TestSchema
  let network: Network
  let store: Awaited<ReturnType<typeof createStore>>
  beforeEach(async () => {
    schema = await postgres.createSchema()
    network = await createNetwork(schema.url)
    store = await createStore({ url: network.url, maxConnections: 2, connectLimitMs: 200, statementLimitMs: 200 })
  })
  afterEach(async () => {
    network.cut()
    await store.close()
    await network.close()
    await schema.drop()
  })

  it('is away at the start opens all the same, and works once it is there', async () => {
    network.cut()
    const started = performance.now()
    await expect(store.migrate()).rejects.toMatchObject({ errorType: 'provider_overloaded', status: 503 })
    expect(performance.now() - started).toBeLessThan(2_000)
    network.repair()
    await store.migrate()
    expect(await store.version()).toBe(1)
  })

  it('is cut off in the middle fails what runs, and works again at once when it is back', async () => {
    await store.migrate()
    await store.workspaces.default()
    network.cut()
    await expect(store.keys.list()).rejects.toMatchObject({ errorType: 'provider_overloaded' })
    network.repair()
    await store.keys.insert(sampleKey('h1'))
    expect(await store.keys.list()).toHaveLength(1)
  })

  it('falls silent keeps nobody waiting beyond the limits, and leaves no stuck connection in the pool', async () => {
    await store.migrate()
    await store.workspaces.default()
    network.silence()
    const started = performance.now()
    const results = await Promise.allSettled([
      store.ping(),
      store.keys.list(),
      store.generations.insertMany([{ generation: sampleGeneration('gen-1') }]),
    ])
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    expect(performance.now() - started).toBeLessThan(6_000)
    network.repair()
    await store.generations.insertMany([{ generation: sampleGeneration('gen-1') }])
    expect(await store.generations.get('gen-1')).toBeDefined()
  })

  it('refuses the password never shows it', async () => {
    const url = new URL(schema.url.reveal())
    url.username = 'nobody_of_that_name'
    url.password = 'canary-password'
    const refused = await createStore({ url: new Secret(url.toString()), connectLimitMs: 2_000 })
    const error: unknown = await refused.ping().catch((reason: unknown) => reason)
    await refused.close()
    expect(error).toMatchObject({ errorType: 'provider_overloaded' })
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain('canary-password')
  })

  it('refuses a row never shows the row', async () => {
    await store.migrate()
    const broken = sampleGeneration('gen-1', { status: null as never, metadata: { text: 'canary-text' } })
    const error: unknown = await store.generations.insertMany([{ generation: broken }]).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ errorType: 'server' })
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain('canary-text')
  })
})
