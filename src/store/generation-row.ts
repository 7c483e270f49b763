import { GatewayError } from '../core/error.ts'
import type { Generation, GenerationContent } from '../core/generation.ts'
import { text, integer } from './column-value.ts'
import type { Tables } from './database.ts'

type Row = Tables['generations']

/** In the order they are bound. */
export const GENERATION_COLUMNS: readonly (keyof Row)[] = [
  'id', 'workspace_id', 'key_hash', 'session_id', 'created_at', 'requested_model', 'model', 'provider', 'endpoint_id', 'status', 'error_type',
  'is_byok', 'input_tokens', 'cached_tokens', 'output_tokens', 'reasoning_tokens', 'cost', 'first_token_ms', 'duration_ms', 'record',
] // prettier-ignore

/** A record takes a few kilobytes, but callers may send megabytes of `trace` or parameters. Beyond this those are left out. */
const MAX_RECORD_CHARS = 256 * 1024
/** A longer text in stored content (mostly an inlined file) is replaced by a placeholder. */
const MAX_CONTENT_TEXT_CHARS = 256 * 1024
const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+)?[;,]/

/** `record`: the generation as JSON text, if it has been written already. */
export function encodeGeneration(generation: Generation, record?: string): Row {
  const { usage } = generation
  return {
    id: text(generation.id),
    workspace_id: text(generation.workspaceId),
    key_hash: text(generation.keyHash),
    session_id: optionalText(generation.sessionId),
    created_at: integer(generation.startedAt),
    requested_model: text(generation.requestedModel),
    model: optionalText(generation.model),
    provider: optionalText(generation.provider),
    endpoint_id: optionalText(generation.endpointId),
    status: generation.status,
    error_type: optionalText(generation.errorType),
    is_byok: generation.isByok,
    input_tokens: integer(usage.inputTokens),
    cached_tokens: integer(usage.cachedTokens),
    output_tokens: integer(usage.outputTokens),
    reasoning_tokens: integer(usage.reasoningTokens),
    cost: Number.isFinite(generation.cost.total) ? generation.cost.total : 0,
    first_token_ms: generation.firstTokenMs === undefined ? null : integer(generation.firstTokenMs),
    duration_ms: integer(generation.durationMs),
    record: record !== undefined && record.length <= MAX_RECORD_CHARS ? record : encodeRecord(generation),
  }
}

function encodeRecord(generation: Generation): string {
  const record = stringify(generation)
  if (record !== undefined && record.length <= MAX_RECORD_CHARS) return record
  const { raw: _raw, ...usage } = generation.usage
  const omitted = { omitted: `larger than ${MAX_RECORD_CHARS} characters with it, or nested too deeply` }
  const smaller = stringify({
    ...generation,
    usage,
    pipeline: generation.pipeline.map(({ data: _data, ...stage }) => stage),
    ...(generation.trace ? { trace: { ...omitted, ...namesOf(generation.trace) } } : {}),
    parameters: omitted,
  } satisfies Generation)
  if (smaller === undefined) throw new GatewayError('server', 'A generation record cannot be written as JSON')
  return smaller
}

/** The fields of a trace by which a call is found. */
const TRACE_NAMES = ['trace_id', 'trace_name', 'span_name', 'generation_name', 'parent_span_id', 'environment', 'release'] as const
const MAX_NAME_CHARS = 1_024

function namesOf(trace: NonNullable<Generation['trace']>): NonNullable<Generation['trace']> {
  const short = TRACE_NAMES.filter((name) => {
    const value = trace[name]
    return typeof value === 'string' && value.length <= MAX_NAME_CHARS
  })
  return Object.fromEntries(short.map((name) => [name, trace[name]]))
}

/** Undefined for what cannot be written as JSON: a value may nest deeper than can be written, although it could be read. */
function stringify(value: unknown, replacer?: (key: string, value: unknown) => unknown): string | undefined {
  try {
    return JSON.stringify(value, replacer)
  } catch {
    return undefined
  }
}

/** The generation as it would be stored: without values of callers that are too large or nest too deep. */
export const withoutOversize = (generation: Generation): Generation => decodeGeneration(encodeRecord(generation))

export function decodeGeneration(record: string): Generation {
  return JSON.parse(record) as Generation
}

/** Media bytes and oversized texts become placeholders with type and size. Undefined if it cannot be written at all. */
export function encodeContent(content: GenerationContent): string | undefined {
  return stringify(content, (_key, value) => {
    if (typeof value !== 'string') return value
    const media = DATA_URL.exec(value.slice(0, 200))
    if (media) return `[omitted: ${media[1] ?? 'data'}, ${value.length} characters]`
    return value.length > MAX_CONTENT_TEXT_CHARS ? `[omitted: text, ${value.length} characters]` : value
  })
}

export function decodeContent(content: string): GenerationContent {
  return JSON.parse(content) as GenerationContent
}

const optionalText = (value: string | undefined): string | null => (value === undefined ? null : text(value))
