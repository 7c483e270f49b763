type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> }

/** The object without keys whose value is undefined, so that "absent" has a single meaning everywhere. */
export function defined<T extends object>(value: T): Defined<T> {
  const result: Defined<T> = {}
  // `in` creates no pair per key, which is most of the cost; this runs for every part of every record.
  for (const key in value) if (Object.hasOwn(value, key) && value[key] !== undefined) result[key] = value[key] as Exclude<T[typeof key], undefined>
  return result
}
