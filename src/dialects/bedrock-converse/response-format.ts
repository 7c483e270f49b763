import type { JsonObject } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'
import { ANSWER_TOOL, answerTool, askForFormat, type FormatPlan, type JsonSchemaFormat } from '../shared/format-plan.ts'
import { isObject } from '../shared/json.ts'
import type { ModelTraits } from './model-traits.ts'

/** `native` becomes `outputConfig`. */
export function planFormat(request: ModelRequest, traits: ModelTraits): FormatPlan {
  const format = request.text?.format
  if (format == null || format.type === 'text') return {}
  if (format.type === 'json_object') return askForFormat(format)
  switch (schemaMode(traits)) {
    case 'native':
      return { native: nativeConfig(format, traits) }
    case 'tool': {
      const { strict: _, ...tool } = answerTool(format)
      return { answerTool: tool }
    }
    case 'prompt':
      return askForFormat(format)
  }
}

/** The tool whose calls are the answer of this request, if it has one. */
export function answerToolName(request: ModelRequest, traits: ModelTraits): string | undefined {
  return request.text?.format?.type === 'json_schema' && schemaMode(traits) === 'tool' ? ANSWER_TOOL : undefined
}

const schemaMode = (traits: ModelTraits): ModelTraits['json_schema'] =>
  traits.json_schema === 'tool' && !traits.tools ? 'prompt' : traits.json_schema

/** The schema travels as text inside the JSON. */
function nativeConfig(format: JsonSchemaFormat, traits: ModelTraits): JsonObject {
  const schema = traits.closed_schemas ? closeSchema(format.schema) : format.schema
  return {
    textFormat: {
      type: 'json_schema',
      structure: {
        jsonSchema: {
          schema: JSON.stringify(schema),
          name: format.name,
          ...(format.description === undefined ? {} : { description: format.description }),
        },
      },
    },
  }
}

/** Keywords that grammars of this family cannot enforce; the model reads them in the description instead. */
const BOUNDS: ReadonlySet<string> = new Set([
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'pattern',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
])
/** Keywords whose values are schemas by name: their names are not keywords. */
const NAMED_SCHEMAS: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions'])
/** Keywords whose values are data. */
const DATA: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'examples', 'required'])

/** The schema with every object closed and bounds moved into descriptions. */
export function closeSchema(schema: JsonObject): JsonObject {
  const closed: Record<string, unknown> = {}
  const bounds: string[] = []
  for (const [key, value] of Object.entries(schema)) {
    // One item or none is what grammars can count.
    if (BOUNDS.has(key) && !(key === 'minItems' && (value === 0 || value === 1))) bounds.push(`${key}: ${JSON.stringify(value)}`)
    else if (NAMED_SCHEMAS.has(key) && isObject(value))
      closed[key] = Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, closeAny(inner)]))
    else closed[key] = DATA.has(key) ? value : closeAny(value)
  }
  if (closed['type'] === 'object' || (Array.isArray(closed['type']) && closed['type'].includes('object')) || 'properties' in closed)
    closed['additionalProperties'] = false
  if (bounds.length > 0)
    closed['description'] = [closed['description'], `(${bounds.join(', ')})`].filter((text) => typeof text === 'string' && text !== '').join(' ')
  return closed
}

function closeAny(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closeAny)
  return isObject(value) ? closeSchema(value) : value
}
