import { isObject } from './json.ts'

type Json = { readonly [key: string]: unknown }

/** Only pointers into the same schema can be followed. */
export function resolve(root: Json, ref: string): Json | undefined {
  if (!ref.startsWith('#')) return undefined
  let at: unknown = root
  for (const step of ref.slice(1).split('/').slice(1)) {
    const key = decodeStep(step)
    at = (isObject(at) && Object.hasOwn(at, key)) || Array.isArray(at) ? (at as Json)[key] : undefined
  }
  return isObject(at) ? at : undefined
}

const MAX_CHAIN = 8

/**
 * A schema whose root reference is replaced by its target: recursive models of pydantic and zod, and all of msgspec's, are a reference beside
 * definitions, while vendors want an object. The same schema if its root has no reference that can be followed.
 */
export function withReferredRoot(schema: Json): Json {
  let rooted = schema
  for (let step = 0; step < MAX_CHAIN && typeof rooted['$ref'] === 'string'; step++) {
    const { $ref: ref, ...beside } = rooted
    const target = resolve(schema, ref)
    if (target === undefined || target === schema) return schema
    rooted = { ...target, ...beside }
  }
  return typeof rooted['$ref'] === 'string' ? schema : rooted
}

/** A step of a pointer as the name that it stands for. */
export function decodeStep(step: string): string {
  const plain = step.replaceAll('~1', '/').replaceAll('~0', '~')
  try {
    return decodeURIComponent(plain)
  } catch {
    return plain
  }
}
