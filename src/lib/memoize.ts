/** A test of objects that is made once for each, and remembered as long as the object is used elsewhere. */
export function memoize<T extends object>(test: (value: T) => boolean): (value: T) => boolean {
  const known = new WeakMap<T, boolean>()
  return (value) => {
    let answer = known.get(value)
    if (answer === undefined) known.set(value, (answer = test(value)))
    return answer
  }
}
