import { isObject } from '../shared/json.ts'

/** An object of `parseExact`, not one of its raw numbers. */
export function isExactObject(value: unknown): value is { readonly [key: string]: unknown } {
  return isObject(value) && Object.getPrototypeOf(value) !== null
}

/** The value of a number of `parseExact`, raw or not. */
export function exactNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return value
  return isObject(value) && Object.getPrototypeOf(value) === null ? Number(value['rawJSON']) : undefined
}
