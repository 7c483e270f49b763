import { describe, expect, test } from 'vitest'
import { anthropicMessagesOptions, rulesFor } from '../../dialects/anthropic-messages/options.ts'
import { CLAUDE_OPTIONS, CLAUDE_OPTIONS_CHECKED } from './claude.ts'

const options = anthropicMessagesOptions.parse(CLAUDE_OPTIONS)

/** The effective rules of a model, in one line. */
function summary(upstreamModel: string): string {
  const rules = rulesFor({ options, upstreamModel })
  return [
    rules.thinking,
    rules.thinking_off,
    rules.sampling,
    rules.json_schema,
    rules.prefill ? 'prefill' : '-',
    rules.forced_tools,
    rules.max_output_tokens,
  ].join(' ')
}

const none = (max: number): string => `none disabled all tool prefill without-thinking ${max}`
const budget = (sampling: string, schema: string, max: number): string => `budget omit ${sampling} ${schema} prefill without-thinking ${max}`
const current = (off: string, forced = 'without-thinking'): string => `adaptive ${off} none native - ${forced} 128000`

describe('rules of Claude models', () => {
  test.each([
    ['claude-v1', none(4096)],
    ['claude-2.1', none(4096)],
    ['claude-instant-1.2', none(4096)],
    ['claude-3-haiku-20240307', none(4096)],
    ['claude-3-opus-latest', none(4096)],
    ['anthropic.claude-3-sonnet-20240229-v1:0', none(4096)],
    ['claude-3-5-haiku-latest', none(8192)],
    ['claude-3-5-sonnet-v2@20241022', none(8192)],
    ['claude-3.5-sonnet', none(8192)],
    ['claude-3-7-sonnet-latest', budget('all', 'tool', 64_000)],
    ['claude-opus-4-0', budget('all', 'tool', 32_000)],
    ['claude-opus-4-20250514', budget('all', 'tool', 32_000)],
    ['claude-sonnet-4-0', budget('all', 'tool', 64_000)],
    ['claude-sonnet-4@20250514', budget('all', 'tool', 64_000)],
    ['us.anthropic.claude-sonnet-4-20250514-v1:0', budget('all', 'tool', 64_000)],
    ['claude-opus-4-1-20250805', budget('one', 'tool', 32_000)],
    ['claude-opus-4-5-20251101', budget('one', 'native', 64_000)],
    ['claude-sonnet-4-5', budget('one', 'native', 64_000)],
    ['claude-haiku-4-5-20251001', budget('one', 'native', 64_000)],
    ['claude-4.5-haiku-20251001', budget('one', 'native', 64_000)],
    ['claude-opus-4-6', 'adaptive-or-budget omit one native - without-thinking 128000'],
    ['claude-sonnet-4-6@20260217', 'adaptive-or-budget omit one native - without-thinking 128000'],
    ['claude-opus-4-7', current('omit')],
    ['claude-opus-4-8-v1', current('omit')],
    ['claude-sonnet-5', current('disabled')],
    ['claude-opus-5', current('disabled')],
    ['anthropic.claude-opus-5-v1', current('disabled')],
    ['claude-opus-5-20260724', current('disabled')],
    ['claude-haiku-5-5', current('disabled')],
    ['claude-sonnet-5-5', current('between-tools', 'never')],
    ['claude-fable-5', current('lowest-effort')],
    ['claude-fable-5-1', current('lowest-effort', 'never')],
    ['claude-opus-5-5-v1', current('lowest-effort', 'never')],
    ['claude-opus-6', current('lowest-effort', 'never')],
  ])('%s: %s', (model, expected) => {
    expect(summary(model)).toBe(expected)
  })

  test('show thoughts where they are hidden unless asked for', () => {
    expect(rulesFor({ options, upstreamModel: 'claude-opus-4-7' }).thinking_display).toBe('summarized')
    expect(rulesFor({ options, upstreamModel: 'claude-opus-4-6' })).not.toHaveProperty('thinking_display')
  })
  test('differ only in formats and strict tools where the host supports neither for the newest models', () => {
    const checked = anthropicMessagesOptions.parse(CLAUDE_OPTIONS_CHECKED)
    const known = ['claude-sonnet-4-5', 'claude-opus-4-6', 'claude-opus-5', 'anthropic.claude-sonnet-5-v1:0', 'claude-fable-5', 'claude-3-haiku']
    const unknown = [
      'claude-opus-4-7',
      'claude-opus-4-8-v1',
      'claude-sonnet-5-5',
      'claude-haiku-5-5',
      'claude-opus-5-5',
      'claude-fable-5-1',
      'claude-opus-6',
    ]
    for (const upstreamModel of known) expect(rulesFor({ options: checked, upstreamModel })).toEqual(rulesFor({ options, upstreamModel }))
    for (const upstreamModel of unknown) {
      const rules = { ...rulesFor({ options, upstreamModel }), json_schema: 'tool', strict_tools: false }
      expect(rulesFor({ options: checked, upstreamModel })).toEqual(rules)
    }
  })
})

test.each<[model: string, asked: string, passes: boolean]>([
  ['claude-sonnet-4@20250514', 'interleaved-thinking-2025-05-14', true],
  ['claude-sonnet-4-5@20250929', 'interleaved-thinking-2025-05-14', true],
  ['claude-sonnet-4-5@20250929', 'context-1m-2025-08-07', true],
  ['anthropic.claude-opus-4-5-20251101-v1:0', 'interleaved-thinking-2025-05-14', true],
  ['anthropic.claude-opus-4-5-20251101-v1:0', 'context-1m-2025-08-07', false],
  ['claude-haiku-4-5@20251001', 'interleaved-thinking-2025-05-14', false],
  ['claude-opus-5', 'interleaved-thinking-2025-05-14', false],
])('clouds refuse unsupported fields: %s gets %s: %s', (upstreamModel, asked, passes) => {
  const { caller_betas: allowed } = rulesFor({ options, upstreamModel })
  expect(allowed.some((one) => new RegExp(one).test(asked))).toBe(passes)
})
