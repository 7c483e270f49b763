/**
 * Whether two OpenAPI documents promise the same: fields, which of them are required, and enum values. Not every keyword, but what a generated client
 * would notice.
 */

type Schema = { readonly [keyword: string]: unknown }

export interface ApiDocument {
  readonly paths: { readonly [path: string]: { readonly [method: string]: Operation } }
  readonly components: { readonly schemas: { readonly [name: string]: Schema } }
}

export interface Operation {
  readonly operationId?: string
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required?: boolean; readonly schema: Schema }[]
  readonly requestBody?: { readonly content: { readonly [type: string]: { readonly schema: Schema } } }
  readonly responses: { readonly [status: string]: { readonly content?: { readonly [type: string]: { readonly schema: Schema } } } }
}

/** A schema without references, nulls and compositions: what an object of it may contain. */
interface Shape {
  readonly properties: ReadonlyMap<string, Schema>
  readonly required: ReadonlySet<string>
  readonly values: readonly unknown[] | undefined
  readonly items: Schema | undefined
  /** Alternatives other than null, if there are several. */
  readonly branches: readonly Schema[]
}

export type Direction = 'request' | 'answer'

const MAX_DEPTH = 12

/** What `ours` lacks compared with `theirs`, one sentence each: requests that they allow must be allowed, and answers must contain what they promise. */
export function compareSchemas(
  direction: Direction,
  [theirDocument, theirs]: readonly [ApiDocument, Schema],
  [ourDocument, ours]: readonly [ApiDocument, Schema],
): readonly string[] {
  const problems: string[] = []
  const visit = (their: Schema, our: Schema, path: string, depth: number, tag?: string): void => {
    if (depth > MAX_DEPTH) return
    const a = shapeOf(theirDocument, their)
    const b = shapeOf(ourDocument, our)
    compareValues(direction, a, b, path, problems)
    compareFields(direction, a, b, path, problems)
    for (const [name, schema] of a.properties) {
      const own = b.properties.get(name)
      // Two branches were paired by one of the types that they cover, so `type` itself need not match.
      if (own !== undefined && (name !== 'type' || tag === undefined)) visit(schema, own, `${path}.${name}`, depth + 1)
    }
    if (a.items !== undefined && b.items !== undefined) visit(a.items, b.items, `${path}[]`, depth + 1)
    for (const [type, branch, own] of pairs(theirDocument, a, ourDocument, b)) visit(branch, own, `${path}<${type}>`, depth + 1, type)
  }
  visit(theirs, ours, '', 0)
  return problems
}

function compareValues(direction: Direction, theirs: Shape, ours: Shape, path: string, problems: string[]): void {
  if (theirs.values === undefined || ours.values === undefined) return
  const [wanted, allowed] = direction === 'request' ? [theirs.values, ours.values] : [ours.values, theirs.values]
  const missing = wanted.filter((value) => value !== null && !allowed.includes(value))
  if (missing.length > 0) problems.push(`${path}: ${direction === 'request' ? 'does not take' : 'may answer'} ${missing.join(', ')}`)
}

function compareFields(direction: Direction, theirs: Shape, ours: Shape, path: string, problems: string[]): void {
  // An object of ours without named fields accepts and returns any.
  if (ours.properties.size === 0) return
  for (const name of theirs.properties.keys()) {
    const wanted = direction === 'request' || theirs.required.has(name)
    if (wanted && !ours.properties.has(name)) problems.push(`${path}: has no ${name}`)
    else if (direction === 'answer' && theirs.required.has(name) && !ours.required.has(name)) problems.push(`${path}: ${name} may be absent`)
  }
  if (direction === 'request' && theirs.properties.size > 0)
    for (const name of ours.required) if (!theirs.required.has(name)) problems.push(`${path}: insists on ${name}`)
}

/** The branches of both that cover the same `type`. */
function pairs(theirDocument: ApiDocument, theirs: Shape, ourDocument: ApiDocument, ours: Shape): readonly (readonly [string, Schema, Schema])[] {
  const own = new Map(ours.branches.flatMap((branch) => tagsOf(ourDocument, branch).map((tag) => [tag, branch] as const)))
  return theirs.branches.flatMap((branch) =>
    tagsOf(theirDocument, branch).flatMap((tag) => {
      const match = own.get(tag)
      return match === undefined ? [] : [[tag, branch, match] as const]
    }),
  )
}

function tagsOf(document: ApiDocument, branch: Schema): readonly string[] {
  const type = shapeOf(document, branch).properties.get('type')
  return type === undefined ? [] : (shapeOf(document, type).values ?? []).map(String)
}

const NOTHING: Shape = { properties: new Map(), required: new Set(), values: undefined, items: undefined, branches: [] }

function shapeOf(document: ApiDocument, schema: Schema, depth = 0): Shape {
  if (depth > MAX_DEPTH) return NOTHING
  const { $ref } = schema
  if (typeof $ref === 'string') {
    const target = document.components.schemas[$ref.slice($ref.lastIndexOf('/') + 1)]
    if (target === undefined) throw new Error(`${$ref} is not in the document`)
    return shapeOf(document, target, depth + 1)
  }
  const own: Shape = {
    properties: new Map(Object.entries((schema['properties'] ?? {}) as { readonly [name: string]: Schema })),
    required: new Set((schema['required'] ?? []) as readonly string[]),
    values: 'const' in schema ? [schema['const']] : (schema['enum'] as readonly unknown[] | undefined),
    items: schema['items'] as Schema | undefined,
    branches: [],
  }
  const parts = ((schema['allOf'] ?? []) as readonly Schema[]).map((part) => shapeOf(document, part, depth + 1))
  const branches = ((schema['anyOf'] ?? schema['oneOf'] ?? []) as readonly Schema[]).filter(({ type }) => type !== 'null')
  const [only] = branches
  if (branches.length === 1 && only !== undefined) parts.push(shapeOf(document, only, depth + 1))
  return [own, ...parts].reduce(merge, { ...NOTHING, branches: branches.length > 1 ? branches : [] })
}

const merge = (a: Shape, b: Shape): Shape => ({
  properties: new Map([...a.properties, ...b.properties]),
  required: new Set([...a.required, ...b.required]),
  values: a.values ?? b.values,
  items: a.items ?? b.items,
  branches: [...a.branches, ...b.branches],
})
