/**
 * Writes console/src/api/schema.ts from the OpenAPI document that a gateway serves: types of the requests and answers of each management route, so
 * that the console cannot request what does not exist.
 *
 *   node scripts/gen-console-api.ts            writes the file
 *   node scripts/gen-console-api.ts --check    fails if the file differs from what would be written
 */
import { pathToFileURL } from 'node:url'
import { servedDocument } from './gen-api.ts'
import { publish } from './reference-page.ts'

/** The parts of a JSON Schema that are read. The rest (bounds, patterns) is checked by the gateway and does not affect types. */
export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: { readonly [name: string]: Schema }
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
}

interface Body {
  readonly content?: { readonly 'application/json'?: { readonly schema: Schema } }
}

interface Operation {
  readonly 'x-key': string
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required?: boolean; readonly schema: Schema }[]
  readonly requestBody?: Body
  readonly responses: { readonly [status: string]: Body }
}

export interface Document {
  readonly paths: { readonly [path: string]: { readonly [method: string]: Operation } }
  readonly components: { readonly schemas: { readonly [name: string]: Schema } }
}

const HEAD = '// Written by scripts/gen-console-api.ts; do not edit.\n'

/** Whether a management key may call the route, or either kind of key may read it. Calls to models are not among these types. */
const isManaged = (method: string, { 'x-key': key }: Operation): boolean => key === 'management' || (key === 'any' && method === 'get')

/** The file: a type for every schema that the routes refer to, then `Routes`. */
export function consoleApi({ paths, components }: Document): string {
  const wanted = new Set<string>()
  const routes = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method, operation]) => isManaged(method, operation))
      .map(([method, operation]) => `  '${method.toUpperCase()} ${path}': ${routeType(operation, wanted)}\n`),
  )
  const types: string[] = []
  // The set grows during the iteration: schemas that a schema refers to follow it.
  for (const name of wanted) types.push(`export type ${name} = ${typeOf(components.schemas[name] ?? {}, wanted)}\n`)
  return `${HEAD}\n${types.join('\n')}\nexport interface Routes {\n${routes.join('')}}\n`
}

function routeType({ parameters = [], requestBody, responses }: Operation, wanted: Set<string>): string {
  const inPlace = (place: string): string => {
    const own = parameters.filter((one) => one.in === place)
    return `{ ${own.map(({ name, required, schema }) => `${name}${required === true ? '' : '?'}: ${typeOf(schema, wanted)} | undefined`).join('; ')} }`
  }
  const jsonOf = (body: Body | undefined): string => {
    const schema = body?.content?.['application/json']?.schema
    return schema === undefined ? 'undefined' : typeOf(schema, wanted)
  }
  const success = responses['200'] ?? responses['201']
  return `{ params: ${inPlace('path').replaceAll(' | undefined', '')}; query: ${inPlace('query')}; body: ${jsonOf(requestBody)}; answer: ${jsonOf(success)} }`
}

/** A schema as a type expression; the names that it refers to are added to `wanted`. */
export function typeOf(schema: Schema, wanted: Set<string>): string {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)
    wanted.add(name)
    return name
  }
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return union(schema.enum.map((one) => JSON.stringify(one)))
  const choices = schema.anyOf ?? schema.oneOf
  if (choices !== undefined) return union(choices.map((one) => typeOf(one, wanted)))
  if (schema.allOf !== undefined) return intersection(schema.allOf.map((one) => typeOf(one, wanted)))
  if (Array.isArray(schema.type)) return union(schema.type.map((type: string) => typeOf({ ...schema, type }, wanted)))
  return plainType(schema, wanted)
}

const union = (types: readonly string[]): string => {
  const own = [...new Set(types)]
  return own.length === 1 ? own[0]! : `(${own.join(' | ')})`
}

/** Parts that only restrict a value (a pattern, a length) do not affect its type. */
function intersection(types: readonly string[]): string {
  const known = types.filter((type) => type !== 'unknown')
  return known.length === 0 ? 'unknown' : known.map((type) => `(${type})`).join(' & ')
}

function plainType(schema: Schema, wanted: Set<string>): string {
  switch (schema.type) {
    case 'array':
      return `readonly (${typeOf(schema.items ?? {}, wanted)})[]`
    case 'object':
      return objectType(schema, wanted)
    case 'integer':
    case 'number':
      return 'number'
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type
    default:
      return 'unknown'
  }
}

function objectType({ properties, required = [], additionalProperties }: Schema, wanted: Set<string>): string {
  if (properties === undefined) {
    const values = typeof additionalProperties === 'object' ? typeOf(additionalProperties, wanted) : 'unknown'
    return `{ readonly [name: string]: ${values} }`
  }
  const member = ([name, schema]: readonly [string, Schema]): string => {
    const key = /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name)
    return `readonly ${key}${required.includes(name) ? '' : '?'}: ${typeOf(schema, wanted)}${required.includes(name) ? '' : ' | undefined'}`
  }
  return `{ ${Object.entries(properties).map(member).join('; ')} }`
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  publish('console/src/api/schema.ts', consoleApi((await servedDocument()) as unknown as Document), import.meta.filename)
