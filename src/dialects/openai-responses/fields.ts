import type { Parameter } from '../../core/capability.ts'
import { GATEWAY_FIELDS } from '../../core/request.ts'

/** What is known of the top-level fields of a request. */

/** Fields with their own rules in the encoder. */
export const HANDLED: ReadonlySet<string> = new Set([
  'input',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'include',
  'reasoning',
  'text',
  'max_output_tokens',
  'service_tier',
])

/**
 * Fields of other formats that have no effect, because what they ask for is always sent here or depends on tiers. Vendors are known to refuse them,
 * unlike unknown fields.
 */
export const FOREIGN: ReadonlySet<string> = new Set(['usage', 'include_reasoning', 'speed'])

/** Fields of other formats whose loss must be reported to the caller. */
export const FOREIGN_REPORTED: ReadonlySet<string> = new Set(['inference_geo', 'safetySettings', 'safe_prompt'])

/** Fields that request answers with images, if they are not requested through a tool. */
export const IMAGE_FIELDS = ['modalities', 'image_config'] as const

/** State on the upstream's side, which this gateway never uses, and options that are refused without it. */
export const STATEFUL: ReadonlySet<string> = new Set(['background', 'background_options', 'conversation'])

/** Sampling and other parameters, and the parameters of which an endpoint must support one to receive them. */
export const GATED: ReadonlyMap<string, readonly Parameter[]> = new Map<string, readonly Parameter[]>([
  ['temperature', ['temperature']],
  ['top_p', ['top_p']],
  ['top_k', ['top_k']],
  ['min_p', ['min_p']],
  ['top_a', ['top_a']],
  ['frequency_penalty', ['frequency_penalty']],
  ['presence_penalty', ['presence_penalty']],
  ['repetition_penalty', ['repetition_penalty']],
  ['logit_bias', ['logit_bias']],
  ['logprobs', ['logprobs']],
  ['top_logprobs', ['top_logprobs', 'logprobs']],
  ['seed', ['seed']],
  ['stop', ['stop']],
  ['prediction', ['prediction']],
  ['web_search_options', ['web_search_options']],
])

/** Fields of OpenAI's own API, and the option that states whether a server of the format accepts them. */
export const OPTIONAL: ReadonlyMap<string, 'prompt_cache_key' | 'prompt_cache_options' | 'metadata' | 'safety_identifier'> = new Map([
  ['prompt_cache_key', 'prompt_cache_key'],
  ['prompt_cache_options', 'prompt_cache_options'],
  ['metadata', 'metadata'],
  ['safety_identifier', 'safety_identifier'],
  ['user', 'safety_identifier'],
] as const)

/** Known fields without a rule; all others are unknown fields of the caller. */
export const PLAIN: ReadonlySet<string> = new Set(['instructions', 'truncation'])

/** Written in one case. Some servers compare names like Go, which also ignores two letters that look like `s` and `k`. */
const folded = (field: string): string => field.toUpperCase().toLowerCase()

const KNOWN: ReadonlySet<string> = new Set(
  [GATEWAY_FIELDS, HANDLED, FOREIGN, FOREIGN_REPORTED, IMAGE_FIELDS, STATEFUL, PLAIN, GATED.keys(), OPTIONAL.keys()].flatMap((fields) => [...fields]),
)

/**
 * Whether an unknown field is a known one in another case (`Model`, `STORE`). Servers that ignore case would take it for that field, whose own rules
 * it has passed by.
 */
export const isDisguised = (field: string): boolean => KNOWN.has(folded(field))
