import type { Dialect } from '../core/dialect.ts'
import { createAwsEventStreamParser } from '../lib/aws-event-stream.ts'
import { createSseParser } from '../lib/sse.ts'

export type Framing = Dialect['framing']

/** How the bytes of a stream are cut into frames. */
export const FRAMERS: {
  readonly [F in Framing]: (listener: (data: string, event: string | undefined) => void) => { push(chunk: Buffer): void; end(): void }
} = {
  sse: createSseParser,
  'aws-event-stream': createAwsEventStreamParser,
}

/**
 * Undefined for a body that is one JSON document. It is known by its first character, whatever the header says: no line of an event begins with a
 * bracket. AWS frames begin with their length, whose first byte is 0 and cannot begin a text.
 */
export function framingOf(contentType: string, framing: Framing, first: readonly Buffer[]): Framing | undefined {
  const start = startOf(first)
  if (start.startsWith('{') || start.startsWith('[')) return undefined
  const type = contentType.toLowerCase()
  if (type.includes('amazon.eventstream') || (framing === 'aws-event-stream' && first[0]![0] === 0)) return 'aws-event-stream'
  return type.includes('event-stream') || BEGINS_EVENTS.test(start) ? 'sse' : undefined
}

/** False while the bytes may still be either: only blanks, or the beginning of a field's name. More blanks than anybody sends on purpose decide it, too. */
export function tellsFraming(chunks: readonly Buffer[]): boolean {
  const start = startOf(chunks)
  if (start !== '' && !FIELDS.some((field) => field.startsWith(start))) return true
  let size = 0
  for (const chunk of chunks) size += chunk.length
  return size > MAX_BLANKS
}

const FIELDS = ['data', 'event', 'id', 'retry']
const BEGINS_EVENTS = /^(?:data|event|id|retry)?:/
/** As many characters as the longest field name and its colon. */
const START_CHARS = 6
const MAX_BLANKS = 4 * 1024

/** Blanks, and the three bytes of a BOM, which cannot begin a text that means anything here. */
const BEFORE: ReadonlySet<number> = new Set([0x20, 0x09, 0x0d, 0x0a, 0xef, 0xbb, 0xbf])

/** The first characters after blanks, wherever the chunks are cut. */
function startOf(chunks: readonly Buffer[]): string {
  let start = ''
  for (const chunk of chunks) {
    let from = 0
    if (start === '') while (from < chunk.length && BEFORE.has(chunk[from]!)) from++
    start += chunk.toString('latin1', from, from + START_CHARS - start.length)
    if (start.length === START_CHARS) break
  }
  return start
}
