import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createSseParser, SseLimitError } from './sse.ts'
import { verifies } from '../../e2e/requirements.ts'
import { fastestOf } from '../testing/fastest-of.ts'
import { threadTime } from '../testing/thread-time.ts'

function parse(chunks: readonly Buffer[], limit?: number): [string, string | undefined][] {
  const events: [string, string | undefined][] = []
  const parser = createSseParser((data, event) => events.push([data, event]), limit)
  for (const chunk of chunks) parser.push(chunk)
  parser.end()
  return events
}

/** An independent implementation of the specification: splits lines with a regular expression and folds fields one by one. */
function reference(text: string): [string, string | undefined][] {
  const events: [string, string | undefined][] = []
  let data: string[] = []
  let name: string | undefined
  for (const line of [...text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/), '']) {
    if (line === '') {
      if (data.length > 0) events.push([data.join('\n'), name])
      data = []
      name = undefined
    } else if (line.startsWith('data:') || line === 'data') data.push(line.slice(5).replace(/^ /, ''))
    else if (line.startsWith('event:')) name = line.slice(6).replace(/^ /, '')
  }
  return events
}

function cut(bytes: Buffer, points: readonly number[]): Buffer[] {
  const at = [...new Set(points.map((p) => p % (bytes.length + 1)))].sort((a, b) => a - b)
  return [...at, bytes.length].map((end, i) => bytes.subarray(i === 0 ? 0 : at[i - 1], end))
}

describe('createSseParser', () => {
  it('reads data and event names, and passes over comments, ids and retries', () => {
    const text = ': hello\n\nid: 7\nretry: 5\nevent: a\ndata: one\n\ndata:two\n\n: ping\ndata: {"x":"é"}\n\n'
    expect(parse([Buffer.from(text)])).toEqual([
      ['one', 'a'],
      ['two', undefined],
      ['{"x":"é"}', undefined],
    ])
  })

  it('joins several data lines with a newline and takes only one leading space', () => {
    expect(parse([Buffer.from('data: a\ndata:  b\ndata\ndata: c\n\n')])).toEqual([['a\n b\n\nc', undefined]])
  })

  it.each(['\n', '\r\n'])('reads an object that stands there bare, in one line or in several', (end) => {
    const pretty = JSON.stringify({ error: { code: 503, message: 'Busy' } }, null, 2)
    const text = `data: a\n\n${pretty}\n`.replaceAll('\n', end)
    for (let at = 0; at <= text.length; at++)
      expect(parse([Buffer.from(text.slice(0, at)), Buffer.from(text.slice(at))])).toEqual([
        ['a', undefined],
        [pretty, undefined],
      ])
    expect(parse([Buffer.from('{"a":1}\n\ndata: b\n{"c":2}\n\n')])).toEqual([
      ['{"a":1}', undefined],
      ['b', undefined],
    ])
  })

  it('delivers a last event that lacks its blank line', () => {
    expect(parse([Buffer.from('data: a\n\ndata: [DONE]')])).toEqual([
      ['a', undefined],
      ['[DONE]', undefined],
    ])
  })

  it(verifies('C20', 'gives the same events for any cut of the bytes and any line end'), () => {
    const line = fc.oneof(
      fc.string({ unit: 'grapheme' }).map((s) => `data: ${s.replace(/[\r\n]/g, '')}`),
      fc.constantFrom('', '', 'data', 'data:', 'event: e', ': comment', 'id: 1', 'retry: 9', 'event:', 'data: é😀', 'dataset: x'),
    )
    const end = fc.constantFrom('\n', '\r\n', '\r')
    fc.assert(
      fc.property(fc.array(fc.tuple(line, end), { maxLength: 30 }), fc.array(fc.nat(), { maxLength: 12 }), fc.boolean(), (lines, points, bom) => {
        const text = (bom ? '\uFEFF' : '') + lines.map(([l, e]) => l + e).join('')
        const bytes = Buffer.from(text)
        expect(parse(cut(bytes, points))).toEqual(reference(bytes.toString()))
      }),
      { numRuns: 500 },
    )
  })

  it(verifies('C20', 'reads an event of megabytes in time linear in its length, however it is cut'), () => {
    const chunk = Buffer.alloc(1_024, 'x')
    const timeFor = (kilobytes: number, times: number): number => {
      const chunks = [Buffer.from('data: '), ...Array.from({ length: kilobytes }, () => chunk), Buffer.from('\n\n')]
      return fastestOf(() => expect(parse(chunks)[0]![0]).toHaveLength(kilobytes * 1_024), times)
    }
    timeFor(512, 1)
    // The same amount of text in one event and in eight: both take long enough for other work to come between. Copying the line for each read would
    // take eight times as long in one.
    expect(timeFor(8_192, 1)).toBeLessThan(4 * Math.max(timeFor(1_024, 8), 8))
  })

  it(verifies('C20', 'refuses an event that outgrows the limit, in one line or over many'), () => {
    expect(() => parse([Buffer.from(`data: ${'x'.repeat(200)}`)], 100)).toThrow(SseLimitError)
    expect(() => parse([Buffer.from('data: xxxxxxxxxx\n'.repeat(20))], 100)).toThrow(SseLimitError)
    // One line across many small reads.
    expect(() =>
      parse(
        Array.from({ length: 20 }, () => Buffer.from('data: xxxx')),
        100,
      ),
    ).toThrow(SseLimitError)
  })
})

describe('odd line ends', () => {
  it.each([
    ['LF alone', '\n'.repeat(1_000_000)],
    ['one CR before many LF', `\r${'\n'.repeat(1_000_000)}`],
    ['CR alone', '\r'.repeat(1_000_000)],
    ['many LF before one CR', `${'\n'.repeat(1_000_000)}\r`],
  ])('%s cost linear time', (_name, text) => {
    const parser = createSseParser(() => undefined)
    const started = threadTime()
    parser.push(Buffer.from(text))
    expect(threadTime() - started).toBeLessThan(1_000)
  })
})
