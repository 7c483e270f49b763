import type { Target } from '../../core/dialect.ts'
import type { JsonObject } from '../../core/item.ts'
import type { ModelRequest, TextFormat } from '../../core/request.ts'
import type { FlatTool } from '../shared/tools.ts'
import type { OpenAiChatOptions } from './options.ts'

type ChatTarget = Target<OpenAiChatOptions>
type JsonSchemaFormat = Extract<TextFormat, { type: 'json_schema' }>

/** How a wished output format reaches a server; each field is absent when not needed. */
export interface FormatPlan {
  readonly responseFormat?: JsonObject
  /** Text for the system prompt. */
  readonly instruction?: string
  /** A tool the model must call; its arguments are the answer. */
  readonly answerTool?: FlatTool
  /** Set when the format is only asked for, not enforced. */
  readonly note?: string
}

/** Name of the tool whose arguments are the answer; the decoder turns its call back into text. */
const ANSWER_TOOL = 'structured_answer'

/** Where the schema goes: natively, as a JSON object with the schema in the prompt, as a forced tool, or only in the prompt. */
export function planFormat(request: ModelRequest, target: ChatTarget): FormatPlan {
  const format = request.text?.format
  if (format == null || format.type === 'text') return {}
  const { supports } = target
  if (format.type === 'json_object') {
    if (supports.has('response_format') || supports.has('structured_outputs'))
      return { responseFormat: { type: 'json_object' }, ...jsonWord(request) }
    return { instruction: 'Answer with one JSON object and nothing else.', note: 'text.format: asked for in the prompt' }
  }
  switch (schemaMode(target)) {
    case 'native':
      return { responseFormat: { type: 'json_schema', json_schema: nativeSchema(format) } }
    case 'json-object':
      return { responseFormat: { type: 'json_object' }, instruction: schemaInstruction(format), note: 'text.format: schema asked for in the prompt' }
    case 'tool':
      return {
        answerTool: {
          name: ANSWER_TOOL,
          description: format.description ?? 'Gives the final answer. Call it exactly once, with the complete answer as its arguments.',
          parameters: format.schema,
          ...(format.strict == null ? {} : { strict: format.strict }),
        },
      }
    case 'prompt':
      return { instruction: schemaInstruction(format), note: 'text.format: asked for in the prompt' }
  }
}

/** The tool whose calls are the answer of this request, if it has one. */
export function answerToolName(request: ModelRequest, target: ChatTarget): string | undefined {
  return request.text?.format?.type === 'json_schema' && schemaMode(target) === 'tool' ? ANSWER_TOOL : undefined
}

function schemaMode(target: ChatTarget): 'native' | 'json-object' | 'tool' | 'prompt' {
  const { json_schema: mode } = target.options
  if (mode !== 'auto') return mode
  if (target.supports.has('structured_outputs')) return 'native'
  return target.supports.has('response_format') ? 'json-object' : 'prompt'
}

function nativeSchema(format: JsonSchemaFormat): JsonObject {
  return {
    name: format.name,
    ...(format.description === undefined ? {} : { description: format.description }),
    schema: format.schema,
    ...(format.strict == null ? {} : { strict: format.strict }),
  }
}

function schemaInstruction(format: JsonSchemaFormat): string {
  const about = format.description === undefined ? '' : ` (${format.description})`
  return `Answer with one JSON object that is valid under this JSON schema${about}, and with nothing else:\n${JSON.stringify(format.schema)}`
}

/** Servers refuse `json_object` when the word JSON stands nowhere in the prompt. */
function jsonWord(request: ModelRequest): { instruction?: string } {
  return /json/i.test(`${request.instructions ?? ''} ${JSON.stringify(request.input)}`) ? {} : { instruction: 'Answer with one JSON object.' }
}
