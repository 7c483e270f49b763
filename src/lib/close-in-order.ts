export interface ClosingStep {
  readonly name: string
  readonly close: () => Promise<unknown>
  /** The limit of this step, if it needs longer than the default. */
  readonly limitMs?: number
}

/** Enough for steps that only release connections and timers. */
const LIMIT_MS = 2_000

/**
 * Closes one thing after the other, each within its limit. A step that hangs (because a server accepts bytes but does not answer) or fails is reported and
 * does not keep the rest from closing. Never rejects.
 */
export async function closeInOrder(steps: readonly ClosingStep[], onProblem: (name: string, error: unknown) => void): Promise<void> {
  for (const { name, close, limitMs = LIMIT_MS } of steps) {
    const { promise: timedOut, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(() => reject(new Error(`not closed within ${limitMs} ms`)), limitMs)
    try {
      await Promise.race([close(), timedOut])
    } catch (error) {
      onProblem(name, error)
    } finally {
      clearTimeout(timer)
    }
  }
}
