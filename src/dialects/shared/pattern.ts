import { z } from 'zod'

/** A regular expression in a dialect's options; an invalid one is a configuration error. */
export const pattern = z.string().refine((source) => {
  try {
    return new RegExp(source).source !== ''
  } catch {
    return false
  }
}, 'not a regular expression')

/** More than configurations contain; beyond that somebody makes them up. */
const MAX_KEPT = 1_000
const cache = new Map<string, RegExp>()

/** Compiled once. Without the flags `g` and `y` an expression is stateless, so calls can share it. */
export function compiled(source: string, flags: '' | 'i' = ''): RegExp {
  const key = `${flags}/${source}`
  let expression = cache.get(key)
  if (expression === undefined) {
    if (cache.size >= MAX_KEPT) cache.clear()
    cache.set(key, (expression = new RegExp(source, flags)))
  }
  return expression
}
