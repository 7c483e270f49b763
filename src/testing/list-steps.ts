/** What walks a list, or copies one, at the cost of its length. */
const WALKS = [
  'includes',
  'indexOf',
  'lastIndexOf',
  'some',
  'every',
  'find',
  'findIndex',
  'findLast',
  'findLastIndex',
  'slice',
  'shift',
  'unshift',
] as const

/**
 * The elements that searches in lists, copies of them and listings of an object's names may touch while `run` runs, at most. Twice the input may cost
 * twice as many; four times as many show that something is looked for in one list for each element of another. The clock would show the same, but not
 * on every machine.
 */
export function listSteps(run: () => unknown): number {
  let steps = 0
  const lists = Array.prototype as unknown as { [name: string]: (this: unknown[], ...args: unknown[]) => unknown }
  const walks = new Map(WALKS.map((name) => [name, lists[name]!]))
  const { keys } = Object
  for (const [name, walk] of walks) {
    lists[name] = function (...args) {
      steps += this.length
      return walk.apply(this, args)
    }
  }
  Object.keys = (value: object) => {
    const names = keys(value)
    steps += names.length
    return names
  }
  try {
    run()
  } finally {
    for (const [name, walk] of walks) lists[name] = walk
    Object.keys = keys
  }
  return steps
}
