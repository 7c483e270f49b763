import { constants, fstatSync, openSync } from 'node:fs'
import { pino, type DestinationStream } from 'pino'

/** Lines that could not be written yet; what comes beyond is dropped. */
const MAX_WAITING_BYTES = 1024 * 1024
const AGAIN_MS = 200

/**
 * Calls are worth more than lines about them. Where a line cannot be written (a full disk, a pipe whose reader has stopped) nobody waits for it
 * and nothing ends: it is tried again a little later.
 */
export function logOutput(fd: number): DestinationStream {
  const output = pino.destination({ fd: openedAlone(fd), sync: true, maxLength: MAX_WAITING_BYTES, retryEAGAIN: () => false })
  let again: NodeJS.Timeout | undefined
  const writeWaiting = (): void => {
    again = undefined
    output.write('')
  }
  output.on('error', () => {
    again ??= setTimeout(writeWaiting, AGAIN_MS).unref()
  })
  return output
}

/**
 * The same pipe, opened once more for this process alone. Whether a write waits belongs to what was opened, which is shared with whoever it was
 * handed on to: every process that is started makes it wait, and so does each that ends, for all who have it. The way to open it again is Linux's;
 * where there is none (or it is another user's) it stays as it is.
 */
function openedAlone(fd: number): number {
  try {
    // A file has its place in it to share, a socket cannot be opened.
    return fstatSync(fd).isFIFO() ? openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK) : fd
  } catch {
    return fd
  }
}
