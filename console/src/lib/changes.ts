/** What a change sends: the fields of `after` that are not as they were. Fields hold JSON: lists and objects count as one value. */
export function changesOf<T extends object>(before: T, after: T): Partial<T> {
  const entries = Object.entries(after).filter(([name, value]) => !isSame((before as { readonly [name: string]: unknown })[name], value))
  return Object.fromEntries(entries) as Partial<T>
}

/** What a form holds once it was saved: what was typed since it was sent stays, told against what is stored now. */
export const afterSave = <T extends object>(sent: T, now: T, saved: T): T => ({ ...saved, ...changesOf(sent, now) })

/** What is made new says nothing of what it leaves to the gateway. */
export function withoutNulls<T extends object>(body: T): { readonly [K in keyof T]: T[K] } {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null)) as T
}

/** Whether something in `after` is not as it was. */
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
