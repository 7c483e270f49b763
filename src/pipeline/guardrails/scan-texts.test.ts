import { describe, expect, it } from 'vitest'
import type { AppliedGuardrail, GuardrailRules } from '../../core/guardrail.ts'
import { compileFilters } from './content-filters.ts'
import type { TextSlot } from './request-texts.ts'
import { redactText, scanTexts } from './scan-texts.ts'

const guardrail = (rules: GuardrailRules, id = 'g'): AppliedGuardrail => ({ id, name: id, scope: 'workspace', rules })
const slot = (text: string, joins = false, from: TextSlot['from'] = 'user'): TextSlot => ({ text, joins, from })

/** The texts after redaction, and how often others had a turn. */
async function redacted(
  slots: readonly TextSlot[],
  ...rules: readonly GuardrailRules[]
): Promise<{ readonly texts: readonly string[]; readonly turns: number }> {
  let turns = 0
  const hits = await scanTexts(slots, compileFilters(rules.map((one, n) => guardrail(one, `g${n}`))), () => {
    turns++
    return Promise.resolve()
  })
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

  it('finds in a part what would be hidden by the part before it', async () => {
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

  it('takes out the whole of an encoded text that hides something', async () => {
    const encoded = Buffer.from('mail jane@example.com').toString('base64')
    expect((await redacted([slot(`see ${encoded}.`)], EMAIL)).texts).toEqual(['see [EMAIL].'])
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

  it('pass over what cannot be read any more', () => {
    expect(
      filters({ content_filters: [{ pattern: '(', action: 'block' }], content_filter_builtins: [{ slug: 'address', action: 'block' }] }),
    ).toEqual([])
  })
})

it('never finds more than it can keep', async () => {
  const { texts } = await redacted([slot('a@example.com '.repeat(30_000))], EMAIL)
  expect(texts[0]!.startsWith('[EMAIL] ')).toBe(true)
})
