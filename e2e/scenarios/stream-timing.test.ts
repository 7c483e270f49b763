import { once } from 'node:events'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chatEvents, startFakeUpstream, stream, type FakeUpstream, type Reply } from '../../src/testing/fake-upstream.ts'
import { chatConfig, startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { verifies } from '../requirements.ts'

/** A stream is forwarded as it arrives. Upstream and caller run in this process, so both read the same clock. */
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
  it(verifies('P20', 'is passed on within 50 ms per word, and closes within 100 ms of its end'), async () => {
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

/** More than the sockets and the gateway can buffer for a caller that does not read. */
const WORDS = 'word '.repeat(2_000)
const TIMES = 2_000
const USAGE = { prompt_tokens: 11, completion_tokens: 1_000, total_tokens: 1_011 }

describe('a caller who stops reading for longer than an upstream may be silent', () => {
  const flood: Reply = async (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const events = [...Array.from({ length: TIMES }, () => chatEvents.text(WORDS)), chatEvents.finish(), chatEvents.usage(USAGE)]
    const frames = events.map((event) => `data: ${JSON.stringify(event)}\n\n`)
    await pipeline(Readable.from([...frames, chatEvents.done()]), response).catch(() => undefined)
  }

  it(verifies('A2', 'gets the whole answer with its usage, and the provider is not blamed'), async () => {
    const fast = await startFakeUpstream(flood, stream([chatEvents.text('short'), chatEvents.finish(), chatEvents.usage(USAGE), chatEvents.done()]))
    const config = chatConfig([fast.url])
    const [provider] = config['providers'] as object[]
    const served = await startGateway({ ...config, providers: [{ ...provider, timeouts: { idle: '300ms' } }] })
    const socket = connect(Number(new URL(served.url).port), '127.0.0.1')
    const body = JSON.stringify({ model: 'acme/small', input: 'hi', stream: true })
    const head = `POST /api/v1/responses HTTP/1.1\r\nhost: gateway\r\nconnection: close\r\nauthorization: Bearer ${served.key}\r\ncontent-type: application/json\r\n`
    socket.write(`${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
    await once(socket, 'readable')
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    let end = ''
    let bytes = 0
    let completed = false
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      bytes += chunk.length
      end = end.slice(-20_000) + chunk.toString()
      completed ||= end.includes('event: response.completed')
    }
    expect(bytes).toBeGreaterThan(WORDS.length * TIMES)
    expect(completed).toBe(true)
    expect(end.slice(-20_000)).toContain('"output_tokens":1000,')
    // The speed of this stream is unknown; that of the next, whose caller reads, is known.
    const speed = async (): Promise<unknown> => {
      const answer = await served.api('GET', '/api/v1/models/acme/small/endpoints', undefined, served.key)
      const { data } = (await answer.json()) as { data: { endpoints: { throughput_last_30m: unknown }[] } }
      return data.endpoints[0]!.throughput_last_30m
    }
    expect(await speed()).toBeNull()
    await (await served.respond({ model: 'acme/small', input: 'hi', stream: true })).arrayBuffer()
    expect(await speed()).not.toBeNull()
    await served.close()
    await fast.close()
  })
})
