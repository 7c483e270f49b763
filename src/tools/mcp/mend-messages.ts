import { EgressError } from '../../lib/egress-policy.ts'
import { depthBehind, isJsonObject, MAX_JSON_DEPTH, nestsTooDeep } from '../../lib/json.ts'
import { nextTurn } from '../../lib/next-turn.ts'
import type { MessageCount } from './message-count.ts'

/**
 * Many servers write null for fields that they should omit, and clients in other languages accept it. The SDK refuses the whole message. These nulls are
 * removed from the frame of a message before the SDK sees it; nulls in its content are removed where the content is read.
 */
const NULLS = /"(?:_meta|error|result|params)"\s*:\s*null/

/**
 * Nesting limit of a message. Content deeper than a body may nest, but within this limit, is removed where it is; to parse more would hold up all other
 * calls.
 */
const MAX_DEPTH = 16 * MAX_JSON_DEPTH

/** The most messages in a list, all of which the SDK reads at once. */
const MAX_BATCH = 1_024
/** The SDK reads what has arrived without a pause. After this many bytes, which may be a hundred messages, others have their turn. */
const STEP = 4 * 1024

/** The text of a message, or of several in a list. Invalid JSON, and messages without such a member, are unchanged. */
export function mendMessage(text: string): string {
  if (!NULLS.test(text)) return text
  try {
    const message: unknown = JSON.parse(text)
    return JSON.stringify(Array.isArray(message) ? message.map(mended) : mended(message))
  } catch {
    return text
  }
}

function mended(message: unknown): unknown {
  if (!isJsonObject(message)) return message
  const { result, error, params, ...rest } = message
  return {
    ...rest,
    // A null result is a result if there is no error.
    ...(error == null ? ('result' in message ? { result: withoutMeta(result) } : {}) : { error }),
    ...(params == null ? {} : { params: withoutMeta(params) }),
  }
}

function withoutMeta(value: unknown): unknown {
  if (!isJsonObject(value) || value['_meta'] !== null) return value
  const { _meta: _, ...rest } = value
  return rest
}

/** A body that is one message, or a list of some. */
export async function* mendBody(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const message of wholeBody(body)) {
    const text = mendMessage(message.toString())
    if (/^\uFEFF?\s*\[/.test(text) && lengthOfList(text) > MAX_BATCH)
      throw new EgressError('network', `the server sent more than ${MAX_BATCH} messages at once`)
    yield Buffer.from(text)
  }
}

function lengthOfList(text: string): number {
  try {
    const list: unknown = JSON.parse(text)
    return Array.isArray(list) ? list.length : 0
  } catch {
    return 0
  }
}

/** The body in one piece: whatever its status and type are, the SDK may parse it as JSON. Throws EgressError if that would take long. */
export async function* wholeBody(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of body) chunks.push(chunk)
  if (chunks.length === 0) return
  const message = Buffer.concat(chunks)
  if (nestsTooDeep(message.toString(), MAX_DEPTH)) throw tooDeep()
  yield message
}

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const DATA = /^data: ?/
const BLANK_LINE = /(?<=^|\n|\r(?!\n))(?:\r\n?|\n)/g
const DATA_LINE = /(?<=^|[\r\n])\uFEFF?data[^\r\n]*/g

/** A stream of events, most of which are one line: complete lines are passed on at once, the rest waits for its end. */
export async function* mendEvents(body: AsyncIterable<Buffer>, count?: MessageCount): AsyncGenerator<Buffer> {
  let open: Buffer[] = []
  let depth = 0
  let passedOn = 0
  /** The last line may have ended in the middle of its line break. */
  let brokeOff = false
  const mend = (bytes: Buffer): Buffer => {
    const text = bytes.toString()
    depth = depthOfData(text, depth)
    const isRest = brokeOff && text.startsWith('\n')
    brokeOff = text.endsWith('\r')
    count?.add((text.match(BLANK_LINE)?.length ?? 0) - (isRest ? 1 : 0))
    return NULLS.test(text) ? Buffer.from(mendLines(text)) : bytes
  }
  for await (const chunk of body) {
    const end = Math.max(chunk.lastIndexOf(LINE_FEED), chunk.lastIndexOf(CARRIAGE_RETURN)) + 1
    if (end > 0) {
      for (const piece of inPieces(Buffer.concat([...open, chunk.subarray(0, end)]))) {
        if (passedOn >= STEP) {
          passedOn = 0
          await nextTurn()
        }
        yield mend(piece)
        passedOn += piece.length
      }
      open = []
    }
    if (end < chunk.length) open.push(chunk.subarray(end))
  }
  if (open.length > 0) yield mend(Buffer.concat(open))
}

/** Complete lines of about one step each. */
function* inPieces(lines: Buffer): Generator<Buffer> {
  for (let from = 0; from < lines.length;) {
    const ends = [LINE_FEED, CARRIAGE_RETURN].map((mark) => lines.indexOf(mark, from + STEP)).filter((end) => end !== -1)
    const to = ends.length === 0 ? lines.length : Math.min(...ends) + 1
    yield lines.subarray(from, to)
    from = to
  }
}

function mendLines(text: string): string {
  const lines = text.split(/(\r\n|\r|\n)/).map((line) => {
    const [mark] = DATA.exec(line) ?? []
    return mark === undefined ? line : mark + mendMessage(line.slice(mark.length))
  })
  return lines.join('')
}

const tooDeep = (): EgressError => new EgressError('network', 'the server sent a message whose lists and objects are nested too deep')

/** How many brackets are open after these lines. Valid messages leave none open; those of invalid ones add up, and end their stream. */
function depthOfData(text: string, before: number): number {
  let depth = before
  try {
    for (const [line] of text.matchAll(DATA_LINE)) depth = depthBehind(line, depth, MAX_DEPTH)
  } catch {
    throw tooDeep()
  }
  return depth
}
