/** The body of an update: the fields of `after` that differ. Fields contain JSON; lists and objects count as one value. */
export function changesOf<T extends object>(before: T, after: T): Partial<T> {
  const entries = Object.entries(after).filter(([name, value]) => !isSame((before as { readonly [name: string]: unknown })[name], value))
  return Object.fromEntries(entries) as Partial<T>
}

/** The form after saving: what was typed since it was sent is kept, on top of what is stored now. */
export const afterSave = <T extends object>(sent: T, now: T, saved: T): T => ({ ...saved, ...changesOf(sent, now) })

/** A new object omits fields that are left to the gateway. */
export function withoutNulls<T extends object>(body: T): { readonly [K in keyof T]: T[K] } {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null)) as T
}

/** Whether anything in `after` differs. */
export const isChanged = (before: object, after: object): boolean => !isSame(before, after)

function isSame(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return one === other
  if (Array.isArray(one) !== Array.isArray(other)) return false
  const names = new Set([...Object.keys(one), ...Object.keys(other)])
  return [...names].every((name) => isSame((one as Named)[name], (other as Named)[name]))
}

interface Named {
  readonly [name: string]: unknown
}
