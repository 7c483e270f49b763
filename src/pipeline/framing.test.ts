import { describe, expect, it } from 'vitest'
import { framingOf } from './framing.ts'

const EVENTS = 'text/event-stream; charset=utf-8'
const chunks = (...texts: readonly string[]): readonly Buffer[] => texts.map((text) => Buffer.from(text))

describe('how a body is cut', () => {
  it.each<[string, string, readonly Buffer[], 'sse' | undefined]>([
    ['events', EVENTS, chunks('data: {}\n\n'), 'sse'],
    ['events under another type', 'application/json', chunks('event: x\n'), 'sse'],
    ['events after blank lines and a BOM', '', chunks('\ufeff\r\n', '\n', ': hello\n'), 'sse'],
    ['whatever is called events', EVENTS, chunks('id: 1\n'), 'sse'],
    ['a comment that comes alone', EVENTS, chunks('\n'), 'sse'],
    ['JSON', 'application/json', chunks('{"a":1}'), undefined],
    ['JSON that is called events', EVENTS, chunks('{"error":{}}'), undefined],
    ['a list that is called events', EVENTS, chunks(' \n[{}]'), undefined],
    ['JSON after blanks and a BOM', EVENTS, chunks('\ufeff \n', '{'), undefined],
    ['a page', 'text/html', chunks('<html>'), undefined],
  ])('%s', (_what, type, first, framing) => {
    expect(framingOf(type, 'sse', first)).toBe(framing)
  })

  it('in frames of AWS by their header or their first byte', () => {
    const frame = [Buffer.from([0, 0, 1, 0])]
    expect(framingOf('application/vnd.amazon.eventstream', 'sse', frame)).toBe('aws-event-stream')
    expect(framingOf('', 'aws-event-stream', frame)).toBe('aws-event-stream')
    expect(framingOf('application/json', 'aws-event-stream', chunks('{"message":"no"}'))).toBeUndefined()
    // The length of a frame may look like a bracket, its first byte does not.
    expect(framingOf('application/vnd.amazon.eventstream', 'aws-event-stream', [Buffer.from([0, 0, 0, 0x7b])])).toBe('aws-event-stream')
  })
})
