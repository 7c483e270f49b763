import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chatEvents, startFakeUpstream, type FakeUpstream, type Reply } from '../../src/testing/fake-upstream.ts'
import { chatConfig, startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { verifies } from '../requirements.ts'

/** A stream is passed on as it comes: upstream and caller live in this process, so both read the same clock. */
let upstream: FakeUpstream
let gateway: TestGateway
const sentAt = new Map<string, number>()

const slowly: Reply = async (_request, response) => {
  const say = (name: string, event: object): void => {
    sentAt.set(name, performance.now())
    response.write(`data: ${JSON.stringify(event)}\n\n`)
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const word of ['one', 'two', 'three', 'four']) {
    say(word, chatEvents.text(word))
    await new Promise((resolve) => setTimeout(resolve, 120))
  }
  say('finish', chatEvents.finish())
  say('usage', chatEvents.usage())
  response.end(chatEvents.done())
}

beforeAll(async () => {
  upstream = await startFakeUpstream(slowly)
  gateway = await startGateway(chatConfig([upstream.url]))
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

describe('a slow stream', () => {
  it(verifies('P20', 'passes every word on within 50 ms, and closes within 100 ms of its end'), async () => {
    const response = await gateway.respond({ model: 'acme/small', input: 'hi', stream: true })
    const seenAt = new Map<string, number>()
    let text = ''
    for await (const chunk of response.body!) {
      text += Buffer.from(chunk as Uint8Array).toString()
      for (const word of ['one', 'two', 'three', 'four']) {
        if (!seenAt.has(word) && text.includes(`"delta":"${word}"`)) seenAt.set(word, performance.now())
      }
    }
    const closedAt = performance.now()
    for (const [word, at] of seenAt) expect(at - sentAt.get(word)!).toBeLessThan(50)
    expect([...seenAt.keys()]).toEqual(['one', 'two', 'three', 'four'])
    expect(text).toContain('response.completed')
    expect(closedAt - sentAt.get('usage')!).toBeLessThan(100)
  })
})
