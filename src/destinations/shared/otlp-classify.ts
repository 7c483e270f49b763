import type { DeliveryOutcome, OutgoingResponse } from '../../core/destination.ts'
import { classifyHttp, redact } from '../../core/outcome.ts'
import { parseJsonText } from '../../lib/json.ts'

/**
 * The specification forbids retries for these statuses, but collectors in trouble answer them as well, so a few tries are made. Other statuses it
 * does not name (520 to 530, from a proxy whose server is away) are outages like 502.
 */
const DOUBTFUL_STATUSES: ReadonlySet<number> = new Set([500, 501])
/** Half of the tries come within seconds. With the breaker's pauses the last one comes after a quarter of an hour, when a restart is over. */
const DOUBTFUL_TRIES = 10
const MAX_PARSED = 4 * 1024 * 1024

/** What an OTLP/HTTP answer means. Spans refused within an accepted request are counted and never sent again. */
export function classifyOtlp(response: OutgoingResponse): DeliveryOutcome {
  if (response.status >= 200 && response.status < 300) return classifyAccepted(response)
  const outcome = classifyHttp(response)
  if (outcome.kind === 'retry' && DOUBTFUL_STATUSES.has(response.status)) return { ...outcome, maxAttempts: DOUBTFUL_TRIES }
  return outcome
}

function classifyAccepted(response: OutgoingResponse): DeliveryOutcome {
  const partial = parsePartialSuccess(response)
  if (partial === undefined) return { kind: 'delivered' }
  const message = redact(partial.message, 300)
  if (partial.rejected > 0)
    return { kind: 'partial', rejectedCount: partial.rejected, message: message === '' ? `${partial.rejected} spans were refused` : message }
  return message === '' ? { kind: 'delivered' } : { kind: 'delivered', message }
}

interface PartialSuccess {
  readonly rejected: number
  readonly message: string
}

/** An answer that cannot be parsed is an acceptance without remarks, because its status says so. */
function parsePartialSuccess({ headers, body }: OutgoingResponse): PartialSuccess | undefined {
  if (body.length === 0 || body.length > MAX_PARSED) return undefined
  return headers['content-type']?.startsWith('application/x-protobuf') ? parseProtobuf(body) : parseJson(body)
}

function parseJson(body: Buffer): PartialSuccess | undefined {
  let answer: unknown
  try {
    answer = parseJsonText(body.toString('utf8'))
  } catch {
    return undefined
  }
  if (typeof answer !== 'object' || answer === null || !('partialSuccess' in answer)) return undefined
  const partial = answer.partialSuccess
  if (typeof partial !== 'object' || partial === null) return undefined
  const { rejectedSpans, errorMessage } = partial as { readonly [key: string]: unknown }
  const rejected = Number(rejectedSpans ?? 0)
  return { rejected: Number.isFinite(rejected) ? rejected : 0, message: typeof errorMessage === 'string' ? errorMessage : '' }
}

/** `ExportTraceServiceResponse`: field 1 is a message of rejected_spans (1, varint) and error_message (2, text). */
function parseProtobuf(body: Buffer): PartialSuccess | undefined {
  const outer = readFields(body)
  const inner = outer?.get(1)
  if (!Buffer.isBuffer(inner)) return undefined
  const fields = readFields(inner)
  const rejected = fields?.get(1)
  const message = fields?.get(2)
  return { rejected: typeof rejected === 'number' ? rejected : 0, message: Buffer.isBuffer(message) ? message.toString('utf8') : '' }
}

/** Varint and length-delimited fields by number, the last of each; undefined if it is no such message. */
function readFields(bytes: Buffer): ReadonlyMap<number, number | Buffer> | undefined {
  const fields = new Map<number, number | Buffer>()
  let at = 0
  const varint = (): number | undefined => {
    let value = 0
    for (let shift = 0; shift < 70 && at < bytes.length; shift += 7) {
      const byte = bytes[at++]!
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) return value
    }
    return undefined
  }
  while (at < bytes.length) {
    const tag = varint()
    const value = tag === undefined ? undefined : varint()
    if (tag === undefined || value === undefined) return undefined
    if ((tag & 7) === 0) fields.set(tag >>> 3, value)
    else if ((tag & 7) === 2 && at + value <= bytes.length) {
      fields.set(tag >>> 3, bytes.subarray(at, at + value))
      at += value
    } else return undefined
  }
  return fields
}
