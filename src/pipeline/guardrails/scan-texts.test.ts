import { describe, expect, it } from 'vitest'
import type { AppliedGuardrail, GuardrailRules } from '../../core/guardrail.ts'
import { compileFilters } from './content-filters.ts'
import type { TextSlot } from './request-texts.ts'
import { redactText } from './hit-list.ts'
import { scanTexts } from './scan-texts.ts'

const guardrail = (rules: GuardrailRules, id = 'g'): AppliedGuardrail => ({ id, name: id, scope: 'workspace', rules })
const slot = (text: string, joins = false, from: TextSlot['from'] = 'user'): TextSlot => ({ text, joins, from })

/** The texts after redaction, and how often others had a turn. */
async function redacted(
  slots: readonly TextSlot[],
  ...rules: readonly GuardrailRules[]
): Promise<{ readonly texts: readonly string[]; readonly turns: number }> {
  let turns = 0
  const { hits, unfinished } = await scanTexts(slots, compileFilters(rules.map((one, n) => guardrail(one, `g${n}`))), {
    now: () => performance.now(),
    rest: () => {
      turns++
      return Promise.resolve()
    },
  })
  expect(unfinished).toBeUndefined()
  return {
    turns,
    texts: slots.map(({ text }, index) =>
      redactText(
        text,
        hits.filter((hit) => hit.slot === index),
      ),
    ),
  }
}
const EMAIL: GuardrailRules = { content_filter_builtins: [{ slug: 'email', action: 'redact' }] }
const pattern = (source: string): GuardrailRules => ({ content_filters: [{ pattern: source, action: 'redact' }] })

describe('redaction', () => {
  it('replaces each match and keeps the rest', async () => {
    expect((await redacted([slot('a@example.com, b@example.com!')], EMAIL)).texts).toEqual(['[EMAIL], [EMAIL]!'])
  })

  it('finds words of other scripts behind disguises', async () => {
    const texts = [slot('это сек\u200bрет!'), slot('{"a":"\\u0441\\u0435\\u043a\\u0440\\u0435\\u0442"}')]
    expect((await redacted(texts, pattern('секрет'))).texts).toEqual(['это [REDACTED]!', '{"a":"[REDACTED]"}'])
  })

  it('reads text in tag characters, which nobody sees but a model', async () => {
    const tags = Array.from('a@b.cc', (char) => String.fromCodePoint(0xe0000 + char.codePointAt(0)!)).join('')
    expect((await redacted([slot(`Hi${tags} there`)], EMAIL)).texts).toEqual(['Hi[EMAIL] there'])
  })

  it('gives overlapping matches one place', async () => {
    const both = {
      content_filters: [
        { pattern: 'bcd', action: 'redact' },
        { pattern: 'cde', action: 'redact' },
      ],
    } as const
    expect((await redacted([slot('abcdef')], both)).texts).toEqual(['a[REDACTED]f'])
  })

  it('reaches over the parts of a message, and not over messages', async () => {
    expect((await redacted([slot('to jane@exam'), slot('ple.com now', true)], EMAIL)).texts).toEqual(['to [EMAIL]', ' now'])
    expect((await redacted([slot('to jane@exam'), slot('ple.com now')], EMAIL)).texts).toEqual(['to jane@exam', 'ple.com now'])
  })

  it('finds a match in a part that the part before it would hide', async () => {
    const ssn: GuardrailRules = { content_filter_builtins: [{ slug: 'ssn', action: 'redact' }] }
    expect((await redacted([slot('number 9'), slot('123-45-6789', true)], ssn)).texts).toEqual(['number 9', '[SSN]'])
  })

  it('finds matches on the border of two pieces of a long text, and gives others their turn', async () => {
    for (const before of [131_000, 131_060, 131_072, 127_000]) {
      const { texts, turns } = await redacted([slot(`${'x'.repeat(before)} jane@example.com ${'y '.repeat(600_000)}`)], EMAIL)
      expect(texts[0]).not.toContain('jane')
      expect(texts[0]!.match(/\[EMAIL\]/g)).toHaveLength(1)
      expect(turns).toBeGreaterThan(0)
    }
  })

  it('treats only the ends of a long text as ends, and not the borders of its pieces', async () => {
    const filler = 'ab '.repeat(150_000)
    const text = `key one\n${filler}\nkey two\n${filler}key three`
    const taken = async (source: string): Promise<string> => (await redacted([slot(text)], pattern(source))).texts[0]!.replaceAll(filler, '…')
    expect(await taken('^[a-z]+')).toBe('[REDACTED] one\n…\nkey two\n…key three')
    expect(await taken('[a-z]+ ?$')).toBe('key one\n…\nkey two\n…key [REDACTED]')
    expect(await taken('\\A[a-z]+|[a-z]+\\z')).toBe('[REDACTED] one\n…\nkey two\n…key [REDACTED]')
    expect(await taken('(?m)^[a-jl-z]{2,9}$|^key')).toBe('[REDACTED] one\n…\n[REDACTED] two\n…key three')
  })

  it('treats only the ends of a disguised long text as ends, too', async () => {
    const filler = 'ａb '.repeat(150_000)
    const { texts } = await redacted([slot(`${filler}key`)], pattern('^ab|[a-z]+ ?$'))
    expect(texts[0]).toBe(`[REDACTED]${filler.slice(2)}[REDACTED]`)
  })

  it('does not treat the border of a piece as the end of a number', async () => {
    const ssn: GuardrailRules = { content_filter_builtins: [{ slug: 'ssn', action: 'redact' }] }
    for (let before = 126_970; before < 126_980; before++) {
      const text = `${'x'.repeat(before)}9123-45-6789 ${'y '.repeat(9_000)}`
      expect((await redacted([slot(text)], ssn)).texts[0]).toBe(text)
    }
  })

  it('removes a match longer than the overlap of two pieces as far as each piece contains it', async () => {
    const { texts } = await redacted([slot(`${'- '.repeat(50_000)}${'k'.repeat(200_000)} end`)], pattern('k+'))
    expect(texts[0]).not.toContain('k')
    expect(texts[0]!.endsWith(' end')).toBe(true)
  })

  it('removes an encoded text with a hidden match completely', async () => {
    const encoded = Buffer.from('mail jane@example.com').toString('base64')
    expect((await redacted([slot(`see ${encoded}.`)], EMAIL)).texts).toEqual(['see [EMAIL].'])
  })

  it('finds a match after an escaped line break of JSON, whose letter n is not part of a word', async () => {
    const rules: GuardrailRules = { content_filter_builtins: (['phone', 'ip-address'] as const).map((slug) => ({ slug, action: 'redact' })) }
    const csv = slot('{"csv":"name,phone\\n914-309-4996\\t192.168.0.1\\r\\n10.0.0.1"}')
    expect((await redacted([csv], rules)).texts).toEqual(['{"csv":"name,phone\\n[PHONE]\\t[IP_ADDRESS]\\r\\n[IP_ADDRESS]"}'])
  })

  it('removes a match across two lines of an encoded text', async () => {
    const encoded = Buffer.from(`${'x '.repeat(24)}jane@example.com and so on`).toString('base64')
    const lines = `${encoded.slice(0, 76)}\n${encoded.slice(76)}`
    expect((await redacted([slot(`see ${lines}.`)], EMAIL)).texts).toEqual(['see [EMAIL].'])
  })

  it('reads custom patterns through disguises, too', async () => {
    expect((await redacted([slot('the ＰＲＯＪ-１２３４ and PR\u200bOJ-9999')], pattern('PROJ-\\d{4}'))).texts).toEqual([
      'the [REDACTED] and [REDACTED]',
    ])
  })
})

describe('several guardrails', () => {
  const filters = (...rules: readonly GuardrailRules[]) =>
    compileFilters(rules.map((one, n) => guardrail(one, `g${n}`))).map(({ action, entity, userOnly, guardrail: { id } }) => [
      id,
      entity,
      action,
      userOnly,
    ])
  const builtin = (slug: 'email' | 'regex-prompt-injection', action: 'flag' | 'redact' | 'block', scan_scope?: 'all_messages'): GuardrailRules => ({
    content_filter_builtins: [{ slug, action, ...(scan_scope === undefined ? {} : { scan_scope }) }],
  })

  it('add up, and the strictest action counts for the same thing', () => {
    expect(filters(builtin('email', 'redact'), builtin('email', 'block'), builtin('email', 'flag'))).toEqual([['g1', 'EMAIL', 'block', false]])
    expect(filters(pattern('a'), pattern('b'), { content_filters: [{ pattern: 'a', action: 'block', label: 'A' }] })).toEqual([
      ['g2', 'A', 'block', false],
      ['g1', 'CUSTOM', 'redact', false],
    ])
  })

  it('look at every message when one of them wants that', () => {
    const injection = 'regex-prompt-injection'
    expect(filters(builtin(injection, 'block'), builtin(injection, 'flag', 'all_messages'))).toEqual([['g0', 'PROMPT_INJECTION', 'block', false]])
  })

  it('skip stored filters that are no longer valid', () => {
    expect(
      filters({ content_filters: [{ pattern: '(', action: 'block' }], content_filter_builtins: [{ slug: 'address', action: 'block' }] }),
    ).toEqual([])
  })
})

describe('after any number of earlier matches', () => {
  const blockSsn: GuardrailRules = { content_filter_builtins: [{ slug: 'ssn', action: 'block' }] }
  const scan = (slots: readonly TextSlot[], rules: readonly GuardrailRules[], step = 0) => {
    let now = 0
    const filters = compileFilters(rules.map((one, n) => guardrail(one, `g${n}`)))
    return scanTexts(slots, filters, { now: () => (now += step), rest: () => Promise.resolve() })
  }

  it('everything is redacted', async () => {
    expect((await redacted([slot(`${'a@example.com '.repeat(30_000)}boss@example.com`)], EMAIL)).texts).toEqual([
      `${'[EMAIL] '.repeat(30_000)}[EMAIL]`,
    ])
    expect((await redacted([slot(`${'ID-1 '.repeat(20_000)}ID-987654`)], pattern('ID-\\d+'))).texts).toEqual([
      `${'[REDACTED] '.repeat(20_000)}[REDACTED]`,
    ])
  })

  it('a match that blocks is found', async () => {
    const noted: GuardrailRules = { content_filter_builtins: [{ slug: 'email', action: 'flag' }] }
    for (const rules of [EMAIL, noted]) {
      const { hits } = await scan([slot('a@example.com '.repeat(30_000)), slot('123-45-6789')], [rules, blockSsn])
      expect(hits.some(({ filter }) => filter.action === 'block')).toBe(true)
    }
  })

  it('a match that blocks is found where a milder rule matches the same', async () => {
    const { hits } = await scan([slot('PROJ-1')], [pattern('PROJ-1'), { content_filters: [{ pattern: 'PROJ-[0-9]', action: 'block' }] }])
    expect(hits.map(({ filter }) => filter.action)).toEqual(['redact', 'block'])
  })

  it('an encoded match is found', async () => {
    const encoded = Buffer.from('mail jane@example.com').toString('base64')
    const harmless = Buffer.from('nothing to see here').toString('base64')
    const { texts } = await redacted([slot(`${`${harmless} `.repeat(2_000)}${encoded}`)], EMAIL)
    expect(texts[0]!.endsWith(' [EMAIL]')).toBe(true)
    const padded = Buffer.from(`${'nothing to see here '.repeat(4_000)}jane@example.com`).toString('base64')
    expect((await redacted([slot(padded)], EMAIL)).texts).toEqual(['[EMAIL]'])
  })

  it('the request is not passed if there are more matches than can be removed', async () => {
    const { unfinished, hits } = await scan([slot('1 '.repeat(150_000))], [pattern('1')])
    expect(unfinished).toContain('more findings')
    expect(hits).toHaveLength(100_000)
  })

  it('recorded matches are bounded, and end nothing', async () => {
    const { unfinished, hits } = await scan([slot('1 '.repeat(150_000))], [{ content_filters: [{ pattern: '1', action: 'flag' }] }])
    expect(unfinished).toBeUndefined()
    expect(hits).toHaveLength(20_000)
  })

  it('the request is not passed if the scan took longer than allowed', async () => {
    const { unfinished } = await scan([slot('a '.repeat(5_000))], [pattern('a')], 11)
    expect(unfinished).toContain('longer')
  })

  it('nothing passes a stored pattern that is too large now, unless it only flags', async () => {
    const stored = (action: 'redact' | 'flag'): GuardrailRules => ({ content_filters: [{ pattern: '(?:a?){900}b', action }] })
    const { hits } = await scan([slot('hello')], [stored('redact')])
    expect(hits).toMatchObject([{ start: 0, end: 5, filter: { action: 'block', label: expect.stringContaining('too large') as string } }])
    expect((await scan([slot('hello')], [stored('flag')])).hits).toEqual([])
  })
})
