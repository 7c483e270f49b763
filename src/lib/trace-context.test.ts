import { describe, expect, it } from 'vitest'
import { readTraceParent, writeTraceParent } from './trace-context.ts'

const traceId = '0af7651916cd43dd8448eb211c80319c'
const spanId = 'b7ad6b7169203331'

describe('the trace context of a request', () => {
  it('is read from the header of W3C Trace Context, of later versions as well', () => {
    expect(readTraceParent(`00-${traceId}-${spanId}-01`)).toEqual({ traceId, spanId })
    expect(readTraceParent(`00-${traceId}-${spanId}-03`)).toEqual({ traceId, spanId })
    expect(readTraceParent(`cc-${traceId}-${spanId}-01-what-the-future-will-be-like`)).toEqual({ traceId, spanId })
  })

  it('is written as it is read', () => {
    expect(writeTraceParent({ traceId, spanId })).toBe(`00-${traceId}-${spanId}-01`)
  })

  it.each([
    ['a trace that nobody records', `00-${traceId}-${spanId}-00`],
    ['no trace', `00-${'0'.repeat(32)}-${spanId}-01`],
    ['no span', `00-${traceId}-${'0'.repeat(16)}-01`],
    ['a version that never is', `ff-${traceId}-${spanId}-01`],
    ['more than this version says', `00-${traceId}-${spanId}-01-more`],
    ['capitals', `00-${traceId.toUpperCase()}-${spanId}-01`],
    ['another form', `${traceId}-${spanId}`],
    ['nothing', ''],
  ])('is not read from %s', (_what, header) => expect(readTraceParent(header)).toBeUndefined())
})
