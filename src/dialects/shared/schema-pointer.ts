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

const MAX_CHAIN = 8

/**
 * A schema with what its root refers to at its root: recursive models of pydantic and zod, and all of msgspec, are written as a reference beside
 * their definitions, where vendors want an object. The same schema where its root refers to nothing that can be followed.
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

function decodeStep(step: string): string {
  const plain = step.replaceAll('~1', '/').replaceAll('~0', '~')
  try {
    return decodeURIComponent(plain)
  } catch {
    return plain
  }
}
