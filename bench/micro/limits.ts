/**
 * What a limited call costs compared with one without limits: rates, places, a credit limit, a workspace budget and credits, in process and in Redis. CPU
 * microseconds of this process per call (medians of interleaved rounds, 32 calls at a time), and the delay of a single call.
 *
 *   node bench/micro/limits.ts        Redis: SIGNALBOX_TEST_REDIS_URL, or else the local one, or else left out
 */
import { computeCost } from '../../src/catalog/cost.ts'
import type { Call, CallTrace, Handler } from '../../src/core/call.ts'
import type { CallLimits } from '../../src/core/call-limits.ts'
import { NOTHING_SPENT, type Counter } from '../../src/core/counter.ts'
import type { Generation } from '../../src/core/generation.ts'
import type { ModelRequest } from '../../src/core/request.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { silentLogger } from '../../src/lib/logger.ts'
import { createLimits } from '../../src/pipeline/limits.ts'
import { createMemoryCounter } from '../../src/store/shared-state/memory.ts'
import { connectRedis, disconnectRedis } from '../../src/store/shared-state/redis-client.ts'
import { createRedisCounter } from '../../src/store/shared-state/redis.ts'
import { testCatalog, testEndpoint } from '../../src/testing/endpoints.ts'
import { findTestRedis } from '../../src/testing/redis.ts'
import { sampleGeneration } from '../../src/testing/sample-records.ts'

const CALLS = 4_000
const AT_A_TIME = 32
const ROUNDS = 7

const request: ModelRequest = {
  model: 'acme/small',
  input: [{ type: 'message', role: 'user', content: 'Say something about the sea. '.repeat(60) }],
  max_output_tokens: 500,
}
const endpoints = [1, 1.5, 50].map((price, n) => testEndpoint({ provider: `p${n}`, pricing: { input: price, output: price } }))
const catalog = testCatalog(endpoints)
const rates = { requestsPerMinute: 1e9, tokensPerMinute: 1e9 }
const money = { budgets: [{ interval: 'monthly', limitUsd: 1e9 }], includeByok: false, revision: 1 } as const

/** From no limits to all of them. */
const SUBJECTS: { readonly [name: string]: CallLimits | undefined } = {
  'no limits': undefined,
  'requests per minute': [{ kind: 'key', subject: 'key:a', revision: 1, requestsPerMinute: 1e9, budgets: [], includeByok: false }],
  'rates, places, credit limit': [{ kind: 'key', subject: 'key:b', ...rates, maxOpen: 1e6, ...money }],
  'the same, workspace budget and credits': [
    { kind: 'key', subject: 'key:c', ...rates, maxOpen: 1e6, ...money },
    { kind: 'workspace', subject: 'workspace:c', ...rates, ...money },
    { kind: 'installation', subject: 'installation', ...money },
  ],
}

const handler: Handler = async function* () {
  yield []
}
let calls = 0
const record: Generation = sampleGeneration('gen-0')

function createCall(): Call {
  const trace: CallTrace = { strategy: 'direct', candidates: [], rejected: new Map(), attempts: [], pipeline: [], params: {} }
  return {
    id: `gen-${process.pid}-${calls++}`,
    owner: { workspaceId: 'w', keyHash: 'h', keyName: '', keyLabel: '' },
    clock: systemClock,
    request,
    trace,
  } as unknown as Call
}

/** One call through the layer as in the pipeline: admitted, one attempt made, recorded. */
function runner(counter: Counter, limits: CallLimits | undefined): () => Promise<void> {
  const built = createLimits({
    counter,
    limitsOf: () => limits,
    catalog: () => catalog,
    costOf: computeCost,
    policy: () => ({ unknownPrice: 'allow', expectedOutputTokens: 1_024 }),
    defaults: () => ({}),
    mayUseOwnKeys: () => false,
  })
  const layered = built.layer(handler)
  return async () => {
    const call = createCall()
    for await (const events of layered(call)) {
      void events
      await built.beforeAttempt(call, { endpoint: endpoints[0]!, isByok: false })
    }
    built.finished(record, call)
  }
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!

async function cpuPerCall(run: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage()
  let left = CALLS
  await Promise.all(
    Array.from({ length: AT_A_TIME }, async () => {
      while (left-- > 0) await run()
    }),
  )
  const { user, system } = process.cpuUsage(before)
  return (user + system) / CALLS
}

async function delayOfOne(run: () => Promise<void>): Promise<number> {
  const times: number[] = []
  for (let n = 0; n < 1_000; n++) {
    const started = performance.now()
    await run()
    times.push((performance.now() - started) * 1_000)
  }
  return median(times)
}

const load = () => Promise.resolve(NOTHING_SPENT)
const counters: { readonly name: string; readonly counter: Counter; readonly close: () => Promise<void> }[] = []
{
  const counter = createMemoryCounter({ load, whenUnknown: () => 'local' })
  counters.push({ name: 'in process', counter, close: () => counter.close() })
}
const test = await findTestRedis('limits in Redis')
if (test.available) {
  const redis = connectRedis({ url: test.url, logger: silentLogger })
  const namespace = test.namespace()
  const counter = createRedisCounter({ redis, clock: systemClock, namespace, load, whenUnknown: () => 'local' })
  await new Promise<void>((resolve) => redis.once('ready', () => resolve()))
  counters.push({
    name: 'in Redis',
    counter,
    async close() {
      await counter.close()
      const left = await redis.keys(`{${namespace}}*`)
      if (left.length > 0) await redis.del(...left)
      await disconnectRedis(redis)
    },
  })
}

const rows = counters.flatMap(({ name, counter }) =>
  Object.entries(SUBJECTS).map(([limits, subjects]) => ({ name: `${name}: ${limits}`, run: runner(counter, subjects), cpu: [] as number[] })),
)
for (const { run } of rows) await cpuPerCall(run)
for (let round = 0; round < ROUNDS; round++) for (const row of rows) row.cpu.push(await cpuPerCall(row.run))
for (const { name, run, cpu } of rows) {
  process.stdout.write(
    `${name.padEnd(56)} ${median(cpu).toFixed(1).padStart(7)} us CPU   ${(await delayOfOne(run)).toFixed(1).padStart(7)} us alone\n`,
  )
}
for (const { close } of counters) await close()
