import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { chatEvents, silence, startFakeUpstream, status, stream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { chatConfig, startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { verifies } from '../requirements.ts'

/** A caller that disconnects: the upstream notices within 100 ms, whatever the call was doing. */
let upstream: FakeUpstream
let gateway: TestGateway

beforeEach(async () => {
  upstream = await startFakeUpstream()
  gateway = await startGateway(chatConfig([upstream.url]))
})
afterEach(async () => {
  await gateway.close()
  await upstream.close()
})

const until = async (condition: () => boolean, limitMs = 5_000): Promise<void> => {
  const end = performance.now() + limitMs
  while (!condition()) {
    if (performance.now() > end) throw new Error('the condition did not come true in time')
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}

async function leaveAfter(started: () => boolean, streamed: boolean): Promise<number> {
  const gone = new AbortController()
  const answer = gateway.respond({ model: 'acme/small', input: 'hi', stream: streamed }, { signal: gone.signal }).then((response) => response.text())
  answer.catch(() => undefined)
  await until(started)
  const left = performance.now()
  gone.abort()
  await until(() => upstream.requests.at(-1)?.abortedAt !== undefined)
  await expect(answer).rejects.toThrow()
  return upstream.requests.at(-1)!.abortedAt! - left
}

describe.each([true, false])('a caller who leaves (stream: %s)', (streamed) => {
  it(verifies('P9', 'D1', 'while the upstream has not sent a header'), async () => {
    upstream.script(silence())
    expect(await leaveAfter(() => upstream.requests.length === 1, streamed)).toBeLessThan(100)
  })

  it(verifies('P9', 'D1', 'before the first token'), async () => {
    upstream.script(stream([chatEvents.role()], { then: 'hang' }))
    expect(await leaveAfter(() => upstream.requests.length === 1, streamed)).toBeLessThan(100)
  })

  it(verifies('P9', 'P35', 'D1', 'in the middle of the answer, and the partial answer is on record as cancelled'), async () => {
    upstream.script(stream([chatEvents.role(), ...Array.from({ length: 500 }, (_, n) => chatEvents.text(`${n} `))], { everyMs: 5, then: 'hang' }))
    expect(await leaveAfter(() => upstream.requests.length === 1, streamed)).toBeLessThan(100)
    await until(() => gateway.app.calls.size === 0)
  })

  it(verifies('P9', 'D1', 'while a retry waits for its turn'), async () => {
    upstream.script(status(429, { error: { message: 'slow down' } }, { 'retry-after': '5' }))
    const gone = new AbortController()
    const answer = gateway.respond({ model: 'acme/small', input: 'hi', stream: streamed }, { signal: gone.signal })
    answer.catch(() => undefined)
    await until(() => upstream.requests.length === 1)
    await new Promise((resolve) => setTimeout(resolve, 30))
    gone.abort()
    await until(() => gateway.app.calls.size === 0, 200)
    await expect(answer).rejects.toThrow()
    expect(upstream.requests).toHaveLength(1)
  })
})

describe('an upstream whose connection cannot be opened', () => {
  it('costs the caller no more than the connect limit, and delays no caller who leaves', async () => {
    // An address of the documentation range on loopback's side: nothing listens, nothing answers.
    const config = chatConfig(['http://127.0.0.1:1/v1'])
    const own = await startGateway(config)
    const response = await own.respond({ model: 'acme/small', input: 'hi' })
    expect(response.status).toBe(502)
    await own.close()
  })
})
