import { createRequire } from 'node:module'
import { EventStreamCodec } from '@smithy/eventstream-codec'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { awsEvent, awsException, encodeAwsFrame } from '../testing/aws-frames.ts'
import { createAwsEventStreamParser, EventStreamError } from './aws-event-stream.ts'

const { version } = createRequire(import.meta.url)('@smithy/eventstream-codec/package.json') as { version: string }

function parse(chunks: readonly Buffer[], maxFrameBytes?: number): [string, string | undefined][] {
  const events: [string, string | undefined][] = []
  const parser = createAwsEventStreamParser((data, event) => events.push([data, event]), maxFrameBytes === undefined ? {} : { maxFrameBytes })
  for (const chunk of chunks) parser.push(chunk)
  parser.end()
  return events
}

function failure(chunks: readonly Buffer[], maxFrameBytes?: number): EventStreamError {
  try {
    parse(chunks, maxFrameBytes)
  } catch (error) {
    if (error instanceof EventStreamError) return error
    throw error
  }
  return expect.unreachable('these bytes are no event stream')
}

function cut(bytes: Buffer, points: readonly number[]): Buffer[] {
  const at = [...new Set(points.map((point) => point % (bytes.length + 1)))].sort((a, b) => a - b)
  return [...at, bytes.length].map((end, index) => bytes.subarray(index === 0 ? 0 : at[index - 1], end))
}

const changed = (bytes: Buffer, at: number): Buffer => {
  const copy = Buffer.from(bytes)
  copy[at]! ^= 0xff
  return copy
}

describe('createAwsEventStreamParser', () => {
  it('gives payloads with their event types', () => {
    const bytes = Buffer.concat([awsEvent('messageStart', { role: 'assistant' }), awsEvent('contentBlockDelta', { delta: { text: 'Grüße 🎉' } })])
    expect(parse([bytes])).toEqual([
      ['{"role":"assistant"}', 'messageStart'],
      ['{"delta":{"text":"Grüße 🎉"}}', 'contentBlockDelta'],
    ])
  })

  it('gives exceptions under their own name', () => {
    expect(parse([awsException('throttlingException', { message: 'slow down' })])).toEqual([
      ['{"message":"slow down"}', 'exception:throttlingException'],
    ])
  })

  it('gives errors, which say everything in their headers, the same way', () => {
    const frame = encodeAwsFrame({ ':message-type': 'error', ':error-code': 'InternalError', ':error-message': 'Something "broke"' }, '')
    expect(parse([frame])).toEqual([['{"message":"Something \\"broke\\""}', 'exception:InternalError']])
    expect(parse([encodeAwsFrame({ ':message-type': 'error' }, '')])).toEqual([['', 'exception:unknown']])
  })

  it('passes over headers of every type', () => {
    const codec = new EventStreamCodec(
      (input) => Buffer.from(input).toString('utf8'),
      (input) => Buffer.from(input, 'utf8'),
    )
    const frame = codec.encode({
      headers: {
        a: { type: 'boolean', value: true },
        b: { type: 'boolean', value: false },
        c: { type: 'byte', value: 1 },
        d: { type: 'short', value: 2 },
        e: { type: 'integer', value: 3 },
        f: { type: 'binary', value: new Uint8Array([1, 2, 3]) },
        g: { type: 'timestamp', value: new Date(0) },
        h: { type: 'uuid', value: '01234567-89ab-cdef-0123-456789abcdef' },
        ':event-type': { type: 'string', value: 'chunk' },
      },
      body: Buffer.from('{}'),
    })
    expect(parse([Buffer.from(frame)])).toEqual([['{}', 'chunk']])
  })

  it(`reads what another implementation writes (codec ${version}), and writes what it reads`, () => {
    const codec = new EventStreamCodec(
      (input) => Buffer.from(input).toString('utf8'),
      (input) => Buffer.from(input, 'utf8'),
    )
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ minLength: 1, maxLength: 40 }), (payload, name) => {
        const frame = codec.encode({
          headers: { ':message-type': { type: 'string', value: 'event' }, ':event-type': { type: 'string', value: name } },
          body: Buffer.from(payload),
        })
        expect(parse([Buffer.from(frame)])).toEqual([[payload, name]])
        expect(Buffer.from(codec.decode(awsEvent(name, payload)).body).toString()).toBe(payload)
      }),
      { numRuns: 50 },
    )
  })

  it('gives the same however the bytes are cut', () => {
    const frames = fc.array(
      fc.tuple(fc.string({ unit: 'grapheme', maxLength: 300 }), fc.constantFrom('messageStart', 'contentBlockDelta', 'metadata')),
      { maxLength: 8 },
    )
    fc.assert(
      fc.property(frames, fc.array(fc.nat(), { maxLength: 30 }), (list, points) => {
        const bytes = Buffer.concat(list.map(([payload, type]) => awsEvent(type, payload)))
        expect(parse(cut(bytes, points))).toEqual(list)
      }),
    )
    const bytes = Buffer.concat([awsEvent('a', 'x'.repeat(20_000)), awsEvent('b', 'y')])
    expect(parse([...bytes].map((byte) => Buffer.from([byte])))).toEqual([
      ['x'.repeat(20_000), 'a'],
      ['y', 'b'],
    ])
  })

  it('finds every flipped byte', () => {
    const frame = awsEvent('contentBlockDelta', { delta: { text: 'hello' } })
    for (let at = 0; at < frame.length; at++) {
      const bytes = Buffer.concat([changed(frame, at), awsEvent('metadata', {})])
      expect(failure([bytes]).kind).toBe('damaged')
      expect(failure([bytes.subarray(0, 20), bytes.subarray(20)]).kind).toBe('damaged')
    }
  })

  it('tells an end inside a frame from an end between frames', () => {
    const frame = awsEvent('a', {})
    expect(parse([])).toEqual([])
    expect(parse([frame])).toHaveLength(1)
    for (let length = 1; length < frame.length; length++) expect(failure([frame, frame.subarray(0, length)]).kind).toBe('truncated')
  })

  it('refuses frames above the limit as soon as their length is known', () => {
    const frame = awsEvent('a', 'x'.repeat(1000))
    expect(failure([frame.subarray(0, 12)], 500).kind).toBe('too-large')
    expect(parse([frame], 2000)).toHaveLength(1)
  })

  it('holds no more than what came, whatever a length promises', () => {
    const frame = awsEvent('a', 'x'.repeat(8_000_000))
    const parser = createAwsEventStreamParser(() => undefined)
    const before = process.memoryUsage().arrayBuffers
    const parsers = Array.from({ length: 50 }, () => createAwsEventStreamParser(() => undefined))
    for (const each of parsers) each.push(frame.subarray(0, 100))
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(4_000_000)
    parser.push(frame)
    expect(parsers).toHaveLength(50)
  })

  it('survives any bytes with events or a typed error', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 6 }), (chunks) => {
        try {
          parse(
            chunks.map((chunk) => Buffer.from(chunk)),
            4096,
          )
        } catch (error) {
          expect(error).toBeInstanceOf(EventStreamError)
        }
      }),
    )
  })

  it('survives valid frames with any headers', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (block) => {
        try {
          parse([encodeAwsFrame(Buffer.from(block), '{}')])
        } catch (error) {
          expect(error).toBeInstanceOf(EventStreamError)
        }
      }),
    )
  })
})
