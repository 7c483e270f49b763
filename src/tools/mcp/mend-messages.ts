import { isJsonObject } from '../../lib/json.ts'

/**
 * Many servers write null for what they leave out, and clients in other languages take it for nothing. The SDK takes a message with it for none:
 * it is left out of the frame of a message before the SDK sees it, and of what is in it by who reads that.
 */
const NULLS = /"(?:_meta|error|result|params)"\s*:\s*null/

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
  const chunks: Buffer[] = []
  for await (const chunk of body) chunks.push(chunk)
  if (chunks.length > 0) yield Buffer.from(mendMessage(Buffer.concat(chunks).toString()))
}

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const DATA = /^data: ?/

/** A stream of events, of which each is mostly one line: whole lines go on as soon as they are there, the rest waits for its end. */
export async function* mendEvents(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let open: Buffer[] = []
  for await (const chunk of body) {
    const end = Math.max(chunk.lastIndexOf(LINE_FEED), chunk.lastIndexOf(CARRIAGE_RETURN)) + 1
    if (end > 0) {
      yield mendLines(Buffer.concat([...open, chunk.subarray(0, end)]))
      open = []
    }
    if (end < chunk.length) open.push(chunk.subarray(end))
  }
  if (open.length > 0) yield mendLines(Buffer.concat(open))
}

function mendLines(bytes: Buffer): Buffer {
  const text = bytes.toString()
  if (!NULLS.test(text)) return bytes
  const lines = text.split(/(\r\n|\r|\n)/).map((line) => {
    const [mark] = DATA.exec(line) ?? []
    return mark === undefined ? line : mark + mendMessage(line.slice(mark.length))
  })
  return Buffer.from(lines.join(''))
}
