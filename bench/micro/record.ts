/**
 * What recording a finished generation costs the gateway's main thread: writing it to SQLite itself, or handing it to the delivery thread, without and
 * with a destination. Figures are CPU microseconds of that thread per record, the median of interleaved rounds.
 *
 *   node bench/micro/record.ts
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEncryption } from '../../src/accounts/encryption.ts'
import { loadConfig } from '../../src/config/load.ts'
import { createDeliveryHost } from '../../src/wiring/delivery-host.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { silentLogger } from '../../src/lib/logger.ts'
import { createStore } from '../../src/store/index.ts'
import { createDeliveryMetrics } from '../../src/telemetry/delivery-metrics.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { sampleContent, sampleDestination, sampleGeneration } from '../../src/testing/sample-records.ts'

const BATCH = 100
const BATCHES = 40
const ROUNDS = 5

const directory = await mkdtemp(join(tmpdir(), 'signalbox-bench-'))
const databaseFile = join(directory, 'signalbox.db')
const store = await createStore({ path: databaseFile })
await store.migrate()
await store.workspaces.default()
const secretKey = Buffer.alloc(32, 1)
const config = await loadConfig({ env: {}, cwd: directory, overrides: { dataDir: directory } })
const host = createDeliveryHost({
  config,
  databaseFile,
  secretKey,
  dataDirectory: directory,
  destinations: store.destinations,
  keepsContent: () => false,
  metrics: createDeliveryMetrics(createMetrics().registry),
  logger: silentLogger,
  clock: systemClock,
})
host.start()

const content = { ...sampleContent, instructions: 'Answer as briefly as the question allows. '.repeat(48) }
let next = 0
const batch = (withContent: boolean) =>
  Array.from({ length: BATCH }, () => ({ generation: sampleGeneration(`gen-${next++}`), ...(withContent ? { content } : {}) }))

async function measure(insert: (records: ReturnType<typeof batch>) => Promise<void>, withContent: boolean): Promise<number> {
  const batches = Array.from({ length: BATCHES }, () => batch(withContent))
  const before = process.threadCpuUsage()
  for (const records of batches) await insert(records)
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / (BATCH * BATCHES)
}

const handOver = (records: ReturnType<typeof batch>): Promise<void> => host.insertMany(records.map((each) => host.packing.pack(each)))
const median = (values: readonly number[]): string => [...values].sort((a, b) => a - b)[values.length >> 1]!.toFixed(1)
const results = { own: [] as number[], handed: [] as number[], delivered: [] as number[] }
while ((await host.insertMany([]).catch(() => 'waiting')) === 'waiting') await new Promise((resolve) => setTimeout(resolve, 50))
for (let round = 0; round < ROUNDS; round++) {
  results.own.push(await measure((records) => store.generations.insertMany(records), false))
  results.handed.push(await measure(handOver, false))
}
const encryption = createEncryption({ current: secretKey })
await host.destinations.insert(sampleDestination('d1', { paused: true, config: { url: 'http://127.0.0.1:9/hook', method: 'POST' } }), 5)
for (let round = 0; round < ROUNDS; round++) results.delivered.push(await measure(handOver, true))
const waiting = (await store.outbox(encryption).status('d1')).queued
console.log(`written by the gateway's thread: ${median(results.own)} us, handed over: ${median(results.handed)} us`)
console.log(`handed over with 2 KB of content for one destination: ${median(results.delivered)} us (${waiting} entered)`)
await host.close()
await store.close()
await rm(directory, { recursive: true })
