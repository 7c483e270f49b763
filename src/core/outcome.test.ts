import { describe, expect, it } from 'vitest'
import { classifyHttp, excerpt, redact } from './outcome.ts'

const answer = (status: number, body = ''): { status: number; headers: Record<string, string>; body: Buffer } => ({
  status,
  headers: {},
  body: Buffer.from(body),
})

describe('classifyHttp', () => {
  it.each([
    [200, 'delivered'],
    [202, 'delivered'],
    [204, 'delivered'],
    [301, 'unauthorized'],
    [307, 'unauthorized'],
    [400, 'reject'],
    [401, 'unauthorized'],
    [402, 'unauthorized'],
    [403, 'unauthorized'],
    [404, 'unauthorized'],
    [405, 'unauthorized'],
    [408, 'retry'],
    [410, 'unauthorized'],
    [413, 'split'],
    [415, 'unauthorized'],
    [422, 'reject'],
    [425, 'retry'],
    [429, 'retry'],
    [500, 'retry'],
    [503, 'retry'],
  ])('%i means %s', (status, kind) => expect(classifyHttp(answer(status)).kind).toBe(kind))
})

describe('excerpt', () => {
  it('ends in no half of a character', () => {
    for (const lead of ['', 'x']) expect(JSON.stringify(excerpt(Buffer.from(lead + '\u{1f600}'.repeat(400))))).not.toMatch(/\\ud[89a-f]/)
  })

  it('is one short printable line', () => {
    expect(excerpt(Buffer.from('a\n\tb\u0000c \u0007 d'.repeat(200)))).toHaveLength(300)
    expect(excerpt(Buffer.from(' a\r\nb '))).toBe('a b')
  })

  it('blanks what looks like a credential', () => {
    for (const text of [
      'Bearer abcdef123456',
      '{"authorization":"Bearer supersecretvalue"}',
      'x-authorization: Basic supersecretvalue',
      'api_key=supersecretvalue',
      '"token": "supersecretvalue"',
      'used sk-lf-supersecretvalue',
      'authorization: supersecretvalue',
    ]) {
      expect(redact(text)).not.toMatch(/supersecret|abcdef123456/)
    }
    expect(redact('the key is missing')).toBe('the key is missing')
  })
})
