const waiting: (() => void)[] = []

/**
 * Resolves after everything else that is ready. Each turn of the event loop resumes only one waiter, so that many long tasks together delay other work no
 * longer than a single one.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve)
    if (waiting.length === 1) setImmediate(serve)
  })
}

function serve(): void {
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(serve)
}
