/** Settings of a destination as form fields, from their JSON Schema. What a form cannot express becomes a JSON field. */

export interface JsonSchema {
  readonly $ref?: string
  readonly title?: string
  readonly description?: string
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly JsonSchema[]
  readonly oneOf?: readonly JsonSchema[]
  readonly items?: JsonSchema
  readonly properties?: { readonly [name: string]: JsonSchema }
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | JsonSchema
  readonly default?: unknown
  readonly format?: string
  readonly writeOnly?: boolean
  readonly maxItems?: number
  readonly 'x-type'?: string
}

export type Components = { readonly [name: string]: JsonSchema }

interface About {
  readonly name: string
  readonly label: string
  readonly help: string | undefined
  readonly required: boolean
  /** The gateway's default. */
  readonly fallback: unknown
}
type Kind =
  | { readonly kind: 'text' | 'secret' | 'switch' | 'json' }
  | { readonly kind: 'number'; readonly isWhole: boolean }
  | { readonly kind: 'choice'; readonly options: readonly string[] }
  /** One entry per line. */
  | { readonly kind: 'list'; readonly ofNumbers: boolean }
  | { readonly kind: 'map'; readonly isSecret: boolean }
  | { readonly kind: 'group'; readonly fields: readonly Field[] }
export type Field = About & Kind

/** Resolves a reference and removes `null`, which an empty field stands for. */
export function resolved(schema: JsonSchema, components: Components): JsonSchema {
  if (schema.$ref !== undefined) {
    const { $ref, ...own } = schema
    return { ...resolved(components[$ref.slice($ref.lastIndexOf('/') + 1)] ?? {}, components), ...own }
  }
  const { anyOf, oneOf, ...own } = schema
  const choices = (anyOf ?? oneOf)?.filter(({ type }) => type !== 'null')
  if (choices?.length === 1) return { ...resolved(choices[0]!, components), ...own }
  if (Array.isArray(schema.type)) {
    const types = schema.type.filter((type) => type !== 'null') as readonly string[]
    return { ...schema, type: types.length === 1 ? types[0]! : types }
  }
  return schema
}

/** The fields of an object, required ones first. Undefined if the schema is not an object with known members. */
export function fieldsOf(schema: JsonSchema, components: Components): readonly Field[] | undefined {
  const { type, properties, required = [] } = resolved(schema, components)
  if (type !== 'object' || properties === undefined) return undefined
  const fields = Object.entries(properties).map(([name, own]) => fieldOf(name, resolved(own, components), required.includes(name), components))
  return [...fields.filter((field) => field.required), ...fields.filter((field) => !field.required)]
}

function fieldOf(name: string, schema: JsonSchema, required: boolean, components: Components): Field {
  const about = { name, label: schema.title ?? labelOf(name), help: schema.description, required, fallback: schema.default }
  return { ...about, ...kindOf(schema, components) }
}

function kindOf(schema: JsonSchema, components: Components): Kind {
  const options = schema.const === undefined ? schema.enum : [schema.const]
  if (options?.every((one) => typeof one === 'string') === true) return { kind: 'choice', options }
  if (options !== undefined || schema.anyOf !== undefined || schema.oneOf !== undefined) return { kind: 'json' }
  switch (schema.type) {
    case 'string':
      return { kind: schema.format === 'password' || schema.writeOnly === true ? 'secret' : 'text' }
    case 'boolean':
      return { kind: 'switch' }
    case 'number':
    case 'integer':
      return { kind: 'number', isWhole: schema.type === 'integer' }
    case 'array':
      return listOf(resolved(schema.items ?? {}, components))
    case 'object':
      return objectOf(schema, components)
    default:
      return { kind: 'json' }
  }
}

function listOf({ type, enum: options }: JsonSchema): Kind {
  if (options !== undefined) return { kind: 'json' }
  const ofNumbers = type === 'number' || type === 'integer'
  return ofNumbers || type === 'string' ? { kind: 'list', ofNumbers } : { kind: 'json' }
}

function objectOf(schema: JsonSchema, components: Components): Kind {
  const fields = fieldsOf(schema, components)
  if (fields !== undefined) return { kind: 'group', fields }
  if (typeof schema.additionalProperties !== 'object') return { kind: 'json' }
  const values = resolved(schema.additionalProperties, components)
  return values.type === 'string' ? { kind: 'map', isSecret: values.format === 'password' || values.writeOnly === true } : { kind: 'json' }
}

const ABBREVIATIONS = new Set(['api', 'url', 'uri', 'id', 'dsn', 'otlp', 'ml', 'http', 'json', 'sql', 'tls'])

/** `baseUrl` as a label: `Base URL`. */
export function labelOf(name: string): string {
  const words = name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .split(/[\s_-]+/)
    .map((word) => (ABBREVIATIONS.has(word.toLowerCase()) ? word.toUpperCase() : word.toLowerCase()))
    .join(' ')
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}
