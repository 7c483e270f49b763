type Rules = { readonly match: string; readonly [rule: string]: unknown }

const UP_TO_MAX = ['low', 'medium', 'high', 'max']
const ALL_EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max']

/** Since 4.7: only adaptive thinking, whose text is shown on request, and no sampling parameters. */
const CURRENT = {
  thinking: 'adaptive',
  thinking_display: 'summarized',
  efforts: ALL_EFFORTS,
  sampling: 'none',
  prefill: false,
  json_schema: 'native',
  strict_tools: true,
  max_output_tokens: 128_000,
}

/**
 * Beta features that callers may switch on for these models at every cloud that hosts them. For other models a cloud refuses the call; the vendor
 * itself accepts them all.
 */
const BETWEEN_TOOLS = { caller_betas: ['^interleaved-thinking-'] }
const LONG_CONTEXT_TOO = { caller_betas: ['^interleaved-thinking-', '^context-1m-'] }

/** The generation that supports response formats and strict tools, and thinks within a budget. */
const FOUR_FIVE = {
  thinking: 'budget',
  thinking_off: 'omit',
  sampling: 'one',
  json_schema: 'native',
  strict_tools: true,
  max_output_tokens: 64_000,
}

const OPUS_4_7: Rules = { match: 'claude-(?:opus-4[.-][78]|4[.-][78]-opus)', ...CURRENT, thinking_off: 'omit' }
const SONNET_5_5: Rules = { match: 'claude-sonnet-5[.-]5(?!\\d)', ...CURRENT, thinking_off: 'between-tools', forced_tools: 'never' }
const HAIKU_5_5: Rules = { match: 'claude-haiku-5[.-]5(?!\\d)', ...CURRENT, thinking_off: 'disabled' }
const NEWEST: Rules = { match: 'claude', ...CURRENT, thinking_off: 'lowest-effort', forced_tools: 'never' }

/**
 * Rules of Claude's generations for the dialect `anthropic-messages` (its option `models`), newest first. Clouds add prefixes and versions of their
 * own to the ids. A model that is not known yet is treated like the strictest known one.
 */
const CLAUDE_MODELS: readonly Rules[] = [
  { match: 'claude-3[.-]5', thinking: 'none', max_output_tokens: 8192 },
  { match: 'claude-(?:instant|v?[12](?!\\d)|3-(?:opus|sonnet|haiku))', thinking: 'none', max_output_tokens: 4096 },
  { match: 'claude-(?:3[.-]7|sonnet-3[.-]7)', thinking: 'budget', thinking_off: 'omit', max_output_tokens: 64_000 },
  {
    match: 'claude-(?:opus-4[.-]1|4[.-]1-opus)(?!\\d)',
    thinking: 'budget',
    thinking_off: 'omit',
    sampling: 'one',
    max_output_tokens: 32_000,
    ...BETWEEN_TOOLS,
  },
  { match: 'claude-(?:opus-4[.-]5|4[.-]5-opus)', ...FOUR_FIVE, ...BETWEEN_TOOLS },
  { match: 'claude-(?:sonnet-4[.-]5|4[.-]5-sonnet)', ...FOUR_FIVE, ...LONG_CONTEXT_TOO },
  { match: 'claude-(?:haiku-4[.-]5|4[.-]5-)', ...FOUR_FIVE },
  {
    match: 'claude-(?:(?:opus|sonnet)-4[.-]6|4[.-]6-)',
    ...CURRENT,
    thinking: 'adaptive-or-budget',
    thinking_off: 'omit',
    thinking_display: undefined,
    efforts: UP_TO_MAX,
    sampling: 'one',
  },
  OPUS_4_7,
  { match: 'claude-(?:opus-4(?![.-][1-9](?!\\d))|4-opus)', thinking: 'budget', thinking_off: 'omit', max_output_tokens: 32_000, ...BETWEEN_TOOLS },
  {
    match: 'claude-(?:sonnet-4(?![.-][1-9](?!\\d))|4-sonnet)',
    thinking: 'budget',
    thinking_off: 'omit',
    max_output_tokens: 64_000,
    ...LONG_CONTEXT_TOO,
  },
  // From here on, thinking cannot be switched off and tool calls cannot be forced. Models that allow either have a rule before the last one.
  SONNET_5_5,
  HAIKU_5_5,
  {
    match: 'claude-(?:sonnet-5|opus-5|haiku-5)(?![.-][1-9](?!\\d))|claude-5(?:\\.0)?-(?:sonnet|opus)',
    ...CURRENT,
    thinking_off: 'disabled',
  },
  { match: 'claude-(?:fable|mythos)-5(?![.-][1-9](?!\\d))', ...CURRENT, thinking_off: 'lowest-effort' },
  NEWEST,
]

/** Options of the dialect for every cloud that hosts these models. */
export const CLAUDE_OPTIONS = { models: CLAUDE_MODELS, forward_user: true, eager_tools: true }

const LATEST: readonly Rules[] = [SONNET_5_5, HAIKU_5_5, NEWEST]

/**
 * The options for the vendor's own API. Since 5.1 it refuses thinking blocks after a changed history. Dropping them is a beta feature that no cloud
 * is known to have. https://platform.claude.com/docs/en/build-with-claude/preserved-thinking
 */
export const CLAUDE_OPTIONS_OWN = {
  ...CLAUDE_OPTIONS,
  tool_examples: true,
  prewarm: true,
  models: CLAUDE_MODELS.map((rule) => (LATEST.includes(rule) ? { ...rule, stale_thinking: 'dropped' } : rule)),
}

const withoutFormats = (rule: Rules): Rules => ({ ...rule, json_schema: 'tool', strict_tools: false })

/**
 * The options for platforms that validate requests against a copy of the vendor's schema. For these models the copy lacks response formats and strict
 * tools, and nothing newer in it is known.
 */
export const CLAUDE_OPTIONS_CHECKED = {
  ...CLAUDE_OPTIONS,
  eager_tools: false,
  models: [...[OPUS_4_7, SONNET_5_5, HAIKU_5_5].map(withoutFormats), ...CLAUDE_MODELS.slice(0, -1), withoutFormats(NEWEST)],
}
