import { describe, expect, it } from 'vitest'
import type { AttemptRecord, Call } from '../core/call.ts'
import type { Decoder, Dialect } from '../core/dialect.ts'
import { GatewayError } from '../core/error.ts'
import type { Connection } from '../core/provider.ts'
import { systemClock } from '../lib/clock.ts'
import type { Exchange } from '../lib/http-client.ts'
import { verifies } from '../../e2e/requirements.ts'
import { testConnection, testEndpoint } from '../testing/endpoints.ts'
import { runAttempt, type AttemptDependencies, type AttemptInput } from './attempt.ts'

const LIMITS = { connect: 1_000, firstToken: 60_000, idle: 60_000, longestIdle: 60_000, total: 60_000 } as AttemptInput['limits']

/** A decoder that hears everything and never says a word. */
const deaf: Decoder = {
  finished: false,
  push: () => undefined,
  body: () => undefined,
  end: () => undefined,
}

/** One attempt over an exchange, read by a dialect of these parts. */
function attemptOver(exchange: Exchange, parts: Partial<Dialect>, bounds: { readonly maxStreamBytes?: number } = {}): ReturnType<typeof runAttempt> {
  const connection = testConnection('acme')
  const dialect: Dialect = {
    ...connection.dialect,
    encodeRequest: () => ({ method: 'POST', path: '/x', headers: {}, body: '{}', dropped: [] }),
    decoder: () => deaf,
    ...parts,
  }
  const endpoint = testEndpoint({ connection: { ...connection, dialect } })
  const record: AttemptRecord = { endpoint, status: 0, startedAt: 0 }
  const http = { send: () => exchange, close: async () => undefined }
  const deps = { http, clock: systemClock, userAgent: 'test', ...bounds } as unknown as AttemptDependencies
  const call = { signal: new AbortController().signal } as Call
  return runAttempt(deps, { call, request: { input: [] }, endpoint, credential: undefined, limits: LIMITS, record })
}

/** An upstream that sends the same chunk for ever. */
function endless(chunk: Buffer, maxStreamBytes: number): { readonly run: () => Promise<void>; readonly seen: { reads: number; cancelled: boolean } } {
  const seen = { reads: 0, cancelled: false }
  const exchange: Exchange = {
    head: Promise.resolve({ status: 200, headers: { 'content-type': 'text/event-stream' } }),
    async read() {
      seen.reads++
      return [chunk]
    },
    cancel: () => void (seen.cancelled = true),
    ended: false,
  }
  return {
    seen,
    async run() {
      for await (const _ of attemptOver(exchange, {}, { maxStreamBytes }));
    },
  }
}

describe('a stream without end', () => {
  it.each([
    ['frames nobody understands', `data: {"x":"${'y'.repeat(900)}"}\n\n`],
    ['comments', `: ${'y'.repeat(900)}\n`],
  ])('of %s is given up at the bound, and released', async (_name, frame) => {
    const { run, seen } = endless(Buffer.from(frame), 100_000)
    await expect(run()).rejects.toMatchObject({ errorType: 'provider_unavailable', message: "The provider's answer is larger than 100000 bytes" })
    expect(seen.reads).toBeLessThanOrEqual(Math.ceil(100_000 / frame.length) + 1)
    expect(seen.cancelled).toBe(true)
  })
})

describe('an error', () => {
  const told = async (reads: AsyncIterator<string>): Promise<string> => {
    const exchange: Exchange = {
      head: Promise.resolve({ status: 422, headers: {} }),
      async read() {
        const { value, done } = await reads.next()
        return done === true ? undefined : [Buffer.from(value)]
      },
      cancel: () => void reads.return?.(),
      ended: false,
    }
    const attempt = attemptOver(exchange, { decodeError: (_status, _headers, body) => new GatewayError('unprocessable', body) })
    return attempt.next().then(
      () => 'no error',
      (error: Error) => error.message,
    )
  }

  it('that never ends, or repeats a long request, is reported by its beginning', async () => {
    async function* endless(): AsyncGenerator<string> {
      yield '{"detail":"Extra inputs are not permitted","input":"'
      for (;;) yield 'y'.repeat(1_000)
    }
    const message = await told(endless())
    expect(message).toMatch(/^\{"detail":"Extra inputs are not permitted","input":"y/)
    expect(message).toHaveLength(64 * 1024)
  })

  it('that breaks off is reported by the part that had arrived', async () => {
    async function* broken(): AsyncGenerator<string> {
      yield '{"detail":"Extra inp'
      throw new Error('reset')
    }
    expect(await told(broken())).toBe('{"detail":"Extra inp')
  })
})

describe('a limit that runs out while the request is signed', () => {
  it(verifies('P11', 'ends the attempt before it is sent, because no limit would apply to it'), async () => {
    let sent = 0
    const connection = testConnection('acme')
    // In many steps: however long a busy machine takes for one, the limit has its turn before the next.
    const sign: NonNullable<Connection['sign']> = async (request) => {
      for (let step = 0; step < 60; step++) await new Promise((resolve) => setTimeout(resolve, 1))
      return request
    }
    const dialect: Dialect = {
      ...connection.dialect,
      encodeRequest: () => ({ method: 'POST', path: '/x', headers: {}, body: '{}', dropped: [] }),
      decoder: () => deaf,
    }
    const endpoint = testEndpoint({ connection: { ...connection, sign, dialect } })
    const silent: Exchange = { head: new Promise(() => undefined), read: () => new Promise(() => undefined), cancel: () => undefined, ended: false }
    const send = (): Exchange => {
      sent++
      return silent
    }
    const deps = { http: { send }, clock: systemClock, userAgent: 'test' } as unknown as AttemptDependencies
    const call = { signal: new AbortController().signal } as Call
    const record: AttemptRecord = { endpoint, status: 0, startedAt: 0 }
    const limits = { ...LIMITS, firstToken: 20 }
    const attempt = runAttempt(deps, { call, request: { input: [] }, endpoint, credential: undefined, limits, record })
    await expect(attempt.next()).rejects.toMatchObject({ errorType: 'timeout', details: { metadata: { limit: 'first_token' } } })
    expect(sent).toBe(0)
  })
})

describe('a caller who left before anything was sent', () => {
  it(verifies('P9', 'causes no upstream request'), async () => {
    let sent = 0
    const exchange = {
      head: Promise.reject(new Error('cancelled')),
      read: () => Promise.reject(new Error('cancelled')),
      cancel: () => undefined,
      ended: false,
    }
    exchange.head.catch(() => undefined)
    const connection = testConnection('acme')
    const dialect: Dialect = {
      ...connection.dialect,
      encodeRequest: () => ({ method: 'POST', path: '/x', headers: {}, body: '{}', dropped: [] }),
      decoder: () => deaf,
    }
    const endpoint = testEndpoint({ connection: { ...connection, dialect } })
    const send = (): Exchange => {
      sent++
      return exchange
    }
    const deps = { http: { send }, clock: systemClock, userAgent: 'test' } as unknown as AttemptDependencies
    const call = { signal: AbortSignal.abort() } as Call
    const record: AttemptRecord = { endpoint, status: 0, startedAt: 0 }
    const attempt = runAttempt(deps, { call, request: { input: [] }, endpoint, credential: undefined, limits: LIMITS, record })
    await expect(attempt.next()).rejects.toThrow('The caller went away')
    expect(sent).toBe(0)
    expect(record.abandoned).toBe(true)
  })
})

describe('what is sent', () => {
  it('holds no half of a surrogate pair: many servers refuse the whole body for one', async () => {
    const sent: string[] = []
    const connection = testConnection('acme')
    const dialect: Dialect = {
      ...connection.dialect,
      encodeRequest: () => ({ method: 'POST', path: '/x', headers: {}, body: JSON.stringify({ args: { text: 'a\ud83d' } }), dropped: [] }),
      decoder: () => deaf,
    }
    const endpoint = testEndpoint({ connection: { ...connection, dialect } })
    const send = ({ body }: { readonly body: string }): never => {
      sent.push(body)
      throw new Error('enough')
    }
    const deps = { http: { send }, clock: systemClock, userAgent: 'test' } as unknown as AttemptDependencies
    const call = { signal: new AbortController().signal } as Call
    const record: AttemptRecord = { endpoint, status: 0, startedAt: 0 }
    const attempt = runAttempt(deps, { call, request: { input: [] }, endpoint, credential: undefined, limits: LIMITS, record })
    await expect(attempt.next()).rejects.toThrow()
    expect(sent.map((body) => JSON.parse(body))).toEqual([{ args: { text: 'a\ufffd' } }])
  })

  it('has tools of the input among the others where the format does not read them there, and is decoded so', async () => {
    const tool = { type: 'function', name: 'later' } as const
    const request = { input: [{ type: 'additional_tools', role: 'developer', tools: [tool] }] } as const
    const asked = async (readsInputTools?: () => boolean): Promise<unknown[]> => {
      const seen: unknown[] = []
      const connection = testConnection('acme')
      const dialect: Dialect = {
        ...connection.dialect,
        ...(readsInputTools === undefined ? {} : { readsInputTools }),
        encodeRequest(given) {
          seen.push(given)
          return { method: 'POST', path: '/x', headers: {}, body: '{}', dropped: [] }
        },
        decoder(given) {
          seen.push(given)
          return deaf
        },
      }
      const endpoint = testEndpoint({ connection: { ...connection, dialect } })
      const send = (): never => {
        throw new Error('enough')
      }
      const deps = { http: { send }, clock: systemClock, userAgent: 'test' } as unknown as AttemptDependencies
      const call = { signal: new AbortController().signal } as Call
      const record: AttemptRecord = { endpoint, status: 0, startedAt: 0 }
      const attempt = runAttempt(deps, { call, request, endpoint, credential: undefined, limits: LIMITS, record })
      await expect(attempt.next()).rejects.toThrow()
      return seen
    }
    const moved = { input: [], tools: [tool] }
    expect(await asked()).toEqual([moved, moved])
    expect(await asked(() => true)).toEqual([request, request])
  })
})
