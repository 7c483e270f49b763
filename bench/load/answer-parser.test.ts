import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AnswerParser } from './answer-parser.ts'

interface Answer {
  status: number
  body: string
  ended: boolean
}

function parse(bytes: Buffer, cuts: readonly number[] = []): Answer[] {
  const answers: Answer[] = []
  const parser = new AnswerParser({
    head: (status) => void answers.push({ status, body: '', ended: false }),
    body: (chunk) => void (answers.at(-1)!.body += chunk.toString('latin1')),
    end: () => void (answers.at(-1)!.ended = true),
  })
  const points = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b)
  let from = 0
  for (const to of [...points, bytes.length]) {
    parser.push(bytes.subarray(from, to))
    from = to
  }
  expect(parser.idle).toBe(answers.every(({ ended }) => ended))
  return answers
}

const fixed = (body: string): string => `HTTP/1.1 200 OK\r\nServer: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`
const chunked = (chunks: readonly string[], trailer = ''): string =>
  `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${chunks.map((chunk) => `${chunk.length.toString(16)};x=1\r\n${chunk}\r\n`).join('')}0\r\n${trailer}\r\n`

describe('AnswerParser', () => {
  it('reads answers one after the other, for any cut of the bytes', () => {
    const body = fc.string({ unit: 'binary-ascii', maxLength: 60 })
    const answer = fc.oneof(
      body.map((text) => ({ wire: fixed(text), text })),
      fc
        .array(
          body.filter((text) => text !== ''),
          { maxLength: 5 },
        )
        .map((chunks) => ({ wire: chunked(chunks), text: chunks.join('') })),
      fc.constant({ wire: chunked(['a'], 'x-sum: 1\r\ny: 2\r\n'), text: 'a' }),
    )
    fc.assert(
      fc.property(fc.array(answer, { minLength: 1, maxLength: 4 }), fc.array(fc.nat(), { maxLength: 20 }), (answers, cuts) => {
        const bytes = Buffer.from(answers.map(({ wire }) => wire).join(''), 'latin1')
        expect(parse(bytes, cuts)).toEqual(answers.map(({ text }) => ({ status: 200, body: text, ended: true })))
      }),
      { numRuns: 300 },
    )
  })

  it('reports an answer that is not complete', () => {
    expect(parse(Buffer.from(fixed('hello').slice(0, -1)))).toEqual([{ status: 200, body: 'hell', ended: false }])
    expect(parse(Buffer.from(chunked(['hello']).slice(0, -2)))).toEqual([{ status: 200, body: 'hello', ended: false }])
  })

  it('refuses what it cannot measure', () => {
    expect(() => parse(Buffer.from('HTTP/1.1 200 OK\r\n\r\nbody'))).toThrow('without a length')
    expect(() => parse(Buffer.from('SSH-2.0\r\n\r\n'))).toThrow('not an answer')
    expect(() => parse(Buffer.from('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nab'))).toThrow('longer than it says')
  })
})
