import { describe, expect, it } from 'vitest'
import type { ContentFilter } from './content-filters.ts'
import type { Redaction } from './hit-list.ts'
import { redact } from './redact-json.ts'

const filter = { placeholder: '[X]' } as ContentFilter
const hit = (text: string, found: string, extra: Partial<Redaction> = {}): Redaction => {
  const start = text.indexOf(found)
  return { filter, slot: 0, start, end: start + found.length, continued: false, ...extra }
}

describe('arguments of a call stay JSON', () => {
  it.each([
    ['a number', '{"phone":2025550123,"n":1}', '2025550123', { phone: '[X]', n: 1 }],
    ['a part of a number', '{"n":-12.55e3}', '55', { n: '[X]' }],
    ['a number in a list', '[1, 2025550123]', '2025550123', [1, '[X]']],
    ['the letter of a line break', String.raw`{"body":"Hi\nbob@example.com"}`, 'nbob@example.com', { body: 'Hi\n[X]' }],
    ['a letter escape', String.raw`{"body":"\u0041bob@example.com."}`, 'u0041bob@example.com', { body: '[X].' }],
    ['digits of a letter escape', String.raw`{"body":"a\u0041bob."}`, '41bob', { body: 'a[X].' }],
    ['the letter alone', String.raw`{"body":"a\nb"}`, 'n', { body: 'a[X]b' }],
    ['the backslash of what follows', String.raw`{"body":"say\"x"}`, 'say\\', { body: '[X]x' }],
    ['what follows an escaped backslash', String.raw`{"path":"C:\\nbob@example.com"}`, 'nbob@example.com', { path: 'C:\\[X]' }],
    ['plain words', '{"to":"bob@example.com"}', 'bob@example.com', { to: '[X]' }],
  ])('%s', (_, text, found, expected) => {
    expect(JSON.parse(redact(text, [hit(text, found)]))).toEqual(expected)
  })

  it('with many hits, in any order', () => {
    const text = String.raw`{"a":2025550123,"b":"x\nbob","c":[914,"eve"]}`
    const hits = ['eve', '914', '2025550123', 'nbob', '5550'].map((found) => hit(text, found))
    expect(JSON.parse(redact(text, hits))).toEqual({ a: '[X]', b: 'x\n[X]', c: ['[X]', '[X]'] })
  })
})

it('a match across several values is removed as plain text', () => {
  const text = '{"secret": "x","b":1}'
  expect(redact(text, [hit(text, '"secret": "x"')])).toBe('{[X],"b":1}')
})

it('texts that are not JSON are unchanged', () => {
  const text = String.raw`write \nbob@example.com 2025550123`
  expect(redact(text, [hit(text, 'nbob@example.com'), hit(text, '2025550123')])).toBe(String.raw`write \[X] [X]`)
})

it('arguments of the maximum size are redacted in bounded time', () => {
  const text = `{"n":914,"body":"${String.raw`\n`.repeat(16_000_000)}"}`
  expect(redact(text, [hit(text, '914')]).startsWith('{"n":"[X]","body"')).toBe(true)
})
