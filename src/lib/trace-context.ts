/** The place of a request in a trace: the header `traceparent` of W3C Trace Context. */
export interface TraceParent {
  /** 32 hex digits. */
  readonly traceId: string
  /** Of the span the request comes from, 16 hex digits. */
  readonly spanId: string
}

const FORM = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/
const ZEROS = /^0+$/
const SAMPLED = 1

/** Undefined if it is malformed, or if its trace is not recorded: then there is nothing to join. */
export function readTraceParent(header: string): TraceParent | undefined {
  const [, version, traceId = '0', spanId = '0', flags = '0', rest] = FORM.exec(header) ?? []
  // Later versions may say more behind the flags; this one does not.
  if (version === undefined || version === 'ff' || (version === '00' && rest !== undefined)) return undefined
  if (ZEROS.test(traceId) || ZEROS.test(spanId) || (Number.parseInt(flags, 16) & SAMPLED) === 0) return undefined
  return { traceId, spanId }
}

export const writeTraceParent = ({ traceId, spanId }: TraceParent): string => `00-${traceId}-${spanId}-01`
