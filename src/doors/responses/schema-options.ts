import { z } from 'zod'
import { countCharacters } from '../../lib/count-characters.ts'
import { byKind, byType, dictionary, fields, list, maybe, type Misfit, quote, tagged } from './schema-combinators.ts'
import { promptVariable } from './schema-parts.ts'
import { anyObject, count, effort, flag, text } from './schema-shared.ts'

/** Options of a request besides its input and its tools. */

export const reasoning = fields({
  effort: maybe(effort),
  summary: maybe(z.enum(['auto', 'concise', 'detailed'])),
  max_tokens: count,
  enabled: flag,
  context: maybe(z.enum(['auto', 'all_turns', 'current_turn'])),
  mode: maybe(z.enum(['standard', 'pro'])),
})

export const textFormat = byType(
  [
    tagged('text', {}),
    tagged('json_object', {}),
    tagged('json_schema', { name: z.string().min(1), schema: anyObject, description: text, strict: flag }),
  ],
  { noun: 'text format' },
)

export const textOptions = fields({ format: maybe(textFormat), verbosity: maybe(z.enum(['low', 'medium', 'high', 'xhigh', 'max'])) })

const MAX_METADATA_PAIRS = 16
const MAX_METADATA_KEY = 64
const MAX_METADATA_VALUE = 512

function checkMetadataKeys(keys: readonly string[]): Misfit | undefined {
  if (keys.length > MAX_METADATA_PAIRS) return { reason: `must have at most ${MAX_METADATA_PAIRS} pairs, not ${keys.length}` }
  const long = keys.find((key) => key.length > MAX_METADATA_KEY && countCharacters(key) > MAX_METADATA_KEY)
  if (long !== undefined) return { reason: `must have keys of at most ${MAX_METADATA_KEY} characters; ${quote(long)} has ${countCharacters(long)}` }
  const bracketed = keys.find((key) => /[[\]]/.test(key))
  return bracketed === undefined ? undefined : { reason: `must have keys without square brackets; rename ${quote(bracketed)}` }
}

export const metadata = dictionary(z.string().max(MAX_METADATA_VALUE), checkMetadataKeys).meta({
  maxProperties: MAX_METADATA_PAIRS,
  propertyNames: { type: 'string', maxLength: MAX_METADATA_KEY, pattern: '^[^\\[\\]]*$' },
})

/** The five names that destinations know; all others are passed on to them as custom metadata. */
export const trace = fields({ trace_id: text, trace_name: text, span_name: text, generation_name: text, parent_span_id: text })

export const prompt = fields({ id: z.string().min(1), variables: maybe(dictionary(promptVariable)) })

export const promptCacheOptions = fields({ mode: maybe(z.enum(['explicit', 'implicit'])), ttl: text, prewarm: flag, comparison_response_id: text })

export const imageConfig = dictionary(byKind({ string: z.string(), number: z.number(), array: list(z.unknown()) }))

export const debug = fields({ echo_upstream_body: flag.describe('Streams have a response.debug event with the body sent to each upstream.') })

export const stopServerToolsWhen = list(
  byType(
    [
      tagged('step_count_is', { step_count: z.int().min(1) }),
      tagged('has_tool_call', { tool_name: z.string().min(1) }),
      tagged('max_tokens_used', { max_tokens: z.int().min(1) }),
      tagged('max_cost', { max_cost_in_dollars: z.number().min(0) }),
      tagged('finish_reason_is', { reason: z.string().min(1) }),
    ],
    { noun: 'stop condition' },
  ),
).min(1)

/** The contract's values and further ones that its official client libraries offer. */
export const include = list(
  z.enum([
    'file_search_call.results',
    'web_search_call.results',
    'web_search_call.action.sources',
    'message.input_image.image_url',
    'message.output_text.logprobs',
    'computer_call_output.output.image_url',
    'reasoning.encrypted_content',
    'code_interpreter_call.outputs',
  ]),
)
