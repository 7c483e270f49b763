import { describe, expect, it } from 'vitest'
import type { GuardrailRules } from '../../core/guardrail.ts'
import { threadTime } from '../../testing/thread-time.ts'
import { compileFilters } from './content-filters.ts'
import type { TextSlot } from './request-texts.ts'
import { scanTexts } from './scan-texts.ts'

const slot = (text: string, joins = false): TextSlot => ({ text, joins, from: 'user' })
const EMAIL: GuardrailRules = { content_filter_builtins: [{ slug: 'email', action: 'redact' }] }
const pattern = (source: string): GuardrailRules => ({ content_filters: [{ pattern: source, action: 'redact' }] })

describe('other calls get their turn', () => {
  /** The most processor time between two of them. */
  async function longestTurn(slots: readonly TextSlot[], ...rules: readonly GuardrailRules[]): Promise<number> {
    let longest = 0
    let since = threadTime()
    const took = (): void => {
      longest = Math.max(longest, threadTime() - since)
      since = threadTime()
    }
    const rest = (): Promise<void> => {
      took()
      return Promise.resolve()
    }
    await scanTexts(slots, compileFilters(rules.map((one, n) => ({ id: `g${n}`, name: 'g', scope: 'workspace', rules: one }))), {
      now: () => performance.now(),
      rest,
    })
    took()
    return longest
  }

  it('while a list of very many texts is read, each of which holds something (B7, I8)', async () => {
    const slots = Array.from({ length: 40_000 }, (_, index) => slot('a@b.cc', index > 0))
    const before = threadTime()
    expect(await longestTurn(slots, EMAIL)).toBeLessThan(150)
    // Each match once looked at every text: a minute and more.
    expect(threadTime() - before).toBeLessThan(5_000)
  })

  it.each([
    ['every instruction at every character', '(?:a?){240}b', 'a'],
    ['an automaton that grows with every character', '[ab]*a[ab]{240}[cd]', 'abbababbaaba'],
    ['all that follows after every match', 'a.*b|a', 'a'],
  ])('while a pattern tries %s (B7, I8)', async (_, source, text) => {
    expect(await longestTurn([slot(text.repeat(Math.ceil(6_000 / text.length)))], pattern(source), pattern(`${source}x?`))).toBeLessThan(150)
  })
})
