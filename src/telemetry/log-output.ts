import { constants, fstatSync, openSync } from 'node:fs'
import { pino, type DestinationStream } from 'pino'

/** The most bytes of lines that could not be written yet; further lines are dropped. */
const MAX_WAITING_BYTES = 1024 * 1024
const AGAIN_MS = 200

/**
 * Calls matter more than their log lines. If a line cannot be written (a full disk, a pipe whose reader has stopped), nothing waits for it and nothing
 * fails: it is tried again a little later.
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
 * Opens the same pipe again, for this process alone. Whether writes block is a property of the open file description, which is shared with every process
 * that has inherited it: a child process makes it blocking for all of them when it starts, and when it ends. Reopening it works only on Linux; if it fails
 * (or the pipe belongs to another user), the descriptor is used as it is.
 */
function openedAlone(fd: number): number {
  try {
    // Not for files, whose position must stay shared, nor for sockets, which cannot be reopened.
    return fstatSync(fd).isFIFO() ? openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK) : fd
  } catch {
    return fd
  }
}
