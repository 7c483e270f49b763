import type { Dialect } from '../core/dialect.ts'
import { createAwsEventStreamParser } from '../lib/aws-event-stream.ts'
import { createSseParser } from '../lib/sse.ts'

export type Framing = Dialect['framing']

/** How the bytes of a stream are cut into events. */
export const FRAMERS: {
  readonly [F in Framing]: (listener: (data: string, event: string | undefined) => void) => { push(chunk: Buffer): void; end(): void }
} = {
  sse: createSseParser,
  'aws-event-stream': createAwsEventStreamParser,
}

/**
 * Undefined for a body that is one whole, known by its first character whatever its header says: no line of an event begins with a bracket.
 * AWS frames begin with their length, whose first byte is 0 and which no text begins with.
 */
export function framingOf(contentType: string, framing: Framing, first: readonly Buffer[]): Framing | undefined {
  const start = startOf(first)
  if (start.startsWith('{') || start.startsWith('[')) return undefined
  if (contentType.includes('amazon.eventstream') || (framing === 'aws-event-stream' && first[0]![0] === 0)) return 'aws-event-stream'
  return contentType.includes('event-stream') || looksLikeEvents(start) ? 'sse' : undefined
}

/** A BOM as its bytes look here, and blanks. */
const BEFORE = /^(?:\u00ef\u00bb\u00bf)?[ \t\r\n]*/

function startOf(chunks: readonly Buffer[]): string {
  for (const chunk of chunks) {
    const start = chunk.subarray(0, 64).toString('latin1').replace(BEFORE, '')
    if (start !== '') return start
  }
  return ''
}

const looksLikeEvents = (start: string): boolean => start.startsWith('data:') || start.startsWith('event:') || start.startsWith(':')
