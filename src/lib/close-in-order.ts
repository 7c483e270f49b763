export interface ClosingStep {
  readonly name: string
  readonly close: () => Promise<unknown>
  /** Longer than what it limits itself to. */
  readonly limitMs?: number
}

/** For what only lets go of connections and timers. */
const LIMIT_MS = 2_000

/**
 * Closes one thing after the other, each within its limit: one that hangs (a server that accepts bytes and answers nothing) or fails is reported and
 * does not keep the rest from closing. Never rejects.
 */
export async function closeInOrder(steps: readonly ClosingStep[], onProblem: (name: string, error: unknown) => void): Promise<void> {
  for (const { name, close, limitMs = LIMIT_MS } of steps) {
    const { promise: late, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(() => reject(new Error(`not closed within ${limitMs} ms`)), limitMs)
    try {
      await Promise.race([close(), late])
    } catch (error) {
      onProblem(name, error)
    } finally {
      clearTimeout(timer)
    }
  }
}
