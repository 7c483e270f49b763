type OnStep = (event: PopStateEvent) => void

const listeners = new Set<OnStep>()

/**
 * Has to be called before anything else listens for steps in the history: browsers tell listeners of a window in the order they came, and one
 * that takes a step back must do so before the page follows it.
 */
export const watchSteps = (): void =>
  window.addEventListener('popstate', (event) => {
    for (const listener of listeners) listener(event)
  })

/** Told of every step in the history before the page follows it. Gives back what ends that. */
export function beforeSteps(listener: OnStep): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}
