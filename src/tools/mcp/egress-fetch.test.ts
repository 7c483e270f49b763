import { createParser } from 'eventsource-parser'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { verifies } from '../../../e2e/requirements.ts'
import type { Egress, EgressStreamRequest } from '../../lib/egress.ts'
import { createEgressFetch, Question, sending, within } from './egress-fetch.ts'

const ORIGIN = 'https://tools.example'

function scene() {
  const asked: EgressStreamRequest[] = []
  const body = (async function* () {})()
  const egress: Pick<Egress, 'open'> = {
    open: (request) => {
      asked.push(request)
      return Promise.resolve({ status: 200, headers: {}, body })
    },
  }
  return { asked, fetch: createEgressFetch({ egress: egress as Egress, origin: ORIGIN, standing: true }) }
}

describe('requests of a session with a server', () => {
  const init = { method: 'POST', headers: { authorization: 'Bearer secret' }, body: '{}' }

  it('go to that server, whatever the path', async () => {
    const { asked, fetch } = scene()
    await fetch(`${ORIGIN}/another/path`, init)
    expect(asked).toMatchObject([{ url: `${ORIGIN}/another/path`, headers: { authorization: 'Bearer secret' } }])
  })

  it.each([
    'https://other.example/mcp',
    'http://tools.example/mcp',
    'https://tools.example:8443/mcp',
    'https://tools.example.other.example/mcp',
    'https://tools.example@other.example/mcp',
    'http://127.0.0.1/mcp',
  ])(verifies('E5', 'go nowhere else, %s, so that the credential is not leaked'), async (url) => {
    const { asked, fetch } = scene()
    await expect(fetch(url, init)).rejects.toThrow('another origin')
    await expect(fetch(new URL(url), init)).rejects.toThrow('another origin')
    expect(asked).toEqual([])
  })
})

describe('a stream that ends without the answer', () => {
  /** The errors reported to whoever waits for the answer, some time after a stream of these chunks has ended. */
  async function toldAfter(...chunks: readonly string[]): Promise<readonly Error[]> {
    const told: Error[] = []
    const egress: Pick<Egress, 'open'> = {
      open: () =>
        Promise.resolve({
          status: 200,
          headers: { 'content-type': 'text/event-stream' },
          body: (async function* () {
            for (const chunk of chunks) yield Buffer.from(chunk)
          })(),
        }),
    }
    const fetch = createEgressFetch({ egress: egress as Egress, origin: ORIGIN, standing: false })
    const exchange = { signal: new AbortController().signal, lost: (error: Error) => void told.push(error) }
    vi.useFakeTimers()
    try {
      await within(exchange, () => sending(new Question(), async () => (await fetch(ORIGIN, { method: 'POST' })).text()))
      await vi.advanceTimersByTimeAsync(1_000)
    } finally {
      vi.useRealTimers()
    }
    return told
  }

  it.each([['id: 1\nretry: 10\n\n'], ['id: 1\n\ndata: {}\n\n'], ['id:\ndata: {}\n\n'], ['id: 1\ndata: {}\n']])(
    'is a failure where no event with words has an id, for the SDK does not resume it: %j',
    async (chunk) => {
      expect(await toldAfter(chunk)).toHaveLength(1)
    },
  )
  it('is resumed where the break of a line came in two pieces', async () => {
    expect(await toldAfter('id: 1\r', '\ndata:\r', '\n\r', '\n')).toEqual([])
  })
  it('is a failure at once, however long the line is in which it ends', async () => {
    expect(await toldAfter(`data: ${'a'.repeat(250_000)}`)).toHaveLength(1)
  }, 5_000)
  it.each([['id: 1\rdata: {}\r\r'], ['id: 1\nid:\ndata: {}\n\n'], ['id: 1\nid\ndata: {}\n\n'], ['id: \0\ndata: {}\n\n']])(
    'is a failure where the SDK has not seen the end of the event, or no id in it: %j',
    async (chunk) => {
      expect(await toldAfter(chunk)).toHaveLength(1)
    },
  )
  it('is resumed where a byte order mark stands before the id', async () => {
    expect(await toldAfter('\uFEFFid: 1\ndata: {}\n\n')).toEqual([])
  })
  it("is resumed exactly where the SDK's parser finds an event with an id, however it comes in pieces", async () => {
    const piece = fc.constantFrom('id', 'id: 1', 'id:', 'data', 'data: {}', ': x', '\0', '\uFEFF', ' ', '\r', '\n', '\r\n', '\n\n')
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (pieces) => {
        let resumes = false
        const parser = createParser({ onEvent: ({ id }) => (resumes ||= id !== undefined && id !== '') })
        parser.feed(pieces.join('').replace(/^\uFEFF/, ''))
        expect(await toldAfter(...pieces)).toHaveLength(resumes ? 0 : 1)
      }),
      { seed: 1, numRuns: 500 },
    )
  })
  it('is a failure where its events have no ids', async () => {
    expect(await toldAfter('event: message\ndata: {}\n\n')).toMatchObject([{ message: 'the server closed the connection before it answered' }])
  })
  it.each([
    [['id: 1\ndata: {}\n\n']],
    [['data: {}\n', 'id: 1\n\n']],
    [['data: {}\ni', 'd: 1\n\n']],
    [['data: {}\r\nid', ':1\n\n']],
    [['\n', 'i', 'd', ':', '1\nda', 'ta: {}\n\n']],
  ])('is resumed where one has: %j', async (chunks) => expect(await toldAfter(...chunks)).toEqual([]))
})
