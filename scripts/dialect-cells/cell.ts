/**
 * What each upstream format supports, and the tests that prove it: the data for docs/reference/dialects.md, one file per format.
 *
 * A cell says how, then names tests. A test is `file: group > title` in the folder of the dialect, or with a path from the root. A title may name one
 * case of a table (`media > audio` for `media > %s`). A cell for something that a format lacks begins with `NONE`; its reason and tests then say what
 * happens instead.
 */
export const FEATURES = {
  text: 'Text',
  image_in: 'Images in',
  audio_in: 'Audio in',
  file_in: 'Files in',
  video_in: 'Video in',
  image_out: 'Images out',
  roles: 'System and developer messages',
  tools: 'Tools',
  parallel_calls: 'Parallel calls',
  custom_tools: 'Free-form tools',
  structured_output: 'Structured output',
  structured_fallback: 'Structured output where the model has none',
  logprobs: 'Log probabilities',
  citations: 'Citations',
  refusals: 'Refusals',
  service_tiers: 'Service tiers',
  caching: 'Cache breakpoints and lifetimes',
  usage: 'Usage',
  cost: 'Cost',
  reasoning: 'Reasoning',
  continuity: 'Reasoning across turns',
  web_search: 'Web search of the vendor',
  builtin_tools: 'Other tools of the vendor',
  errors_before: 'Errors before the stream',
  errors_inside: 'Errors inside the stream',
  truncation: 'Answers cut off',
} as const

export type Feature = keyof typeof FEATURES
export const NONE = 'none'

/** How the format supports it, and at least one test. A cell that begins with NONE has the reason second. */
export type Cell = readonly [how: string, ...rest: readonly [string, ...string[]]]
export type Cells = { readonly [F in Feature]: Cell }

/** Parameters that a dialect declares, and the feature that must then not be missing. */
export const PARAMETERS: { readonly [parameter: string]: Feature } = {
  tools: 'tools',
  tool_choice: 'tools',
  parallel_tool_calls: 'parallel_calls',
  structured_outputs: 'structured_output',
  response_format: 'structured_output',
  logprobs: 'logprobs',
  reasoning: 'reasoning',
}

/** Tests that apply to several formats. */
export const COSTS = 'e2e/recorded-costs.test.ts: costs of recorded answers in the format %s'
export const BY_PRICE = 'src/catalog/cost.test.ts: the cost of an answer > cache reads and both kinds of writes have prices of their own'
export const SCOPES = 'e2e/scenarios/reasoning-scope.test.ts: reasoning through %s > is sent back to the account that created it'
export const MATRIX = 'e2e/scenarios/cross-dialect.test.ts: %s and %s'
