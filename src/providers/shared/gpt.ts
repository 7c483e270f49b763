type Rules = { readonly match: string; readonly reasoning_efforts: readonly string[] }

const LOW_TO_HIGH = ['low', 'medium', 'high']
/** Clouds prefix the ids, and tuned models have the form `ft:<model>:<organisation>:<name>:<id>`. */
const START = '(?:^|[./])(?:ft:)?'
/** Not the name of a later version: 5 does not match 5.1, and 5.1 does not match 5.10. */
const END = '(?![.\\d])'

const LOW_TO_XHIGH = [...LOW_TO_HIGH, 'xhigh']
const LOW_TO_MAX = [...LOW_TO_XHIGH, 'max']

/**
 * Efforts of GPT and the o-series by generation, for the option `models` of dialects with efforts. Since 5.1 `minimal` is refused and reasoning can
 * be switched off. Exceptions are models trained for code, the largest since 6 and, as a guess, names to come.
 */
export const GPT_MODELS: readonly Rules[] = [
  { match: `${START}o1-(?:mini|preview)`, reasoning_efforts: [] },
  { match: `${START}o\\d.*deep-research`, reasoning_efforts: ['medium'] },
  { match: `${START}(?:o\\d|codex-mini|gpt-oss)`, reasoning_efforts: LOW_TO_HIGH },
  { match: `${START}gpt-5${END}-chat`, reasoning_efforts: [] },
  { match: `${START}gpt-5${END}-pro`, reasoning_efforts: ['high'] },
  { match: `${START}gpt-5${END}-codex`, reasoning_efforts: LOW_TO_HIGH },
  { match: `${START}gpt-5${END}`, reasoning_efforts: ['minimal', ...LOW_TO_HIGH] },
  { match: `${START}gpt-5\\.1${END}-chat`, reasoning_efforts: ['medium'] },
  { match: `${START}gpt-5\\.1${END}-codex-max`, reasoning_efforts: LOW_TO_XHIGH },
  { match: `${START}gpt-5\\.1${END}-codex`, reasoning_efforts: LOW_TO_HIGH },
  { match: `${START}gpt-5\\.1${END}`, reasoning_efforts: ['none', ...LOW_TO_HIGH] },
  { match: `${START}gpt-5\\.2${END}-chat`, reasoning_efforts: ['medium'] },
  { match: `${START}gpt-[5-9].*-chat`, reasoning_efforts: [] },
  { match: `${START}gpt-5\\.\\d+-pro`, reasoning_efforts: ['medium', 'high', 'xhigh'] },
  { match: `${START}gpt-5\\.\\d+-codex`, reasoning_efforts: LOW_TO_XHIGH },
  { match: `${START}gpt-5\\.[2-5]${END}`, reasoning_efforts: ['none', ...LOW_TO_XHIGH] },
  { match: `${START}gpt-(?:5\\.6${END}|6-(?:sol|luna)|6\\.1-terra)`, reasoning_efforts: ['none', ...LOW_TO_MAX] },
  { match: `${START}gpt-(?:5\\.\\d|[6-9]|1\\d|daybreak|rosalind)`, reasoning_efforts: LOW_TO_MAX },
]

/** The same for chat completions, which do not accept `max`. */
export const GPT_CHAT_MODELS = GPT_MODELS.map(({ match, reasoning_efforts: efforts }) => ({
  match,
  reasoning_style: 'effort',
  reasoning_efforts: efforts.filter((effort) => effort !== 'max'),
}))

/**
 * Models that reason unless told not to, for the option `reasoning_models` of `openai-responses`. They refuse sampling parameters while they reason.
 */
export const GPT_REASONS = `${START}(?:o\\d|codex|computer-use|gpt-(?:(?:[5-9]|1\\d)(?!.*chat)|daybreak|rosalind))`

/** Models that accept cache breakpoints, for the option `cache_option_models` of `openai-responses`. Older ones refuse the call. */
export const GPT_CACHE_MARKS = `${START}gpt-(?:5\\.(?:[6-9]|\\d\\d)|[6-9]|1\\d)`

/**
 * Models that always reason, for the option `models` of `openai-chat`, wherever they are served and whatever their prefix. If reasoning is to be off,
 * they get the least effort, which would switch reasoning on in other models.
 */
export const ALWAYS_REASONING: readonly { readonly match: string }[] = [
  { match: `(?:^|[./_-])(?:o\\d|(?:gpt|GPT)-(?:oss|OSS|5${END}(?!-[Cc]hat)|6-[Aa]stra|6\\.1-[Ss]ol))` },
]

/** Options of `openai-responses` for OpenAI's models without open weights on Bedrock, at either of its addresses. */
export const GPT_ON_BEDROCK = {
  sampling_parameters: 'drop-when-reasoning',
  reasoning_models: GPT_REASONS,
  cache_option_models: GPT_CACHE_MARKS,
  reasoning_format: 'bedrock-openai-responses-v1',
  models: GPT_MODELS,
}

/** Charged by the picture, by the call and by the container, whichever tool runs in it, and told of in no usage. */
export const GPT_PAID_TOOLS: readonly string[] = ['image_generation', 'code_interpreter', 'file_search', 'container_auto', 'container_reference']

const priority = (match: string, factor: number): { readonly tier: 'priority'; readonly match: string; readonly factor: number } => ({
  tier: 'priority',
  match: `${START}${match}`,
  factor,
})

/**
 * What OpenAI's service tiers cost, for the option `tier_factors`: input, cached input and output have the same multiple of the list price
 * (https://openai.com/api-priority-processing/). The last of each are a guess for names to come.
 */
export const GPT_TIER_FACTORS = [
  { tier: 'flex', factor: 0.5 },
  priority(`gpt-5\\.5${END}`, 2.5),
  priority(`gpt-5${END}-mini`, 1.8),
  priority(`gpt-4\\.1${END}-nano`, 2),
  priority(`(?:gpt-4\\.1${END}|gpt-4o-2024-05-13|o3${END})`, 1.75),
  priority('gpt-4o-mini', 5 / 3),
  priority('gpt-4o', 1.7),
  priority('o4-mini', 20 / 11),
  { tier: 'priority', factor: 2 },
]
