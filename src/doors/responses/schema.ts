import { z } from 'zod'
import { byKind, fields, list, maybe } from './schema-combinators.ts'
import { inputItem } from './schema-items.ts'
import {
  debug,
  imageConfig,
  include,
  metadata,
  prompt,
  promptCacheOptions,
  reasoning,
  stopServerToolsWhen,
  textOptions,
  trace,
} from './schema-options.ts'
import { plugins, providerPreferences } from './schema-routing.ts'
import { cacheControl, count, flag, positive, temperature, text } from './schema-shared.ts'
import { toolChoice, tools } from './schema-tools.ts'

/** Longest session id and user, in UTF-16 code units. */
export const MAX_LABEL = 256

const penalty = maybe(z.number().min(-2).max(2))
const label = maybe(z.string().max(MAX_LABEL))

const stateless = {
  store: maybe(z.literal(false, { error: 'must be false: nothing is stored, so every request carries its whole conversation' })),
  previous_response_id: maybe(z.never({ error: 'must be null: nothing is stored, send the earlier items of the conversation in "input" instead' })),
}

/**
 * The body of POST /api/v1/responses. A check, not a parser: it changes and copies nothing, and fields it does not list are carried.
 * Rules of tolerance: null is as good as absent; tools and items of unknown types are carried; unknown values of known enums are refused.
 */
export const responsesRequest = fields({
  model: maybe(z.string().min(1)),
  models: maybe(list(z.string().min(1))),
  input: maybe(byKind({ string: z.string(), array: list(inputItem) })),
  instructions: text,
  tools: maybe(tools),
  tool_choice: maybe(toolChoice),
  parallel_tool_calls: flag,
  max_output_tokens: positive,
  max_tool_calls: count,
  stop_server_tools_when: maybe(stopServerToolsWhen),
  temperature,
  top_p: maybe(z.number().min(0).max(1)),
  top_k: count,
  top_logprobs: maybe(z.int().min(0).max(20)),
  presence_penalty: penalty,
  frequency_penalty: penalty,
  reasoning: maybe(reasoning),
  text: maybe(textOptions),
  include: maybe(include),
  stream: flag,
  background: flag,
  truncation: maybe(z.enum(['auto', 'disabled'])),
  service_tier: maybe(z.enum(['auto', 'default', 'fast', 'flex', 'priority', 'scale'])),
  ...stateless,
  user: label,
  session_id: label,
  safety_identifier: text,
  metadata: maybe(metadata),
  trace: maybe(trace),
  prompt: maybe(prompt),
  prompt_cache_key: text,
  prompt_cache_options: maybe(promptCacheOptions),
  cache_control: maybe(cacheControl),
  modalities: maybe(list(z.enum(['text', 'image']))),
  image_config: maybe(imageConfig),
  provider: maybe(providerPreferences),
  plugins: maybe(plugins),
  debug: maybe(debug),
  route: z.unknown().optional(),
})
