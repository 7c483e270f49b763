import { z } from 'zod'

const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const
const INPUT_PARTS = ['input_text', 'input_image', 'input_file', 'input_audio', 'input_video'] as const

/** Format names of the public contract for encrypted reasoning. */
const REASONING_FORMATS = [
  'openai-responses-v1',
  'azure-openai-responses-v1',
  'bedrock-openai-responses-v1',
  'bedrock-xai-responses-v1',
  'xai-responses-v1',
  'meta-responses-v1',
  'anthropic-claude-v1',
  'google-gemini-v1',
  'unknown',
] as const

/**
 * Where servers of this format differ. The defaults describe the complete format as its inventor serves it; whoever serves less declares it.
 */
export const responsesOptions = z.strictObject({
  /** Path appended to the base URL. */
  path: z.string().startsWith('/').default('/responses'),

  // -- parameters --
  /** `temperature` and `top_p`: sent, refused always, or refused when the request asks for reasoning. */
  samplingParameters: z.enum(['forward', 'drop', 'drop-when-reasoning']).default('forward'),
  /** `presence_penalty` and `frequency_penalty` (some endpoints refuse them even when they are 0). */
  penalties: z.boolean().default(true),
  /** Smallest `max_output_tokens` the endpoint takes; smaller wishes are raised. */
  minOutputTokens: z.int().min(1).default(1),
  verbosities: z.array(z.enum(['low', 'medium', 'high', 'xhigh', 'max'])).default(['low', 'medium', 'high']),
  promptCacheKey: z.boolean().default(true),
  /** `prompt_cache_options` and the `prompt_cache_breakpoint` of text parts. */
  promptCacheOptions: z.boolean().default(true),
  metadata: z.boolean().default(true),
  serviceTier: z.boolean().default(true),
  /** `safety_identifier` and `user`. */
  safetyIdentifier: z.boolean().default(true),
  /** Whether the field `store` may be sent (always false). */
  store: z.boolean().default(true),
  /** Asks the upstream not to pad its stream events with random text. */
  suppressObfuscation: z.boolean().default(false),
  /** Top-level fields of the caller the gateway does not know. */
  unknownFields: z.enum(['forward', 'drop']).default('forward'),
  /** Merged into every request, over the caller's fields. */
  extraBody: z.record(z.string(), z.unknown()).default({}),

  // -- reasoning --
  /** Efforts the endpoint takes; others become the nearest one. Empty: it takes none. */
  reasoningEfforts: z.array(z.enum(EFFORTS)).default([...EFFORTS]),
  reasoningSummary: z.boolean().default(true),
  /** Whether `reasoning.max_tokens` and `reasoning.enabled` are understood; else they become an effort. */
  reasoningBudget: z.boolean().default(false),
  /** Whether the endpoint hands out its reasoning encrypted and takes it back. */
  encryptedReasoning: z.boolean().default(true),
  /**
   * When to ask for it: `auto` when the request speaks of reasoning or replays some, `always` on every model that reasons (right where the
   * catalog is exact: models that do not reason answer the wish with an error), `asked` only when the caller does.
   */
  includeReasoning: z.enum(['auto', 'always', 'asked']).default('auto'),
  /** What this endpoint's encrypted reasoning is called. */
  reasoningFormat: z.enum(REASONING_FORMATS).default('openai-responses-v1'),
  /** `any` for a router whose items carry the formats of several vendors. */
  replayFormats: z.enum(['own', 'any']).default('own'),
  /** Whether raw reasoning text of earlier turns is sent back. */
  reasoningText: z.boolean().default(false),
  /** Whether a replayed reasoning item must have an `id`. Where items are looked up by id it must have none. */
  reasoningIds: z.boolean().default(false),

  // -- tools --
  /** Free-form tools; without them they become functions with one string `input`, and back. */
  customTools: z.boolean().default(true),
  /** Namespaces of tools; without them they are flattened. */
  namespaceTools: z.boolean().default(true),
  /** The vendor's own tools (`web_search`, `mcp`, ...) and the items they leave: all, none, or these types. */
  builtinTools: z.union([z.boolean(), z.array(z.string())]).default(true),
  /** `tool_choice` of type `allowed_tools`; without it the list of tools is narrowed. */
  allowedTools: z.boolean().default(true),
  /** `strict` of functions: as the caller set it, only when true, or never. */
  strict: z.enum(['forward', 'only-true', 'drop']).default('forward'),
  maxToolNameLength: z.int().min(16).default(64),
  maxCallIdLength: z.int().min(16).default(64),
  /** `adjacent`: results directly behind the calls they answer, whatever the caller's order. */
  toolOutputs: z.enum(['as-sent', 'adjacent']).default('as-sent'),
  /** Whether tool results may hold images and files; without it these follow in a message of the user. */
  toolOutputParts: z.boolean().default(true),

  // -- messages --
  /** Content parts the endpoint takes; others are replaced by a sentence. */
  inputParts: z.array(z.enum(INPUT_PARTS)).default(['input_text', 'input_image', 'input_file', 'input_audio']),
  /** Whether messages of the assistant may hold parts; without it their texts are sent as one string. */
  assistantParts: z.boolean().default(true),
  /** `phase` of assistant messages. */
  phase: z.boolean().default(true),
  /** Role `developer`; without it such messages have role `system`. */
  developerRole: z.boolean().default(true),
  /** Fetch remote images and files ourselves and send their bytes, for servers that cannot reach them. */
  inlineMedia: z.boolean().default(false),
})

export type ResponsesOptions = z.infer<typeof responsesOptions>
