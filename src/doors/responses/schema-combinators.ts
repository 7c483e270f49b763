// zod keeps what authors of schema types need under `_zod`.
/* oxlint-disable no-underscore-dangle */
import { z } from 'zod'

/**
 * zod types for validating large bodies in place.
 *
 * They are zod's own object, array, record and union (so `z.toJSONSchema` documents them), but run differently: nothing is copied, only keys that are
 * present are looked at, a union picks its branch instead of trying all, and the first fault ends the run. The last one matters for safety, too: an array
 * of a million wrong entries must not become a million issues.
 */

type Payload = z.core.ParsePayload
type Context = z.core.ParseContextInternal
export type Schema = z.core.$ZodType
export type Shape = { readonly [key: string]: Schema }

/** A fault found by a combinator itself: `reason` completes the sentence "<path> ...". */
export interface Misfit {
  readonly reason: string
  readonly at?: readonly PropertyKey[]
}

function reject(payload: Payload, inst: Schema, { reason, at = [] }: Misfit): Payload {
  payload.issues.push({ code: 'custom', message: reason, input: payload.value, inst, path: [...at], continue: false })
  return payload
}

/** Runs a child on the parent's issue list; true if it has no fault. */
function runChild(schema: Schema, value: unknown, key: PropertyKey, payload: Payload, ctx: Context): boolean {
  const { issues } = payload
  // Synchronous by construction: no schema of this folder has an asynchronous check.
  void schema._zod.run({ value, issues }, ctx)
  if (issues.length === 0) return true
  for (const issue of issues as { path?: PropertyKey[] }[]) issue.path = [key, ...(issue.path ?? [])]
  return false
}

interface Field {
  readonly key: string
  readonly schema: Schema
  /** The schema to run once null and undefined are handled. */
  readonly inner: Schema
  readonly optional: boolean
  readonly nullable: boolean
}

function compileField(key: string, schema: Schema): Field {
  let inner = schema
  let nullable = false
  for (;;) {
    const { def } = inner._zod
    if (def.type !== 'optional' && def.type !== 'nullable') break
    nullable ||= def.type === 'nullable'
    inner = (def as z.core.$ZodOptionalDef).innerType
  }
  return { key, schema, inner, optional: schema._zod.optin !== undefined, nullable }
}

const SparseObject = z.core.$constructor<z.ZodObject>('SparseObject', (inst, def) => {
  z.ZodObject.init(inst, def)
  const known = new Map(Object.entries<Schema>(def.shape).map(([key, schema]) => [key, compileField(key, schema)]))
  const required = [...known.values()].filter((field) => !field.optional)
  const strict = def.catchall !== undefined
  inst._zod.parse = (payload, ctx) => {
    const input: unknown = payload.value
    if (typeof input !== 'object' || input === null || Array.isArray(input)) {
      payload.issues.push({ code: 'invalid_type', expected: 'object', input, inst })
      return payload
    }
    const record = input as { readonly [key: string]: unknown }
    for (const { key, schema } of required) {
      if (record[key] === undefined && !runChild(schema, undefined, key, payload, ctx)) return payload
    }
    for (const key in record) {
      const field = known.get(key)
      if (field === undefined) {
        if (strict) return reject(payload, inst, { at: [key], reason: `is not a known field; known are ${[...known.keys()].join(', ')}` })
        continue
      }
      const value = record[key]
      if ((value === null && field.nullable) || (value === undefined && field.optional)) continue
      if (!runChild(field.inner, value, key, payload, ctx)) return payload
    }
    return payload
  }
})

interface ListDef extends z.core.$ZodArrayDef {
  readonly fits: ((value: unknown) => boolean) | undefined
}

const FirstFaultArray = z.core.$constructor<z.ZodArray, ListDef>('FirstFaultArray', (inst, def) => {
  z.ZodArray.init(inst, def)
  const { fits } = def
  inst._zod.parse = (payload, ctx) => {
    const input: unknown = payload.value
    if (!Array.isArray(input)) {
      payload.issues.push({ code: 'invalid_type', expected: 'array', input, inst })
      return payload
    }
    for (let i = 0; i < input.length; i += 1) {
      if (fits?.(input[i]) !== true && !runChild(def.element, input[i], i, payload, ctx)) return payload
    }
    return payload
  }
})

interface PickingDef extends z.core.$ZodUnionDef {
  readonly pick: (value: unknown) => Schema | Misfit
}

const PickingUnion = z.core.$constructor<z.ZodUnion, PickingDef>('PickingUnion', (inst, def) => {
  z.ZodUnion.init(inst, def)
  const { pick } = def
  inst._zod.parse = (payload, ctx) => {
    const picked = pick(payload.value)
    if ('reason' in picked) return reject(payload, inst, picked)
    void picked._zod.run(payload, ctx)
    return payload
  }
})

interface DictionaryDef extends z.core.$ZodRecordDef {
  readonly checkKeys: ((keys: readonly string[]) => Misfit | undefined) | undefined
}

const FirstFaultRecord = z.core.$constructor<z.ZodRecord, DictionaryDef>('FirstFaultRecord', (inst, def) => {
  z.ZodRecord.init(inst, def)
  inst._zod.parse = (payload, ctx) => {
    const input: unknown = payload.value
    if (typeof input !== 'object' || input === null || Array.isArray(input)) {
      payload.issues.push({ code: 'invalid_type', expected: 'object', input, inst })
      return payload
    }
    const keys = Object.keys(input)
    const misfit = def.checkKeys?.(keys)
    if (misfit !== undefined) return reject(payload, inst, misfit)
    for (const key of keys) if (!runChild(def.valueType, (input as { [key: string]: unknown })[key], key, payload, ctx)) return payload
    return payload
  }
})

/** An object whose other keys are kept without validation. */
export function fields(shape: Shape): z.ZodObject {
  return new SparseObject({ type: 'object', shape })
}

/** An object without any other keys. */
export function strictFields(shape: Shape): z.ZodObject {
  return new SparseObject({ type: 'object', shape, catchall: z.never() })
}

/**
 * `fits`: a quick test for valid elements, for lists that may have millions of them. Running the element's schema for each would hold up all other calls
 * for seconds.
 */
export function list(element: Schema, fits?: (value: unknown) => boolean): z.ZodArray {
  return new FirstFaultArray({ type: 'array', element, fits })
}

/** An object with arbitrary keys. `checkKeys` sees all of them before any value is validated. */
export function dictionary(value: Schema, checkKeys?: (keys: readonly string[]) => Misfit | undefined): z.ZodRecord {
  return new FirstFaultRecord({ type: 'record', keyType: z.string(), valueType: value, checkKeys })
}

/** A union whose branch is chosen by looking at the value. */
export function pickOne(options: readonly Schema[], pick: (value: unknown) => Schema | Misfit): z.ZodUnion {
  return new PickingUnion({ type: 'union', options, pick })
}

/** Absent, null or the given schema. Null counts as absent everywhere, because many clients serialize their empty options. */
export function maybe<T extends Schema>(schema: T): z.ZodOptional<z.ZodNullable<T>> {
  return z.nullish(schema)
}

type Kind = 'string' | 'number' | 'boolean' | 'object' | 'array'

export function kindOf(value: unknown): Kind | 'null' | 'undefined' {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value as Kind
}

const KIND_NAMES: { readonly [K in Kind | 'null' | 'undefined']: string } = {
  string: 'a string',
  number: 'a number',
  boolean: 'a boolean',
  object: 'an object',
  array: 'an array',
  null: 'null',
  undefined: 'nothing',
}

export function nameKind(value: unknown): string {
  return KIND_NAMES[kindOf(value)]
}

/** The reason for a value of another JSON type than expected. */
export function describeKind(value: unknown, wanted: string): string {
  if (value === undefined) return `is required and must be ${wanted}`
  return `must be ${wanted}, not ${typeof value === 'number' ? String(value) : nameKind(value)}`
}

/** A union of different JSON types: `byKind({ string: z.string(), array: list(part) })`. */
export function byKind(branches: { readonly [K in Kind]?: Schema }): z.ZodUnion {
  const kinds = Object.keys(branches) as Kind[]
  const wanted = kinds.map((kind) => KIND_NAMES[kind]).join(' or ')
  return pickOne(Object.values(branches), (value) => {
    const kind = kindOf(value)
    const branch = kind === 'null' || kind === 'undefined' ? undefined : branches[kind]
    if (branch !== undefined) return branch
    return { reason: describeKind(value, wanted) }
  })
}

interface ByTypeOptions {
  /** What such an object is called in messages: "tool", "content part". */
  readonly noun: string
  /** The field that names the branch; default: `type`. */
  readonly tag?: string
  /** Accepts types that are not listed. Without it they are refused. */
  readonly others?: Schema
  /** Which of them it accepts; default: all. */
  readonly admits?: (type: string) => boolean
  /** Another name for the same branch. */
  readonly alias?: (type: string) => string
  /** A more helpful message for a type that is not listed. */
  readonly hint?: (type: string) => string | undefined
}

/** One branch of `byType`: the value of the field that names it, and the object. */
export type Branch = readonly [name: string, schema: Schema]

/** A branch whose field `type` (or another tag) has this value. */
export function tagged(name: string, shape: Shape, tag = 'type'): Branch {
  return [name, fields({ [tag]: z.literal(name), ...shape })]
}

/** A union of objects distinguished by a string field. Branches are looked up, never tried. */
export function byType(entries: readonly Branch[], options: ByTypeOptions): z.ZodUnion {
  const { noun, tag = 'type', others, admits = () => true, alias, hint } = options
  const branches = new Map(entries)
  return pickOne(others === undefined ? [...branches.values()] : [...branches.values(), others], (value) => {
    if (kindOf(value) !== 'object') return { reason: describeKind(value, `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun} object`) }
    const type = (value as { readonly [key: string]: unknown })[tag]
    if (typeof type !== 'string') {
      return { at: [tag], reason: type === undefined ? `is required: it says which ${noun} this is` : `must be a string, not ${nameKind(type)}` }
    }
    const branch = branches.get(type) ?? (alias === undefined ? undefined : branches.get(alias(type))) ?? (admits(type) ? others : undefined)
    if (branch !== undefined) return branch
    return { at: [tag], reason: hint?.(type) ?? `is ${quote(type)}, which is not a known ${noun}; known are ${[...branches.keys()].join(', ')}` }
  })
}

export interface Fault {
  readonly path: readonly PropertyKey[]
  readonly message: string
}

/** Validates a value in place. Returns the first fault, in the words of `describe` unless the schema has its own message, or undefined. */
export function findFault(schema: Schema, value: unknown, describe: (issue: z.core.$ZodRawIssue) => string): Fault | undefined {
  const payload: Payload = { value, issues: [] }
  const context: Context = { async: false, error: describe }
  void schema._zod.run(payload, context)
  const [issue] = payload.issues
  return issue === undefined ? undefined : z.core.util.finalizeIssue(issue, context, z.config())
}

/** A caller's text for a message: quoted, with control characters escaped, and shortened. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40).toWellFormed()}...` : text)
}
