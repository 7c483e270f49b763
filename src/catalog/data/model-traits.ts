import type { Modality, Parameter } from '../../core/capability.ts'

/** Properties of a model that do not depend on who serves it. */
export interface ModelTraits {
  readonly inputs: readonly Modality[]
  readonly outputs: readonly Modality[]
  /** Reasons without being asked, so that silence before the first token is no sign of a dead connection. */
  readonly reasonsByDefault: boolean
  readonly unsupported: readonly Parameter[]
  readonly implicitCaching: boolean
}

const REASONING: readonly Parameter[] = ['reasoning', 'include_reasoning', 'reasoning_effort']
/** Parameters that models of this family refuse while they reason, which they always do. */
const SAMPLING: readonly Parameter[] = ['temperature', 'top_p', 'presence_penalty', 'frequency_penalty', 'logprobs', 'top_logprobs', 'logit_bias']

/**
 * The first match of each list wins. Names change faster than these rules, so unmatched models are assumed to accept pictures and files: no request
 * is refused by a guess.
 */
const INPUTS: readonly (readonly [RegExp, readonly Modality[]])[] = [
  [/^google\/gemini/, ['text', 'image', 'file', 'audio', 'video']],
  [/audio|voxtral/, ['text', 'audio']],
  [/^openai\/(gpt-oss|gpt-3\.5|gpt-4$|gpt-4-\d|o1-mini|o1-preview|o3-mini)/, ['text']],
  [/^deepseek\/deepseek-(flash|v4(\.|-.*vision))/, ['text', 'image']],
  [/^(deepseek|perplexity\/r1|nousresearch|ai21|cohere\/command-(r|a$|light)|z-ai\/glm-(?!\d[.\d]*v)|minimax\/minimax-m[12]|qwen\/(?!.*vl)(qwen-?[123]|qwq)|stepfun\/step-3\.5)/, ['text']],
  [/^meta-llama\/llama-(2|3$|3-|3\.1|3\.2-[13]b|3\.3)/, ['text']],
  [/^mistralai\/(mistral-(7b|nemo|tiny|saba|large-2407|large-2411)|mixtral|codestral|devstral|ministral-[38]b$)/, ['text']],
  [/^moonshotai\/kimi-k2($|-)/, ['text']],
]

const REASONS: readonly RegExp[] = [
  /^openai\/(o[1-9]|gpt-oss|codex|gpt-([5-9]|\d\d)(?!.*chat))/,
  /^anthropic\/claude-([a-z]+-)?[5-9](?!\d)/,
  /^google\/gemini-(2\.5-(pro|flash)(?!-(lite|image))|[3-9]|(flash|pro)-latest)/,
  /^x-ai\/grok-([4-9]|3-mini|build|code)(?!.*non-reasoning)/,
  /(^|[/-])(r1|qwq|thinking|reasoner|reasoning|deep-research|magistral)/,
  /^z-ai\/glm-(4\.[5-9]|[5-9])/,
  /^minimax\/minimax-m\d/,
  /^moonshotai\/kimi-k([3-9]|2\.[5-9])/,
  /^deepseek\/deepseek-(flash|v[4-9])/,
  /^qwen\/qwen3(\.\d)?-(?!coder|max|next|vl|.*instruct|.*2507$)/,
]

const NEVER_REASONS = /^(openai\/(gpt-3|gpt-4|chatgpt)|meta-llama\/|anthropic\/claude-(2|3-|3\.5|v1)|google\/(gemini-[12]\.[05](?!-(pro|flash))|gemma-[1-3]))/

/** Models that refuse every verbosity except `medium`, whoever serves them. */
const ONE_VERBOSITY = /(^|\/)(gpt-[34]|chatgpt|o[1-9](-|$)|codex|computer-use|gpt-5-chat|gpt-5(\.[12])?-codex)/

/** Families of embedding models. All others are declared by whoever serves them. */
const EMBEDS =
  /embed|(^|[/-])(bge|gte|e5|voyage|minilm|mpnet|labse|nomic-bert|uae|ember|stella|instructor|contriever|snowflake-arctic|(?:sig)?clip)(-|$)|^sentence-transformers\//
const NOT_VECTORS = /rerank/
/** Embedding models that accept more than text. */
const EMBEDS_PICTURES = /(^|[/-])(?:sig)?clip(-|$)|multimodal|[-_](vl|vision)([-_]|$)|embed-v4|gemini-embedding-[2-9]/

export const makesVectors = (slug: string): boolean => EMBEDS.test(slug.toLowerCase()) && !NOT_VECTORS.test(slug.toLowerCase())

/** The traits that the slug (`author/slug`, without variant) implies. */
export function traitsOf(slug: string): ModelTraits {
  if (makesVectors(slug)) return vectorsOf(slug)
  const reasonsByDefault = !/non-reasoning/.test(slug) && REASONS.some((pattern) => pattern.test(slug))
  const samplingRefused = /^openai\/(o[1-9]|codex|gpt-([5-9]|\d\d)(?!.*chat))/.test(slug)
  return {
    inputs: INPUTS.find(([pattern]) => pattern.test(slug))?.[1] ?? ['text', 'image', 'file'],
    outputs: /-image(-|$)|\/gemini-nano-banana/.test(slug) ? ['text', 'image'] : ['text'],
    reasonsByDefault,
    unsupported: [
      ...(samplingRefused ? SAMPLING : []),
      ...(!reasonsByDefault && NEVER_REASONS.test(slug) ? REASONING : []),
      ...(ONE_VERBOSITY.test(slug) ? (['verbosity'] as const) : []),
    ],
    implicitCaching: /^(openai|deepseek|x-ai|moonshotai|z-ai|google\/gemini-(2\.5|[3-9]))/.test(slug),
  }
}

const vectorsOf = (slug: string): ModelTraits => ({
  inputs: EMBEDS_PICTURES.test(slug) ? ['text', 'image'] : ['text'],
  outputs: ['embeddings'],
  reasonsByDefault: false,
  unsupported: [],
  implicitCaching: false,
})
