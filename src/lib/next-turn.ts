const waiting: (() => void)[] = []

/**
 * Continues after everything else that is ready. One waiter per turn of the event loop continues: many long pieces of work together delay others no
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
