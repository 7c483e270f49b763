type Rules = { readonly match: string; readonly reasoning_efforts: readonly string[] }

const LOW_TO_HIGH = ['low', 'medium', 'high']
/** Ids of clouds carry a prefix. */
const START = '(?:^|[./])'
/** Not the name of a later generation: 5 is not 5.1, nor 5.1 5.10. */
const END = '(?![.\\d])'

/**
 * Efforts of GPT's and the o-series' generations for the option `models` of the dialects that speak of efforts; none stands here for those that take all.
 * Reasoning can be switched off since 5.1, but not where it was trained for code.
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
  { match: `${START}gpt-5\\.1${END}-codex-max`, reasoning_efforts: [...LOW_TO_HIGH, 'xhigh'] },
  { match: `${START}gpt-5\\.1${END}-codex`, reasoning_efforts: LOW_TO_HIGH },
  { match: `${START}gpt-5\\.1${END}`, reasoning_efforts: ['none', ...LOW_TO_HIGH] },
]

/**
 * The ones that always reason, for the option `models` of `openai-chat`, wherever they are served and whatever stands before their names:
 * told not to, they get the least effort, which would switch reasoning on elsewhere.
 */
export const ALWAYS_REASONING: readonly { readonly match: string }[] = [{ match: `(?:^|[./_-])(?:o\\d|(?:gpt|GPT)-(?:oss|OSS|5${END}(?!-[Cc]hat)))` }]
