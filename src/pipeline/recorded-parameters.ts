import type { Call } from '../core/call.ts'
import type { ModelRequest } from '../core/request.ts'

/** Validated wherever they come in. */
const CHECKED = [
  'temperature',
  'top_p',
  'top_k',
  'max_output_tokens',
  'presence_penalty',
  'frequency_penalty',
  'top_logprobs',
  'parallel_tool_calls',
  'reasoning',
  'service_tier',
  'truncation',
  'max_tool_calls',
  'dimensions',
  'encoding_format',
  'input_type',
] as const
/** Fields of formats other than Responses, whose door passes them on unchecked: their values may be anything. */
const NUMBERS = ['min_p', 'top_a', 'repetition_penalty'] as const

/** The sampling parameters as sent, by their names on the wire. Texts among them are the redacted ones. */
export function recordedParameters({ request, trace }: Call): { readonly [name: string]: unknown } {
  const parameters: Record<string, unknown> = {}
  for (const name of CHECKED) if (request[name] != null) parameters[name] = request[name]
  for (const name of NUMBERS) if (Number.isFinite(request[name])) parameters[name] = request[name]
  if (Number.isSafeInteger(request['seed'])) parameters['seed'] = request['seed']
  const bias = request['logit_bias']
  if (isBias(bias)) parameters['logit_bias'] = bias
  const kept = trace.keptRequest ?? request
  if (kept.tool_choice != null) parameters['tool_choice'] = kept.tool_choice
  const stop = stopTexts(kept)
  if (stop.length > 0) parameters['stop'] = stop
  return parameters
}

const isBias = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.values(value).every((each) => Number.isFinite(each))

/** One stop sequence or several, under either name: always shown as a list. */
function stopTexts(request: ModelRequest): readonly string[] {
  const stop = request['stop'] ?? request['stop_sequences']
  if (stop == null) return []
  return (Array.isArray(stop) ? stop : [stop]).filter((each): each is string => typeof each === 'string' && each !== '')
}
