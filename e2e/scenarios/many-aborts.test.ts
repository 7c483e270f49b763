import { connect } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { chatEvents, chatText, startFakeUpstream, stream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { chatConfig, startGateway, TEST_KEY, type TestGateway } from '../../src/testing/start-gateway.ts'
import { verifies } from '../requirements.ts'

/** Thousands of callers that disconnect. `abort.test.ts` tests how quickly this is noticed; this tests what they leave behind. */
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

const isSo = (condition: () => boolean): Promise<void> => expect.poll(condition, { timeout: 5_000, interval: 2 }).toBe(true)

describe('many callers who leave', () => {
  const request = (): string => {
    const body = JSON.stringify({ model: 'acme/small', input: 'hi', stream: true })
    return `POST /api/v1/responses HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${TEST_KEY}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  }
  /** Opens a stream on a raw socket and hangs up with its first byte. */
  const openAndLeave = (port: number): Promise<void> =>
    new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => socket.write(request()))
      socket.on('data', () => socket.destroy())
      socket.on('close', () => resolve())
      socket.on('error', reject)
    })

  it(
    verifies('S2-aborts', 'P10', 'P49', 'leave no call, socket, timer or listener behind after 10,000 aborted streams'),
    async () => {
      upstream.script(stream([chatEvents.role(), chatEvents.text('first')], { then: 'hang' }))
      const port = Number(new URL(gateway.url).port)
      const rush = async (count: number): Promise<void> => {
        let left = count
        await Promise.all(
          Array.from({ length: 40 }, async () => {
            while (left-- > 0) await openAndLeave(port)
          }),
        )
        await isSo(() => gateway.app.calls.size === 0)
      }
      await rush(200)
      await isSo(() => upstream.openSockets() === 0)
      const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
      const sockets = (): number => process.getActiveResourcesInfo().filter((name) => name.startsWith('TCPSocket')).length
      const before = { timers: timers(), sockets: sockets() }
      await rush(10_000)
      await isSo(() => upstream.openSockets() === 0)
      await isSo(() => sockets() <= before.sockets)
      expect(timers()).toBeLessThanOrEqual(before.timers + 2)
      expect(gateway.app.sink.stats().lost).toMatchObject({ overflow: 0, refused: 0 })
      upstream.script(stream(chatText('still here')))
      expect((await (await gateway.respond({ model: 'acme/small', input: 'hi' })).json()) as object).toMatchObject({ output_text: 'still here' })
    },
    120_000,
  )
})
