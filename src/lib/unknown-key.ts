import { ZodObject } from 'zod'

export interface UnknownKey {
  readonly path: readonly [string, ...string[]]
  /** The keys that the schema accepts at this place. */
  readonly known: readonly string[]
}

/** The first key of a value that its schema would ignore; undefined if there is none. Objects that accept any key have no unknown keys. */
export function unknownKey(schema: unknown, value: unknown): UnknownKey | undefined {
  const object = unwrapped(schema)
  if (!(object instanceof ZodObject) || object.def.catchall !== undefined || typeof value !== 'object' || value === null) return undefined
  const shape: { readonly [key: string]: unknown } = object.shape
  for (const [key, inner] of Object.entries(value)) {
    if (!Object.hasOwn(shape, key)) return { path: [key], known: Object.keys(shape) }
    const within = unknownKey(shape[key], inner)
    if (within !== undefined) return { path: [key, ...within.path], known: within.known }
  }
  return undefined
}

/** The inner schema of an optional value or of one with a default. */
function unwrapped(schema: unknown): unknown {
  const { def } = schema as { readonly def?: { readonly type?: string; readonly innerType?: unknown } }
  return def?.innerType === undefined ? schema : unwrapped(def.innerType)
}
