/**
 * How fast the delivery thread empties a queue into an OTLP receiver: generations with 2 KB of content, wall-clock time and CPU time of the thread.
 *
 *   node bench/micro/deliver.ts [records]
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '../../src/config/load.ts'
import { DEFAULT_WORKSPACE_ID } from '../../src/core/store.ts'
import { createDeliveryHost, threads } from '../../src/wiring/delivery-host.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { silentLogger } from '../../src/lib/logger.ts'
import { createStore } from '../../src/store/index.ts'
import { createDeliveryMetrics } from '../../src/telemetry/delivery-metrics.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { sampleContent, sampleDestination, sampleGeneration } from '../../src/testing/sample-records.ts'

const RECORDS = Number(process.argv[2] ?? 20_000)
const BATCH = 200

let bytes = 0
let received = 0
const arrived = Promise.withResolvers<void>()
let spans = 0
/** Occurs once in each generation; `SPAN_MARK` once in each span. */
const MARK = Buffer.from('"gateway.trace.id"')
const SPAN_MARK = Buffer.from('"spanId"')
const count = (body: Buffer, mark: Buffer): number => {
  let found = 0
  for (let at = body.indexOf(mark); at >= 0; at = body.indexOf(mark, at + mark.length)) found++
  return found
}
const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const body = Buffer.concat(chunks)
    bytes += body.length
    received += count(body, MARK)
    spans += count(body, SPAN_MARK)
    if (received >= RECORDS) arrived.resolve()
    response.end('{}')
  })
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`

const directory = await mkdtemp(join(tmpdir(), 'signalbox-bench-'))
const databaseFile = join(directory, 'signalbox.db')
const store = await createStore({ path: databaseFile })
await store.migrate()
await store.workspaces.default()
const host = createDeliveryHost({
  config: await loadConfig({ env: {}, cwd: directory, overrides: { dataDir: directory } }),
  databaseFile,
  secretKey: Buffer.alloc(32, 1),
  dataDirectory: directory,
  destinations: store.destinations,
  keepsContent: () => false,
  metrics: createDeliveryMetrics(createMetrics().registry),
  logger: silentLogger,
  clock: systemClock,
})
host.start()
while ((await host.insertMany([]).catch(() => 'waiting')) === 'waiting') await new Promise((resolve) => setTimeout(resolve, 50))
const [thread] = threads
const cpu = async (): Promise<number> => {
  const { user = 0, system = 0 } = (await thread?.cpuUsage()) ?? {}
  return (user + system) / 1e6
}

await host.destinations.insert(sampleDestination('d1', { type: 'otel-collector', paused: true, config: { endpoint: url } }), 5)
/** 2 KB that compress like prose, to a bit less than half: a repeated sentence would make compression look too good. */
function prose(seed: number): string {
  let state = seed * 2_654_435_761
  const next = (): number => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0)
  let out = ''
  while (out.length < 2_000) out += `${SYLLABLES[next() % 24]!}${SYLLABLES[(next() >>> 9) % 24]!}${next() % 7 === 0 ? '. ' : ' '}`
  return out.slice(0, 2_000)
}
const SYLLABLES = 'an be co del en for ga he in jo ku la mi not or per qui re sta to un ver wo ya'.split(' ')
// Recent ones, because anything older than a week is no longer sent.
const now = Date.now()
const record = (i: number) => ({
  generation: sampleGeneration(`gen-${i}`, { startedAt: now, endedAt: now + 900 }),
  content: { ...sampleContent, instructions: prose(i) },
})
let started = performance.now()
let before = await cpu()
for (let done = 0; done < RECORDS; done += BATCH) await host.insertMany(Array.from({ length: BATCH }, (_, i) => host.packing.pack(record(done + i))))
const report = async (what: string): Promise<void> => {
  const seconds = (performance.now() - started) / 1000
  const used = (await cpu()) - before
  console.log(`${what}: ${Math.round(RECORDS / seconds)} a second, ${((used / RECORDS) * 1e6).toFixed(0)} us of the thread each`)
}
await report('entered')
started = performance.now()
before = await cpu()
await host.destinations.update('d1', DEFAULT_WORKSPACE_ID, { paused: false }, 1)
// Counted here, because asking the thread for its queue would be part of the measurement.
await arrived.promise
await report('delivered')
console.log(
  `${(spans / RECORDS).toFixed(1)} spans and ${(bytes / RECORDS / 1000).toFixed(1)} KB on the wire each, ${(await host.outbox.status('d1')).delivered} delivered`,
)
await host.close()
await store.close()
server.close()
await rm(directory, { recursive: true })
