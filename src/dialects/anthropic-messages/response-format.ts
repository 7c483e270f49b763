import type { JsonObject } from '../../core/item.ts'
import type { ModelRequest, TextFormat } from '../../core/request.ts'
import type { FlatTool } from '../shared/tools.ts'
import { rulesFor } from './options.ts'
import type { MessagesTarget } from './options.ts'
import { sanitizeSchema } from './schema.ts'

type JsonSchemaFormat = Extract<TextFormat, { type: 'json_schema' }>

/** How a wished output format reaches the model; each field is absent when not needed. */
export interface FormatPlan {
  /** `output_config.format`. */
  readonly format?: JsonObject
  /** Text for the system prompt. */
  readonly instruction?: string
  /** A hidden tool the model must call; its input is the answer. */
  readonly answerTool?: FlatTool
  /** Set when the format is only asked for, not enforced. */
  readonly note?: string
}

/** Name of the tool whose input is the answer; the decoder turns its call back into text. */
const ANSWER_TOOL = 'structured_answer'

export function planFormat(request: ModelRequest, target: MessagesTarget): FormatPlan {
  const format = request.text?.format
  if (format == null || format.type === 'text') return {}
  if (format.type === 'json_object') {
    return { instruction: 'Answer with one JSON object and nothing else.', note: 'text.format: asked for in the prompt' }
  }
  switch (schemaMode(format, target)) {
    case 'native':
      return { format: { type: 'json_schema', schema: sanitizeSchema(format.schema) } }
    case 'tool':
      return {
        answerTool: {
          name: ANSWER_TOOL,
          description: format.description ?? 'Gives the final answer. Call it exactly once, with the complete answer as its input.',
          parameters: format.schema,
        },
      }
    case 'prompt':
      return { instruction: schemaInstruction(format), note: 'text.format: asked for in the prompt' }
  }
}

/** The tool whose call is the answer of this request, if it has one. */
export function answerToolName(request: ModelRequest, target: MessagesTarget): string | undefined {
  const format = request.text?.format
  return format?.type === 'json_schema' && schemaMode(format, target) === 'tool' ? ANSWER_TOOL : undefined
}

function schemaMode(format: JsonSchemaFormat, target: MessagesTarget): 'native' | 'tool' | 'prompt' {
  const rules = rulesFor(target)
  if (rules.json_schema === 'native') return target.supports.has('structured_outputs') ? 'native' : 'prompt'
  // Only an object can be the input of a tool, and only a forced call is sure to come.
  const callable = target.supports.has('tools') && rules.forced_tools !== 'never' && (format.schema['type'] ?? 'object') === 'object'
  return rules.json_schema === 'tool' && callable ? 'tool' : 'prompt'
}

function schemaInstruction(format: JsonSchemaFormat): string {
  const about = format.description === undefined ? '' : ` (${format.description})`
  return `Answer with one JSON object that is valid under this JSON schema${about}, and with nothing else:\n${JSON.stringify(format.schema)}`
}
