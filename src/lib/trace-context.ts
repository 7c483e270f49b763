/** The position of a request in a trace: the header `traceparent` of W3C Trace Context. */
export interface TraceParent {
  /** 32 hex digits. */
  readonly traceId: string
  /** The caller's span, 16 hex digits. */
  readonly spanId: string
}

const FORM = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/
const ZEROS = /^0+$/
const SAMPLED = 1

/** Undefined if the header is malformed or its trace is not recorded, because then there is no trace to join. */
export function readTraceParent(header: string): TraceParent | undefined {
  const [, version, traceId = '0', spanId = '0', flags = '0', rest] = FORM.exec(header) ?? []
  // Later versions may have more fields after the flags; version 00 must not.
  if (version === undefined || version === 'ff' || (version === '00' && rest !== undefined)) return undefined
  if (ZEROS.test(traceId) || ZEROS.test(spanId) || (Number.parseInt(flags, 16) & SAMPLED) === 0) return undefined
  return { traceId, spanId }
}

export const writeTraceParent = ({ traceId, spanId }: TraceParent): string => `00-${traceId}-${spanId}-01`
