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
 * The same pipe, opened again for this process alone. Whether a write blocks is a property of the open file, which is shared with every process that
 * inherited it: each of them makes it blocking for all when it starts, and again when it ends. Opening it again works on Linux; elsewhere (or if it
 * belongs to another user) it stays as it is.
 */
function openedAlone(fd: number): number {
  try {
    // A file has its place in it to share, a socket cannot be opened.
    return fstatSync(fd).isFIFO() ? openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK) : fd
  } catch {
    return fd
  }
}
