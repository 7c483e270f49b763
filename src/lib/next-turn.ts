const waiting: (() => void)[] = []

/**
 * After everything else that is ready. Of all who wait in this process one goes on per round of the event loop: many long pieces of work
 * together keep the others waiting no longer than one of them does.
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
