/** Runs requested work at most once every `everyMs` milliseconds: at once, or as soon as that time has passed since the last run. */
export function throttled(work: () => void, everyMs: number): { ask(): void; end(): void } {
  let last = -Infinity
  let timer: NodeJS.Timeout | undefined
  let over = false
  const run = (): void => {
    timer = undefined
    last = performance.now()
    work()
  }
  return {
    ask() {
      if (over || timer !== undefined) return
      const wait = last + everyMs - performance.now()
      if (wait <= 0) run()
      else timer = setTimeout(run, wait).unref()
    },
    end() {
      over = true
      clearTimeout(timer)
    },
  }
}
