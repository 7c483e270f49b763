/**
 * Sends mixed traffic through a real gateway for a long time: JSON, streams, tools, callers that hang up, providers that fail in every way, a working
 * destination and a dead one, and changes of configuration in between. Exits with 1 if memory, sockets, timers or files grow, a delivery is lost, or
 * a stream has no end.
 *
 *   npm run soak                          10 minutes to get warm, 5 to settle, then 20 that are judged
 *   npm run soak -- --minutes 60 --rate 200 --warm-up 20 --settle 10
 *   npm run soak -- --minutes 2           does it run at all; too short to judge memory
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { DatabaseSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startFakeDestination, type FakeDestination } from '../src/testing/fake-destination.ts'
import { generationSpans } from '../src/testing/received-spans.ts'
import { judgeGrowth, judgeLeftOver, type Slope } from './soak/judge.ts'
import { startTraffic, type TrafficCounts, type TrafficOptions } from './soak/traffic.ts'
import { startSoakUpstream } from './soak/upstream.ts'
import { openFiles, ownMemory, startSoakedGateway, type Sample, type SoakedGateway } from './soak/vitals.ts'

const KEY = `sk-sb-v1-${'a1'.repeat(24)}`
const MANAGEMENT_KEY = `sk-sb-mgmt-v1-${'b2'.repeat(24)}`
const SAMPLE_MS = 15_000
const SETTLE_MS = 75_000
const DRAIN_MS = 120_000
/** The number of recent answers' items that a gateway remembers. Until it is reached, memory grows by design. */
const RECENT_ITEMS = 20_000
/**
 * The warm-up is faster, so that it makes at least as many calls as the judged part: code that is compiled when it is called often is compiled by
 * then.
 */
const WARM_UP_PACE = 3
const SHORTEST_JUDGED = 10
/** Connections that are kept open, and a timer between two looks: the difference that is allowed between two idle moments. */
const LEFT_OVER_ALLOWED = 6
const MB = 1024 * 1024

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '20' },
    rate: { type: 'string', default: '100' },
    'warm-up': { type: 'string' },
    settle: { type: 'string' },
  },
})
const minutes = Number(values.minutes)
const rate = Number(values.rate)
const warmUpMinutes = Number(values['warm-up'] ?? minutes / 2)
/**
 * Minutes at the judged pace before the judged part. The memory for the garbage of the faster pace is released, and claimed again as far as this pace
 * needs it.
 */
const settleMinutes = Number(values.settle ?? minutes / 4)

async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** The ids that arrived; the bodies are released at once, or they would fill the memory. */
function collectIds(receiver: FakeDestination): () => ReadonlySet<string> {
  const ids = new Set<string>()
  const collect = (): ReadonlySet<string> => {
    const arrived = (receiver.accepted as FakeDestination['accepted'][number][]).splice(0)
    for (const { generationId } of generationSpans(arrived)) ids.add(generationId)
    ;(receiver.requests as unknown[]).length = 0
    return ids
  }
  return collect
}

async function addDestination(url: string, name: string, target: string): Promise<void> {
  const response = await fetch(`${url}/api/v1/observability/destinations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${MANAGEMENT_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ type: 'webhook', name, config: { url: target } }),
  })
  if (response.status !== 201) throw new Error(`the destination was refused: ${await response.text()}`)
}

function recordedIds(directory: string): readonly string[] {
  const database = new DatabaseSync(join(directory, 'signalbox.db'), { readOnly: true })
  const rows = database.prepare('select id from generations').all()
  database.close()
  return rows.map(({ id }) => String(id))
}

async function look(gateway: SoakedGateway, startedAt: number, calls: number): Promise<Sample> {
  // Files are counted first, because the garbage collection takes a moment.
  const open = openFiles(gateway.pid)
  return { ...open, ...(await gateway.vitals()), own: ownMemory(gateway.pid), at: (performance.now() - startedAt) / 1_000, calls }
}

async function shedCalls(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(/^gateway_calls_shed (\d+)$/m.exec(text)?.[1] ?? 0)
}

const row = (sample: Sample): string => {
  const { at, rss, own, heap, threadHeap, files, sockets, resources, calls } = sample
  const timers = (resources['Timeout'] ?? 0) + (resources['Immediate'] ?? 0)
  const cells = [
    (at / 60).toFixed(1),
    calls,
    (rss / MB).toFixed(1),
    (own / MB).toFixed(1),
    (heap / MB).toFixed(1),
    (threadHeap / MB).toFixed(1),
    files,
    sockets,
    timers,
  ]
  return `| ${cells.map((cell) => String(cell).padStart(7)).join(' | ')} |`
}

const slope = ({ value, from, to }: Slope): string => `${value.toFixed(1)} MB/h (95 %: ${from.toFixed(1)} to ${to.toFixed(1)})`

function report(problems: readonly string[], counts: TrafficCounts, lines: readonly string[]): void {
  const statuses = [...counts.statuses].toSorted(([a], [b]) => a - b).map(([status, n]) => `${status}: ${n}`)
  console.log(
    `\n${counts.calls} calls (${statuses.join(', ')}), ${counts.aborted} aborted by the caller, ${counts.managementWrites} changes of configuration`,
  )
  for (const line of lines) console.log(line)
  console.log(problems.length === 0 ? '\nnothing grew, nothing was lost' : `\nFAILED:\n${problems.map((problem) => `  ${problem}`).join('\n')}`)
}

/** Runs until everything has grown that grows by design up to a bound. */
async function getWarm(gateway: SoakedGateway, options: TrafficOptions, collect: () => unknown): Promise<TrafficCounts> {
  const began = performance.now()
  const traffic = startTraffic(options)
  const isWarm = (): boolean => performance.now() - began >= warmUpMinutes * 60_000 && traffic.counts.calls >= RECENT_ITEMS * 1.25
  while (!isWarm() && !gateway.ended()) {
    await sleep(1_000)
    collect()
  }
  await traffic.stop()
  return traffic.counts
}

async function soak(directory: string): Promise<boolean> {
  const upstream = await startSoakUpstream()
  const receiver = await startFakeDestination()
  const deliveredIds = collectIds(receiver)
  await writeFile(
    join(directory, 'signalbox.json'),
    JSON.stringify({
      providers: [
        {
          slug: 'acme',
          name: 'Acme',
          dialect: 'openai-chat',
          base_url: upstream.url,
          api_keys: ['k'],
          timeouts: { connect: '1s', first_token: '2s', idle: '2s', total: '20s' },
        },
      ],
      models: [
        {
          slug: 'acme/small',
          context_length: 1_000_000,
          endpoints: [{ provider: 'acme', upstream_model: 'small-1', pricing: { input: 1, output: 2 } }],
        },
      ],
      // With a cooldown after a failure of the only endpoint, the soak would test little but refusals.
      routing: { cooldown: false },
      logging: { level: 'error' },
    }),
  )
  const gateway = await startSoakedGateway(directory, {
    SIGNALBOX_PORT: '0',
    SIGNALBOX_DATA_DIR: directory,
    SIGNALBOX_API_KEY: KEY,
    SIGNALBOX_MANAGEMENT_KEY: MANAGEMENT_KEY,
  })
  await addDestination(gateway.url, 'alive', `${receiver.url}/hook`)
  await addDestination(gateway.url, 'dead', `http://127.0.0.1:${await closedPort()}/hook`)

  // A first load before the idle state is measured: what first calls allocate for good is not a leak.
  const started = performance.now()
  const random = Math.random
  const options = { url: gateway.url, key: KEY, managementKey: MANAGEMENT_KEY, perSecond: rate, random }
  const prelude = startTraffic(options)
  await sleep(10_000)
  await prelude.stop()
  await sleep(SETTLE_MS)
  const before = await look(gateway, started, 0)
  console.log('| minutes |   calls |  rss MB |  own MB | heap MB | thread  |   files | sockets |  timers |\n|---|---|---|---|---|---|---|---|---|')
  console.log(`${row(before)} idle`)

  const warmUp = await getWarm(gateway, { ...options, perSecond: rate * WARM_UP_PACE }, deliveredIds)
  console.log(`${row(await look(gateway, started, warmUp.calls))} warm`)

  const loadStarted = performance.now()
  const traffic = startTraffic(options)
  const samples: Sample[] = []
  while (performance.now() - loadStarted < (settleMinutes + minutes) * 60_000 && !gateway.ended()) {
    await sleep(SAMPLE_MS)
    deliveredIds()
    const sample = await look(gateway, loadStarted, traffic.counts.calls)
    samples.push(sample)
    if (samples.length % 4 === 0) console.log(sample.at < settleMinutes * 60 ? `${row(sample)} settling` : row(sample))
  }
  await traffic.stop()
  await sleep(SETTLE_MS)
  const after = await look(gateway, loadStarted, traffic.counts.calls)
  console.log(`${row(after)} idle`)

  const shed = await shedCalls(gateway.url)
  const ids = recordedIds(directory)
  const until = performance.now() + DRAIN_MS
  const missing = (): number => ids.filter((id) => !deliveredIds().has(id)).length
  while (missing() > 0 && performance.now() < until) await sleep(500)
  const lost = missing()
  const exitCode = await gateway.stop()
  await upstream.close()
  await receiver.close()

  const growth = judgeGrowth(samples, settleMinutes * 60)
  const all = [prelude.counts, warmUp, traffic.counts]
  const total = (of: (counts: TrafficCounts) => number): number => all.reduce((sum, counts) => sum + of(counts), 0)
  const problems = [...judgeLeftOver(before, after, LEFT_OVER_ALLOWED), ...all.flatMap(({ unexpected }) => unexpected)]
  const unterminated = total((counts) => counts.unterminated)
  if (unterminated > 0) problems.push(`${unterminated} streams without a terminal event`)
  if (lost > 0) problems.push(`${lost} of ${ids.length} generations did not reach the destination that works`)
  const made = total(({ calls }) => calls)
  // Calls that were shed leave no record, and a caller that hangs up at once may not have caused one yet.
  const unrecorded = made - ids.length - shed
  if (unrecorded < 0 || unrecorded > total(({ aborted }) => aborted)) problems.push(`${made} calls, ${ids.length} records, ${shed} shed`)
  if (exitCode !== 0) problems.push(`the gateway ended with ${exitCode}: ${gateway.log()}`)
  for (const { name, first, last, allowedMb } of growth)
    if (minutes >= SHORTEST_JUDGED && last - first > allowedMb) problems.push(`${name} grew from ${first.toFixed(1)} to ${last.toFixed(1)} MB`)
  report(problems, traffic.counts, [
    `${ids.length} records, ${deliveredIds().size} delivered, ${lost} lost, ${shed} calls shed, ${unterminated} streams without a terminal event`,
    `before, to get warm: ${warmUp.calls} calls, ${rate * WARM_UP_PACE} a second (recent items, up to ${RECENT_ITEMS} answers; compiled code; page cache of the database)`,
    ...growth.map(
      ({ name, first, last, slopeMbPerHour }) =>
        `${name}: ${first.toFixed(1)} MB in the first quarter, ${last.toFixed(1)} MB in the last; slope ${slope(slopeMbPerHour)}`,
    ),
  ])
  return problems.length === 0
}

const directory = await mkdtemp(join(tmpdir(), 'signalbox-soak-'))
try {
  if (!(await soak(directory))) process.exitCode = 1
} finally {
  await rm(directory, { recursive: true, force: true })
}
