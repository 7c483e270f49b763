/** What planning costs: medians over many plans for models of 1 to 1,000 endpoints. Run: node bench/micro/plan.ts */
import { systemClock } from '../../src/lib/clock.ts'
import type { ModelRequest } from '../../src/core/request.ts'
import { createHealth } from '../../src/router/health.ts'
import { planRoute } from '../../src/router/plan.ts'
import type { PlanInput } from '../../src/router/plan.ts'
import { createSticky } from '../../src/router/sticky.ts'
import { testCatalog, testEndpoint } from '../../src/testing/endpoints.ts'

const request: ModelRequest = {
  model: 'acme/small',
  input: [{ type: 'message', role: 'user', content: 'Say something about the sea. '.repeat(60) }],
  tools: [
    { type: 'function', name: 'lookup', description: 'Looks a word up', parameters: { type: 'object', properties: { word: { type: 'string' } } } },
  ],
  temperature: 0.5,
  max_output_tokens: 500,
}

const preferences: { readonly [name: string]: Partial<ModelRequest> } = {
  default: {},
  'all rejected (zdr)': { provider: { zdr: true } },
  'half rejected (max_price)': { provider: { max_price: { prompt: 5, completion: 5 } } },
  'only + ignore + require_parameters': {
    provider: { only: Array.from({ length: 500 }, (_, i) => `p${i}`), ignore: ['p1', 'p2'], require_parameters: true },
  },
  'sort throughput': { provider: { sort: 'throughput', preferred_max_latency: { p90: 3 } } },
  order: { provider: { order: ['p900', 'p3', 'p500'] } },
  session: { session_id: 'session-1' },
}

function measure(name: string, input: PlanInput, rounds: number): void {
  const times = new Float64Array(rounds)
  for (let n = 0; n < rounds; n++) planRoute(input)
  const gc = globalThis.gc
  gc?.()
  const before = process.memoryUsage().heapUsed
  for (let n = 0; n < rounds; n++) {
    const start = process.hrtime.bigint()
    planRoute(input)
    times[n] = Number(process.hrtime.bigint() - start) / 1000
  }
  const bytes = gc === undefined ? NaN : (process.memoryUsage().heapUsed - before) / rounds
  times.sort()
  const at = (share: number): string => times[Math.floor(share * (rounds - 1))]!.toFixed(1).padStart(8)
  process.stdout.write(
    `${name.padEnd(48)} p50 ${at(0.5)} us   p99 ${at(0.99)} us${Number.isNaN(bytes) ? '' : `   ${Math.max(0, Math.round(bytes))} B/plan`}\n`,
  )
}

const sticky = createSticky({ clock: systemClock })
for (const size of [1, 20, 1_000]) {
  const endpoints = Array.from({ length: size }, (_, i) =>
    testEndpoint({ provider: `p${i}`, pricing: { input: (i % 10) + 1, output: (i % 10) + 1 }, policies: { zdr: false } }),
  )
  const catalog = testCatalog(endpoints)
  const health = createHealth({ clock: systemClock })
  for (const { id } of endpoints) for (let n = 0; n < 5; n++) health.success(id, { firstTokenMs: 100 + n * 50, tokens: 100, durationMs: 2_000 + n })
  for (const [name, extra] of Object.entries(preferences)) {
    const full: ModelRequest = { ...request, ...extra }
    const session = sticky.open('workspace', full)
    measure(
      `${size} endpoints, ${name}`,
      { request: full, catalog, health: health.view(), random: Math.random, now: Date.now(), ...(session === undefined ? {} : { session }) },
      2_000,
    )
  }
}
{
  const rounds = 20_000
  const start = process.hrtime.bigint()
  for (let n = 0; n < rounds; n++) sticky.open('workspace', request)
  const opening = Number(process.hrtime.bigint() - start) / 1000 / rounds
  const keyed: ModelRequest = { ...request, session_id: 'session-1' }
  const again = process.hrtime.bigint()
  for (let n = 0; n < rounds; n++) sticky.open('workspace', keyed)
  process.stdout.write(
    `session from opening messages ${opening.toFixed(2)} us, from session_id ${(Number(process.hrtime.bigint() - again) / 1000 / rounds).toFixed(2)} us\n`,
  )
}
