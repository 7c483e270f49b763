import type { JsonObject } from '../../core/item.ts'
import type { ModelRequest, TextFormat } from '../../core/request.ts'
import { isObject } from '../shared/json.ts'
import type { FlatTool } from '../shared/tools.ts'
import type { ModelTraits } from './model-traits.ts'

type JsonSchemaFormat = Extract<TextFormat, { type: 'json_schema' }>

/** How a wished output format reaches the model; each field is absent when not needed. */
export interface FormatPlan {
  readonly outputConfig?: JsonObject
  /** Text for the system prompt. */
  readonly instruction?: string
  /** A tool the model must call; its arguments are the answer. */
  readonly answerTool?: FlatTool
  /** Set when the format is only asked for, not enforced. */
  readonly note?: string
}

/** Name of the tool whose arguments are the answer; the decoder turns its call back into text. */
const ANSWER_TOOL = 'structured_answer'

export function planFormat(request: ModelRequest, traits: ModelTraits): FormatPlan {
  const format = request.text?.format
  if (format == null || format.type === 'text') return {}
  if (format.type === 'json_object')
    return { instruction: 'Answer with one JSON object and nothing else.', note: 'text.format: asked for in the prompt' }
  const mode = schemaMode(traits)
  if (mode === 'native') return { outputConfig: nativeConfig(format, traits) }
  if (mode === 'prompt') {
    return {
      instruction: `Answer with one JSON object that is valid under this JSON schema, and with nothing else:\n${JSON.stringify(format.schema)}`,
      note: 'text.format: asked for in the prompt',
    }
  }
  return {
    answerTool: {
      name: ANSWER_TOOL,
      description: format.description ?? 'Gives the final answer. Call it exactly once, with the complete answer as its arguments.',
      parameters: format.schema,
    },
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
