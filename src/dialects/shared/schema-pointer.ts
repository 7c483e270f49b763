import { isObject } from './json.ts'

type Json = { readonly [key: string]: unknown }

/** Only pointers into the same schema; a foreign address cannot be followed. */
export function resolve(root: Json, ref: string): Json | undefined {
  if (!ref.startsWith('#')) return undefined
  let at: unknown = root
  for (const step of ref.slice(1).split('/').slice(1)) {
    const key = decodeStep(step)
    at = (isObject(at) && Object.hasOwn(at, key)) || Array.isArray(at) ? (at as Json)[key] : undefined
  }
  return isObject(at) ? at : undefined
}

function decodeStep(step: string): string {
  const plain = step.replaceAll('~1', '/').replaceAll('~0', '~')
  try {
    return decodeURIComponent(plain)
  } catch {
    return plain
  }
}
