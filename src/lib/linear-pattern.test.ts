import { describe, expect, it } from 'vitest'
import { verifies } from '../../e2e/requirements.ts'
import { threadTime } from '../testing/thread-time.ts'
import { compileLinearPattern, PatternTooLarge, type Span } from './linear-pattern.ts'

const search = (source: string, text: string): Span[] => [...compileLinearPattern(source).search(text)].filter((span) => span !== undefined)

describe('a linear pattern', () => {
  it('finds what JavaScript would find', () => {
    expect(search('PROJ-\\d{4,6}', 'PROJ-1234 and PROJ-99 and PROJ-654321')).toEqual([
      { start: 0, end: 9 },
      { start: 26, end: 37 },
    ])
  })

  it('reads JavaScript’s named groups and escapes', () => {
    expect(compileLinearPattern('(?<year>\\d{4})-\\u0041').test('2024-A')).toBe(true)
    expect(compileLinearPattern('https?:\\/\\/').test('http://')).toBe(true)
  })

  it('finds all there is, and nothing empty', () => {
    expect(search('a', 'a'.repeat(50_000))).toHaveLength(50_000)
    expect(search('x*', 'aaxaa')).toEqual([{ start: 2, end: 3 }])
  })

  it.each([
    ['(?=a)b', 'lookarounds'],
    ['(?<!a)b', 'lookarounds'],
    ['(a)\\1', 'backreferences'],
    ['(', 'invalid regular expression'],
    ['a{1000}{1000}', 'regular expression'],
    ['x'.repeat(10_001), '10000 characters'],
    ['(?:a?){900}b', 'too large: 1803 instructions of at most 500'],
    ['[a-z]{300}[0-9]{300}', 'too large'],
  ])('refuses %j', (source, reason) => {
    expect(() => compileLinearPattern(source)).toThrow(reason)
  })

  it.each([
    'PROJ-\\d{4,6}',
    '[A-Z]{2}\\d{2}(?: ?[A-Z0-9]{4}){3,7}',
    '\\b[\\w.%+-]{1,64}@[\\w-]{1,63}\\.[a-z]{2,24}\\b',
    '(?i)(?:api|secret)[_-]?key\\s{0,8}[:=]\\s{0,8}["\']?[A-Za-z0-9/+]{20,128}',
    '-----BEGIN [A-Z ]+KEY-----[\\s\\S]+?-----END',
    Array.from({ length: 40 }, (_, n) => `codename${n}`).join('|'),
  ])('accepts common patterns: %s', (source) => {
    expect(() => compileLinearPattern(source)).not.toThrow()
  })

  it.each([
    ['side by side', '.{1000}'.repeat(1_390)],
    ['inside one another', `(?:${'(?:[a-z].){10}'.repeat(300)}){100}`],
    ['around many characters', `(?:${'x'.repeat(1_300)}){1000}`],
  ])(verifies('B7', 'is refused before it is built, with repetitions %s'), (_where, source) => {
    const began = threadTime()
    expect(() => compileLinearPattern(source)).toThrow(PatternTooLarge)
    expect(threadTime() - began).toBeLessThan(100)
  })

  it.each([
    ['wide ranges', `(?i)${'[\u0100-\u{1e943}]'.repeat(1_600)}`],
    ['wide ranges written as escapes', `x(?si:${'[\\x{100}-\\x{10ffff}]'.repeat(490)})`],
    ['wide ranges in one class', `(?i)[${'\u0100-\u{1e943}'.repeat(2_400)}]`],
    ['classes of Unicode', `(?i)[${'\\p{L}\\P{Lu}'.repeat(700)}]`],
    ['classes of Unicode, case or no case', `[^${'\\pL\\PN'.repeat(1_600)}]`],
  ])(verifies('B7', 'is refused before it is built, with %s'), (_what, source) => {
    const began = threadTime()
    expect(() => compileLinearPattern(source)).toThrow(PatternTooLarge)
    expect(threadTime() - began).toBeLessThan(100)
  })

  it.each([
    ['all of them', '(?i)[\\x{0}-\\x{10ffff}]+ is [^\\x00-\\x7f]{2,40}'],
    ['ranges of some', '(?i)(?:[а-яё]+|[Ա-Ֆ]+|[α-ωά-ώ]+)[-0-9a-f]{4}-[\\u0e00-\\u0e7f]'],
    ['many classes', `(?i)\\b(?:${'\\p{L}\\p{Nd}?'.repeat(60)})`],
  ])('accepts the characters of every script: %s', (_what, source) => {
    expect(() => compileLinearPattern(source)).not.toThrow()
  })

  it('takes linear time where backtracking engines take exponential time', () => {
    const pattern = compileLinearPattern('(a+)+$')
    expect(pattern.test(`${'a'.repeat(50_000)}!`)).toBe(false)
  })
})

describe('a search of a long text', () => {
  /** The matches of a single look at the whole text. */
  const inOneLook = (source: RegExp, text: string): Span[] =>
    Array.from(text.matchAll(source), ({ 0: found, index }) => ({ start: index, end: index + found.length }))

  // Patterns with many instructions are searched in short looks, whose borders must not affect the result.
  it.each([
    [/ab{1,100}c{1,100}/g, 'abbc '],
    [/[a-z]{240}/g, 'x'],
    [/(?:[a-z]{3,9} ){1,20}end/g, 'one two three end four five '],
    [/\b[a-z]{1,200}\b/g, 'word words '],
    [/\B[a-z]{1,100}\B/g, 'wordwords '],
    [/^[a-z ]{1,200}/g, 'the beginning is there once '],
    [/[a-z ]{1,200}$/g, 'the end, too. and once '],
  ])('finds with %s what a single pass would find', (source, text) => {
    const long = text.repeat(Math.ceil(40_000 / text.length))
    expect(search(source.source, long)).toEqual(inOneLook(source, long))
  })

  it.each([1_000, 2_000, 2_047, 4_095, 8_000])('finds a match as long as a pattern can have at %i', (place) => {
    const text = `${'-'.repeat(place)}${'a'.repeat(490)}${'-'.repeat(5_000)}`
    expect(search('a{490}', text)).toEqual([{ start: place, end: place + 490 }])
  })

  it('finds each match completely where it is not longer than the overlap of two passes', () => {
    const key = `BEGIN${'k'.repeat(4_000)}END`
    const text = Array.from({ length: 40 }, (_, n) => `${' '.repeat(n * 37)}${key}`).join('')
    expect(search('BEGIN[a-z]+END', text).map(({ start, end }) => text.slice(start, end))).toEqual(Array.from({ length: 40 }, () => key))
  })
})
