import type { ModelRequest } from '../../core/request.ts'
import { ANSWER_TOOL, answerTool, askForFormat, formatOf, isOfObjects, type FormatPlan, type JsonSchemaFormat } from '../shared/format-plan.ts'
import { hasOpenObjects } from '../shared/open-objects.ts'
import { sanitizeSchema } from '../shared/sanitize-schema.ts'
import { rulesFor } from './options.ts'
import type { MessagesTarget } from './options.ts'

/** `native` becomes `output_config.format`. */
export function planFormat(request: ModelRequest, target: MessagesTarget): FormatPlan {
  const format = formatOf(request)
  if (format == null || format.type === 'text') return {}
  if (format.type === 'json_object') return askForFormat(format)
  switch (schemaMode(format, target)) {
    case 'native':
      return { native: { type: 'json_schema', schema: sanitizeSchema(format.schema) } }
    case 'tool': {
      const { strict: _, ...tool } = answerTool(format)
      return { answerTool: tool }
    }
    case 'prompt':
      return askForFormat(format)
  }
}

/** The tool whose call contains the answer to this request, if there is one. */
export function answerToolName(request: ModelRequest, target: MessagesTarget): string | undefined {
  const format = formatOf(request)
  return format?.type === 'json_schema' && schemaMode(format, target) === 'tool' ? ANSWER_TOOL : undefined
}

function schemaMode(format: JsonSchemaFormat, target: MessagesTarget): 'native' | 'tool' | 'prompt' {
  const rules = rulesFor(target)
  if (rules.json_schema === 'native') return target.supports.has('structured_outputs') && !hasOpenObjects(format.schema) ? 'native' : 'prompt'
  // Only an object can be the input of a tool, and only a forced call is certain.
  const callable = target.supports.has('tools') && rules.forced_tools !== 'never' && isOfObjects(format)
  return rules.json_schema === 'tool' && callable ? 'tool' : 'prompt'
}
