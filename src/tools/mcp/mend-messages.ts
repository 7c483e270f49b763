import { EgressError } from '../../lib/egress-policy.ts'
import { depthBehind, isJsonObject, MAX_JSON_DEPTH, nestsTooDeep } from '../../lib/json.ts'

/**
 * Many servers write null for what they leave out, and clients in other languages take it for nothing. The SDK takes a message with it for none:
 * it is left out of the frame of a message before the SDK sees it, and of what is in it by who reads that.
 */
const NULLS = /"(?:_meta|error|result|params)"\s*:\s*null/

/** Of a message. What nests deeper than a body may, and less than this, is left out where it stands; to read more would keep everybody waiting. */
const MAX_DEPTH = 16 * MAX_JSON_DEPTH

/** The text of a message, or of several in a list. What is no JSON, or has no such member, stays as it is. */
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
    // An empty result is one, where nothing says that there was an error.
    ...(error == null ? ('result' in message ? { result: withoutMeta(result) } : {}) : { error }),
    ...(params == null ? {} : { params: withoutMeta(params) }),
  }
}

function withoutMeta(value: unknown): unknown {
  if (!isJsonObject(value) || value['_meta'] !== null) return value
  const { _meta: _, ...rest } = value
  return rest
}

/** A body that is one message. */
export async function* mendBody(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const whole of wholeBody(body)) yield Buffer.from(mendMessage(whole.toString()))
}

/** In one piece: whatever its status and its type are, the SDK may read it as JSON. Throws EgressError where that would take long. */
export async function* wholeBody(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of body) chunks.push(chunk)
  if (chunks.length === 0) return
  const whole = Buffer.concat(chunks)
  if (nestsTooDeep(whole.toString(), MAX_DEPTH)) throw tooDeep()
  yield whole
}

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const DATA = /^data: ?/
const DATA_LINE = /(?<=^|[\r\n])\uFEFF?data[^\r\n]*/g

/** A stream of events, of which each is mostly one line: whole lines go on as soon as they are there, the rest waits for its end. */
export async function* mendEvents(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let open: Buffer[] = []
  let depth = 0
  const mend = (bytes: Buffer): Buffer => {
    const text = bytes.toString()
    depth = depthOfData(text, depth)
    return NULLS.test(text) ? Buffer.from(mendLines(text)) : bytes
  }
  for await (const chunk of body) {
    const end = Math.max(chunk.lastIndexOf(LINE_FEED), chunk.lastIndexOf(CARRIAGE_RETURN)) + 1
    if (end > 0) {
      yield mend(Buffer.concat([...open, chunk.subarray(0, end)]))
      open = []
    }
    if (end < chunk.length) open.push(chunk.subarray(end))
  }
  if (open.length > 0) yield mend(Buffer.concat(open))
}

function mendLines(text: string): string {
  const lines = text.split(/(\r\n|\r|\n)/).map((line) => {
    const [mark] = DATA.exec(line) ?? []
    return mark === undefined ? line : mark + mendMessage(line.slice(mark.length))
  })
  return lines.join('')
}

const tooDeep = (): EgressError => new EgressError('network', 'the server sent a message whose lists and objects are nested too deep')

/** Brackets that are open behind these lines. A message may have many, and what is whole leaves none open; what is not is counted on, and ends its stream. */
function depthOfData(text: string, before: number): number {
  let depth = before
  try {
    for (const [line] of text.matchAll(DATA_LINE)) depth = depthBehind(line, depth, MAX_DEPTH)
  } catch {
    throw tooDeep()
  }
  return depth
}
