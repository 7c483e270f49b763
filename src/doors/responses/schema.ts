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

/** Longest session id and user, in characters. */
export const MAX_LABEL = 256

/** Bounded because every model is looked up and planned before the first is called. */
const MAX_MODELS = 1_024
/** Longer than any model's name with all its suffixes, which are examined one by one. */
const modelName = z.string().min(1).max(1_024)

const penalty = maybe(z.number().min(-2).max(2))
const label = maybe(z.string().max(MAX_LABEL))

const store = z.literal(false, { error: 'must be false: nothing is stored, so every request carries its whole conversation' })
const unstored = z.null({ error: 'must be null: nothing is stored, send the earlier items of the conversation in "input" instead' })

/**
 * The body of POST /api/v1/responses. A validator, not a parser: it neither changes nor copies anything, and keeps unlisted fields. Rules of tolerance:
 * null counts as absent; tools and items of unknown types are kept; unknown values of known enums are refused.
 */
export const responsesRequest = fields({
  model: maybe(modelName).describe('author/slug, with an optional :variant. Default: that of the key or the gateway.'),
  models: maybe(list(modelName).max(MAX_MODELS)).describe('Models to try after `model`, in order.'),
  preset: text.describe('Slug of a stored preset that fills in what the request leaves out. Can also be given as "@preset/slug" after the model.'),
  input: maybe(byKind({ string: z.string(), array: list(inputItem) })).describe('A user message, or the items of the conversation.'),
  instructions: text,
  tools: maybe(tools).describe('Tools the model may call. At most 128 of them may be tools that the gateway runs.'),
  tool_choice: maybe(toolChoice),
  parallel_tool_calls: flag,
  max_output_tokens: positive,
  max_tool_calls: count.describe('Maximum number of server tool calls in this answer.'),
  stop_server_tools_when: maybe(stopServerToolsWhen).describe('Each of these ends the loop of server tools. Replaces max_tool_calls.'),
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
  store: maybe(store),
  previous_response_id: unstored.optional(),
  // Not a field of the contract. If it were ignored silently, the model would answer without the conversation so far.
  conversation: unstored.optional(),
  user: label.describe('An id of the end user; destinations receive it.'),
  session_id: label.describe(
    'Groups the requests of one conversation, which are routed to the same endpoint. Takes precedence over the header x-session-id.',
  ),
  safety_identifier: text,
  metadata: maybe(metadata),
  trace: maybe(trace).describe('Names and ids for destinations; other keys become custom metadata.'),
  prompt: maybe(prompt),
  prompt_cache_key: text,
  prompt_cache_options: maybe(promptCacheOptions),
  cache_control: maybe(cacheControl).describe('Caches the prompt up to its last cacheable block, if the model family has such breakpoints.'),
  modalities: maybe(list(z.enum(['text', 'image']))),
  image_config: maybe(imageConfig),
  provider: maybe(providerPreferences).describe('Which endpoints may serve the request, and in which order.'),
  plugins: maybe(plugins),
  debug: maybe(debug),
  route: z.unknown().optional().describe('Ignored.'),
})
