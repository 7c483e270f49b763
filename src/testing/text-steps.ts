/** What reads a text, or copies a part of it, at the cost of its length. */
const READS = ['slice', 'trim', 'trimStart', 'trimEnd', 'indexOf', 'lastIndexOf'] as const

/**
 * The characters of the texts that are searched, trimmed or cut while `run` runs. As with `listSteps`, twice the input may cost twice as many: four times
 * as many show that all of a text is read again for each piece that is added to it.
 */
export function textSteps(run: () => unknown): number {
  let steps = 0
  const texts = String.prototype as unknown as { [name in (typeof READS)[number]]: (this: string, ...args: unknown[]) => unknown }
  const reads = READS.map((name) => ({ name, read: texts[name] }))
  reads.forEach(({ name, read }) => {
    texts[name] = function (...args) {
      const found = Reflect.apply(read, this, args)
      steps += name === 'slice' ? String(found).length : this.length
      return found
    }
  })
  try {
    run()
  } finally {
    reads.forEach(({ name, read }) => void (texts[name] = read))
  }
  return steps
}
