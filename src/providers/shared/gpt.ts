type Rules = { readonly match: string; readonly reasoning_efforts: readonly string[] }

const LOW_TO_HIGH = ['low', 'medium', 'high']
/** Ids of clouds carry a prefix, those of tuned models another: `ft:<model>:<organisation>:<name>:<id>`. */
const START = '(?:^|[./])(?:ft:)?'
/** Not the name of a later generation: 5 is not 5.1, nor 5.1 5.10. */
const END = '(?![.\\d])'

const LOW_TO_XHIGH = [...LOW_TO_HIGH, 'xhigh']
const LOW_TO_MAX = [...LOW_TO_XHIGH, 'max']

/**
 * Efforts of GPT's and the o-series' generations for the option `models` of the dialects that speak of efforts. Since 5.1 `minimal` is
 * refused and reasoning can be switched off, but not where it was trained for code, nor in the largest since 6, nor, by a guess, in names to come.
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

/** The same, for chat completions, which take no `max`. */
export const GPT_CHAT_MODELS = GPT_MODELS.map(({ match, reasoning_efforts: efforts }) => ({
  match,
  reasoning_style: 'effort',
  reasoning_efforts: efforts.filter((effort) => effort !== 'max'),
}))

/** The ones that reason unless told not to, for the option `reasoning_models` of `openai-responses`: they refuse sampling parameters meanwhile. */
export const GPT_REASONS = `${START}(?:o\\d|codex|computer-use|gpt-(?:(?:[5-9]|1\\d)(?!.*chat)|daybreak|rosalind))`

/** The ones that take marks of what is cached, for the option `cache_option_models` of `openai-responses`: older ones refuse the call. */
export const GPT_CACHE_MARKS = `${START}gpt-(?:5\\.(?:[6-9]|\\d\\d)|[6-9]|1\\d)`

/**
 * The ones that always reason, for the option `models` of `openai-chat`, wherever they are served and whatever stands before their names:
 * told not to, they get the least effort, which would switch reasoning on elsewhere.
 */
export const ALWAYS_REASONING: readonly { readonly match: string }[] = [
  { match: `(?:^|[./_-])(?:o\\d|(?:gpt|GPT)-(?:oss|OSS|5${END}(?!-[Cc]hat)|6-[Aa]stra|6\\.1-[Ss]ol))` },
]

/** Options of `openai-responses` for what is not open of these models on Bedrock, at either of its addresses. */
export const GPT_ON_BEDROCK = {
  sampling_parameters: 'drop-when-reasoning',
  reasoning_models: GPT_REASONS,
  cache_option_models: GPT_CACHE_MARKS,
  reasoning_format: 'bedrock-openai-responses-v1',
  models: GPT_MODELS,
}
