import type { IncomingMessage } from 'node:http'
import { PassThrough } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { GatewayError } from '../core/error.ts'
import { jsonOf, readBody, refuseEncoding, type ReadBodyOptions } from './body.ts'

const LIMIT = 10

/** A request whose body the test writes. */
function request(headers: IncomingMessage['headers'] = {}) {
  const body = new PassThrough()
  const read = (stallMs?: number, hold?: ReadBodyOptions['hold']): Promise<Buffer> => {
    const incoming = Object.assign(body, { headers, socket: {} }) as unknown as IncomingMessage
    return readBody(incoming, { limitBytes: LIMIT, stallMs, ...(hold === undefined ? {} : { hold }) })
  }
  return { body, read }
}
const refused = (errorType: string, more: object = {}): unknown => expect.objectContaining({ errorType, ...more })

describe('a body', () => {
  it('consists of all of its pieces', async () => {
    const { body, read } = request()
    const whole = read()
    for (const piece of ['ab', 'c', 'def']) body.write(piece)
    body.end()
    expect((await whole).toString()).toBe('abcdef')
  })

  it('that does not come with its head is used only if its caller is let in again', async () => {
    const asked: string[] = []
    const sent = async (late: boolean): Promise<string> => {
      const body = new PassThrough()
      const letIn = async (): Promise<void> => {
        asked.push(late ? 'late' : 'at once')
        throw new GatewayError('authentication', 'The API key has been revoked')
      }
      const whole = readBody(Object.assign(body, { headers: {}, socket: {} }) as unknown as IncomingMessage, { limitBytes: LIMIT, letIn })
      if (late) await sleep(5)
      body.end('abc')
      return (await whole).toString()
    }
    expect(await sent(false)).toBe('abc')
    await expect(sent(true)).rejects.toEqual(refused('authentication'))
    expect(asked).toEqual(['late'])
  })

  it('may be empty', async () => {
    const { body, read } = request({ 'content-length': '0' })
    const whole = read()
    body.end()
    expect(await whole).toHaveLength(0)
  })

  it('may be as long as the limit, declared or not, and no byte longer', async () => {
    for (const headers of [{}, { 'content-length': String(LIMIT) }]) {
      const { body, read } = request(headers)
      const whole = read()
      body.end('x'.repeat(LIMIT))
      expect(await whole).toHaveLength(LIMIT)
    }
    const tooLarge = refused('payload_too_large', {
      message: `The body is larger than the limit of ${LIMIT} bytes`,
      details: { headers: { connection: 'close' } },
    })
    await expect(request({ 'content-length': String(LIMIT + 1) }).read()).rejects.toEqual(tooLarge)
    for (const headers of [{}, { 'content-length': '1' }]) {
      const { body, read } = request(headers)
      const whole = read()
      body.write('x'.repeat(LIMIT))
      body.write('x')
      await expect(whole).rejects.toEqual(tooLarge)
    }
  })

  it('is waited for while it comes, however long it takes, and given up when it pauses', async () => {
    const { body, read } = request()
    const whole = read(200)
    for (let piece = 0; piece < 6; piece++) {
      await sleep(60)
      body.write('x')
    }
    body.end()
    expect(await whole).toHaveLength(6)
    const paused = request()
    const half = paused.read(50)
    paused.body.write('x')
    await expect(half).rejects.toEqual(refused('timeout', { message: 'The body came too slowly', details: { headers: { connection: 'close' } } }))
    // What comes after that is nobody's.
    paused.body.end('y')
    await sleep(10)
  })

  it('that is cut off by its connection is not used', async () => {
    for (const end of [(body: PassThrough) => body.destroy(), (body: PassThrough) => body.destroy(new Error('reset'))]) {
      const { body, read } = request()
      const whole = read()
      body.write('x')
      end(body)
      await expect(whole).rejects.toEqual(refused('invalid_request', { message: 'The connection closed before the whole body had arrived' }))
    }
  })

  it('without memory for it is refused at once or half-way, and its caller can read the error', async () => {
    const full = new GatewayError('provider_overloaded', 'no memory')
    const take = (from: number) => (bytes: number) => {
      if (bytes >= from) throw full
    }
    const early = request({ 'content-length': '8' })
    await expect(early.read(undefined, { announce: take(8), grow: take(99) })).rejects.toBe(full)
    expect(early.body.readableFlowing).toBe(null)
    const { body, read } = request()
    const whole = read(undefined, { announce: take(1), grow: take(4) })
    for (const piece of ['abc', 'd', 'e']) body.write(piece)
    await expect(whole).rejects.toBe(full)
  })

  it('is refused before anything is read where it is compressed', async () => {
    const { body, read } = request({ 'content-encoding': 'gzip' })
    body.end('x')
    await expect(read()).rejects.toEqual(refused('invalid_request'))
    expect(body.readableFlowing).toBe(null)
  })
})

describe('an encoding', () => {
  it.each([undefined, 'identity', ' Identity ', '', ' '])('that changes nothing is accepted: %j', (encoding) => {
    expect(() => refuseEncoding(encoding)).not.toThrow()
  })
  it.each(['gzip', 'br', 'zstd', 'deflate', 'identity, gzip'])('that needs decoding is refused: %j', (encoding) => {
    expect(() => refuseEncoding(encoding)).toThrow(`content-encoding ${encoding} is not accepted; send the body uncompressed`)
  })
  it('is quoted in part, however long it is', () => {
    expect(() => refuseEncoding('x'.repeat(500))).toThrow(/content-encoding x{40} is not/)
  })
})

describe('the content of a body', () => {
  it('is parsed as JSON', () => expect(jsonOf(Buffer.from('{"a":[1]}'))).toEqual({ a: [1] }))
  it('is an error of the caller if it is not JSON', () => {
    expect(() => jsonOf(Buffer.from('{"a"'))).toThrow(refused('invalid_request', { message: expect.stringMatching(/^The body is not valid JSON: /) }))
  })
})
