import { afterEach, beforeEach, expect, it } from 'vitest'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { verifies } from '../requirements.ts'

/** One key floods a gateway that accepts forty calls; another calls now and then. */
const CALLS = 40
const FLOOD = 120
let gateway: TestGateway

beforeEach(async () => {
  // The delay of the event loop is not tested here, because it depends on the machine.
  gateway = await startGateway({ overload: { calls: CALLS, event_loop_delay: '10m' }, server: { shutdown_grace: '100ms' } })
})
afterEach(() => gateway.close())

it(verifies('S7-overload', 'sheds the key that floods with 503 and Retry-After, serves the other, and recovers'), async () => {
  const made = (await (await gateway.api('POST', '/api/v1/keys', { name: 'modest' })).json()) as { key: string }
  const hangUp = new AbortController()
  const flood = await Promise.all(
    Array.from({ length: FLOOD }, () =>
      gateway.respond({ model: 'demo/slow', input: 'word '.repeat(2_000), stream: true }, { signal: hangUp.signal }),
    ),
  )
  const shed = flood.filter(({ status }) => status === 503)
  expect(flood.filter(({ status }) => status === 200)).toHaveLength(FLOOD - shed.length)
  // At most four fifths of the capacity.
  expect(FLOOD - shed.length).toBeLessThanOrEqual(CALLS * 0.8)
  for (const response of shed) {
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    expect(await response.json()).toMatchObject({ error: { code: 503, metadata: { error_type: 'provider_overloaded', source: 'gateway' } } })
  }
  const modest = await Promise.all(Array.from({ length: 3 }, () => gateway.respond({ model: 'demo/echo', input: 'hi' }, { key: made.key })))
  expect(modest.map(({ status }) => status)).toEqual([200, 200, 200])
  expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200)
  expect(await (await fetch(`${gateway.url}/metrics`)).text()).toMatch(new RegExp(`^gateway_calls_shed ${shed.length}$`, 'm'))
  hangUp.abort()
  await expect.poll(() => gateway.app.calls.size, { timeout: 10_000 }).toBe(0)
  expect((await gateway.respond({ model: 'demo/echo', input: 'hi' })).status).toBe(200)
})
