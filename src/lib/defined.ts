type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> }

/** The object without the keys whose value is undefined, so that "absent" means one thing everywhere. */
export function defined<T extends object>(value: T): Defined<T> {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as Defined<T>
}
