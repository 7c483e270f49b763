import type { ServerResponse } from 'node:http'
import { GatewayError } from '../core/error.ts'

/** The slowest reader worth serving reads one within the stall limit. */
const SLICE_CHARS = 64 * 1024
/** The end of an answer is usually short enough to be left to the system in one piece. */
const LONG_END_CHARS = 1024 * 1024
/** A caller who reads nothing for this long has stopped reading. */
const STALL_MS = 60_000

/**
 * Undefined if the caller keeps up; otherwise resolves when it has caught up, and rejects when it has read nothing for too long. Long text is written
 * slice by slice, each after the one before has left: of a single large write nobody can tell how much was read, and all of it would be copied at
 * once.
 */
export function writeText(response: ServerResponse, text: string, stallMs = STALL_MS): Promise<void> | undefined {
  if (text.length > SLICE_CHARS) return writeSlices(response, text, stallMs)
  return response.write(text) ? undefined : drained(response, stallMs)
}

/** The same, and ends the answer. Undefined if the end is on its way in one piece; otherwise resolves when all but the last slice has left. */
export function endText(response: ServerResponse, text: string, stallMs = STALL_MS): Promise<void> | undefined {
  if (text.length > LONG_END_CHARS) return writeSlices(response, text, stallMs).then(() => void response.end())
  response.end(text)
  return undefined
}

export function sendJson(
  response: ServerResponse,
  status: number,
  headers: { readonly [name: string]: string },
  body: string,
): Promise<void> | undefined {
  response.writeHead(status, { 'content-type': 'application/json', ...headers, 'content-length': Buffer.byteLength(body) })
  return endText(response, body)
}

async function writeSlices(response: ServerResponse, text: string, stallMs: number): Promise<void> {
  for (let at = 0; at < text.length && !response.destroyed;) {
    const end = endOfSlice(text, at)
    if (!response.write(text.slice(at, end))) await drained(response, stallMs)
    at = end
  }
}

function drained(response: ServerResponse, stallMs: number): Promise<void> {
  // A destroyed response never emits `drain`.
  if (response.destroyed) return Promise.resolve()
  return new Promise((resolve, reject) => {
    let taken = takenOf(response)
    const timer = setTimeout(() => {
      const now = takenOf(response)
      if (now !== taken) {
        taken = now
        timer.refresh()
        return
      }
      settle()
      response.destroy()
      reject(new GatewayError('timeout', 'The caller stopped reading'))
    }, stallMs)
    const onDrain = (): void => {
      settle()
      resolve()
    }
    const settle = (): void => {
      clearTimeout(timer)
      response.off('drain', onDrain).off('close', onDrain)
    }
    response.on('drain', onDrain).on('close', onDrain)
  })
}

/** Bytes that have left for the caller. */
const takenOf = ({ socket }: ServerResponse): number => (socket === null ? 0 : socket.bytesWritten - socket.writableLength)

/** A surrogate pair is not cut in half. */
function endOfSlice(text: string, start: number): number {
  const end = Math.min(start + SLICE_CHARS, text.length)
  const last = text.charCodeAt(end - 1)
  return last >= 0xd800 && last <= 0xdbff && end < text.length ? end + 1 : end
}
