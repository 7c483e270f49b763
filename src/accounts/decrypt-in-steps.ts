import { setImmediate as turn } from 'node:timers/promises'

/** Characters of envelopes that are decrypted in one turn of the event loop: a few milliseconds. */
const STEP_CHARS = 512 * 1024
/** What it takes to decrypt an envelope of any length. */
const LEAST_CHARS = 8 * 1024

/**
 * For copies of the configuration whose secrets may all be new at once: at a start, and after the secret key was changed. Returns what to await before
 * each envelope is opened, so that calls are served between a few dozen of them.
 */
export function betweenEnvelopes(): (envelope: string) => Promise<void> | undefined {
  let opened = 0
  return ({ length }) => {
    if (opened < STEP_CHARS) {
      opened += LEAST_CHARS + length
      return undefined
    }
    opened = LEAST_CHARS + length
    // Not in line with long tasks, like the reading of these copies.
    return turn()
  }
}
