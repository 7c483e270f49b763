type OnStep = (event: PopStateEvent) => void

const listeners = new Set<OnStep>()

/**
 * Must be called before any other listener for history steps is added: browsers call listeners in the order they were added, and one that reverts a step
 * must do so before the page follows it.
 */
export const watchSteps = (): void =>
  window.addEventListener('popstate', (event) => {
    for (const listener of listeners) listener(event)
  })

/** Calls the listener for every history step before the page follows it. Returns the function that removes it. */
export function beforeSteps(listener: OnStep): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}
