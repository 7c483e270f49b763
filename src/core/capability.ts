/** What endpoints can do and promise. Separate from endpoint.ts, because dialects and providers use it, and endpoints use them. */

/** Parameter names of the public contract, as used in `supported_parameters`. */
export const PARAMETERS = [
  'temperature',
  'top_p',
  'top_k',
  'min_p',
  'top_a',
  'frequency_penalty',
  'presence_penalty',
  'repetition_penalty',
  'max_tokens',
  'max_completion_tokens',
  'logit_bias',
  'logprobs',
  'top_logprobs',
  'prediction',
  'seed',
  'response_format',
  'structured_outputs',
  'stop',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'include_reasoning',
  'reasoning',
  'reasoning_effort',
  'web_search_options',
  'verbosity',
] as const
export type Parameter = (typeof PARAMETERS)[number]

export interface EndpointPolicies {
  /** Whether the vendor may keep or train on prompts. */
  readonly dataCollection: 'allow' | 'deny'
  readonly zdr: boolean
  /** False if the vendor's terms forbid training other models on its output. */
  readonly distillable: boolean
}

/** What a request may contain. */
export const INPUT_MODALITIES = ['text', 'image', 'file', 'audio', 'video'] as const
/** An answer with embeddings contains nothing else. */
export const MODALITIES = [...INPUT_MODALITIES, 'embeddings'] as const
export type Modality = (typeof MODALITIES)[number]
