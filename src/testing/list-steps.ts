/** What walks a list, or copies one, at the cost of its length. The iterator stands for loops and for lists spread into others. */
const WALKS: readonly (string | symbol)[] = [
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
  Symbol.iterator,
]

/**
 * The elements that searches in lists, copies of them and listings of an object's names may touch while `run` runs, at most. Twice the input may cost
 * twice as many; four times as many show that something is looked for in one list for each element of another. The clock would show the same, but not
 * on every machine.
 */
export function listSteps(run: () => unknown): number {
  let steps = 0
  const lists = Array.prototype as unknown as { [name: string | symbol]: (this: unknown[], ...args: unknown[]) => unknown }
  const walks = WALKS.map((name) => ({ name, walk: lists[name]! }))
  const { keys } = Object
  walks.forEach(({ name, walk }) => {
    lists[name] = function (...args) {
      steps += this.length
      return Reflect.apply(walk, this, args)
    }
  })
  Object.keys = (value: object) => {
    const names = keys(value)
    steps += names.length
    return names
  }
  try {
    run()
  } finally {
    walks.forEach(({ name, walk }) => void (lists[name] = walk))
    Object.keys = keys
  }
  return steps
}
