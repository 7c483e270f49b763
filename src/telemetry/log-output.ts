import { pino, type DestinationStream } from 'pino'

/** Lines that could not be written yet; what comes beyond is dropped. */
const MAX_WAITING_BYTES = 1024 * 1024
const AGAIN_MS = 200

/**
 * Calls are worth more than lines about them. Where a line cannot be written (a full disk, a pipe whose reader has stopped) nobody waits for it
 * and nothing ends: it is tried again a little later.
 */
export function logOutput(fd: number): DestinationStream {
  const output = pino.destination({ fd, sync: true, maxLength: MAX_WAITING_BYTES, retryEAGAIN: () => false })
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
