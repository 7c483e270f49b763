import type { JsonObject } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'
import {
  ANSWER_TOOL,
  answerTool,
  askForFormat,
  formatName,
  formatOf,
  isOfObjects,
  type FormatPlan,
  type JsonSchemaFormat,
} from '../shared/format-plan.ts'
import { hasOpenObjects } from '../shared/open-objects.ts'
import { sanitizeSchema } from '../shared/sanitize-schema.ts'
import type { ModelTraits } from './model-traits.ts'

/** `native` becomes `outputConfig`. */
export function planFormat(request: ModelRequest, traits: ModelTraits): FormatPlan {
  const format = formatOf(request)
  if (format == null || format.type === 'text') return {}
  if (format.type === 'json_object') return askForFormat(format)
  switch (schemaMode(format, traits)) {
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

/** The tool whose call contains the answer to this request, if there is one. */
export function answerToolName(request: ModelRequest, traits: ModelTraits): string | undefined {
  const format = formatOf(request)
  return format?.type === 'json_schema' && schemaMode(format, traits) === 'tool' ? ANSWER_TOOL : undefined
}

function schemaMode(format: JsonSchemaFormat, traits: ModelTraits): ModelTraits['json_schema'] {
  if (traits.json_schema === 'native' && traits.closed_schemas && hasOpenObjects(format.schema)) return 'prompt'
  if (traits.json_schema !== 'tool') return traits.json_schema
  // Only an object can be the input of a tool, and only a forced call is certain.
  return traits.tools && traits.forced_tools && isOfObjects(format) ? 'tool' : 'prompt'
}

/** The schema is sent as text inside the JSON. */
function nativeConfig(format: JsonSchemaFormat, traits: ModelTraits): JsonObject {
  const schema = traits.closed_schemas ? sanitizeSchema(format.schema) : format.schema
  return {
    textFormat: {
      type: 'json_schema',
      structure: {
        jsonSchema: {
          schema: JSON.stringify(schema),
          name: formatName(format),
          ...(format.description == null ? {} : { description: format.description }),
        },
      },
    },
  }
}
