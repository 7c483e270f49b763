type Schema = { readonly [key: string]: unknown }

const MAX_DEPTH = 6

/**
 * A plausible value for a JSON Schema: its example, default or first choice, or else a value of its type. The same schema always gives the same
 * value.
 */
export function exampleValue(schema: unknown, depth = 0): unknown {
  if (typeof schema !== 'object' || schema === null || depth > MAX_DEPTH) return null
  const node = schema as Schema
  const declared = [node['const'], node['default'], first(node['examples']), node['example'], first(node['enum'])].find(
    (value) => value !== undefined,
  )
  if (declared !== undefined) return declared
  const choice = first(node['anyOf']) ?? first(node['oneOf']) ?? first(node['allOf'])
  if (choice !== undefined) return exampleValue(choice, depth + 1)
  const types: readonly unknown[] = [node['type']].flat()
  const type = types.find((name) => name !== 'null') ?? types[0]
  switch (type) {
    case 'string':
      return exampleText(node)
    case 'integer':
    case 'number':
      return exampleNumber(node)
    case 'boolean':
      return true
    case 'null':
      return null
    case 'array':
      return Array.from({ length: Math.max(1, Math.min(number(node['minItems']) ?? 1, 8)) }, () => exampleValue(node['items'], depth + 1))
    default:
      return exampleObject(node, depth)
  }
}

/** Required properties, or all of them if none is required. */
function exampleObject(node: Schema, depth: number): unknown {
  const properties = (node['properties'] ?? {}) as Schema
  const required = Array.isArray(node['required']) && node['required'].length > 0 ? (node['required'] as string[]) : Object.keys(properties)
  return Object.fromEntries(required.map((name) => [name, exampleValue(properties[name] ?? { type: 'string' }, depth + 1)]))
}

const FORMATS: { readonly [format: string]: string } = {
  date: '2025-01-01',
  time: '12:00:00Z',
  'date-time': '2025-01-01T12:00:00Z',
  email: 'ada@example.com',
  uri: 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000000',
}

function exampleText(node: Schema): string {
  const text = FORMATS[String(node['format'])] ?? 'example'
  return text.padEnd(Math.min(number(node['minLength']) ?? 0, 256), '.').slice(0, number(node['maxLength']) ?? undefined)
}

function exampleNumber(node: Schema): number {
  const step = node['type'] === 'integer' ? 1 : 0.5
  const above = number(node['exclusiveMinimum'])
  const below = number(node['exclusiveMaximum'])
  const least = number(node['minimum']) ?? (above === undefined ? undefined : above + step)
  const most = number(node['maximum']) ?? (below === undefined ? undefined : below - step)
  return Math.min(Math.max(1, least ?? 1), most ?? Infinity)
}

function first(value: unknown): unknown {
  return Array.isArray(value) ? value[0] : undefined
}
function number(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}
