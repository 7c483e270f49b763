import { describe, expect, it } from 'vitest'
import { framingOf, tellsFraming } from './framing.ts'

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
    ['events whose first line is their number', '', chunks('id: 1\ndata: {}\n'), 'sse'],
    ['events that begin with the pause before another try', 'application/octet-stream', chunks('retry: 3000\n\n'), 'sse'],
    ['a type in capitals', 'Text/Event-Stream', chunks('x: 1\n'), 'sse'],
    ['events that come byte by byte', '', chunks('\n', 'd', 'a', 't', 'a', ':'), 'sse'],
    [
      'events after a cut BOM',
      '',
      [Buffer.from([0xef]), Buffer.from([0xbb]), ...chunks('data:').map((b) => Buffer.concat([Buffer.from([0xbf]), b]))],
      'sse',
    ],
    ['JSON called events, after a cut BOM', EVENTS, [Buffer.from([0xef]), Buffer.concat([Buffer.from([0xbb, 0xbf]), Buffer.from('{}')])], undefined],
    ['events after many blanks', '', chunks(`${'\n'.repeat(500)}data: 1`), 'sse'],
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

describe('how many bytes are needed to tell', () => {
  it.each([
    ['nothing', '', false],
    ['blanks', ' \r\n', false],
    ['the beginning of a field', 'dat', false],
    ['a field without its colon', '\nretry', false],
    ['a field', 'id:', true],
    ['a comment', ':', true],
    ['JSON', ' {', true],
    ['a page', '<', true],
    ['a word that begins like a field', 'dates', true],
    ['a frame of AWS', '\0', true],
    ['blanks without end', '\n'.repeat(5_000), true],
  ])('%s', (_what, text, told) => {
    expect(tellsFraming(chunks(text))).toBe(told)
    expect(tellsFraming(chunks(...text.slice(0, 99)))).toBe(told && text.length < 99)
  })
})
