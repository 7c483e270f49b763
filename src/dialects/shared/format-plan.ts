import type { JsonObject } from '../../core/item.ts'
import type { ModelRequest, TextFormat } from '../../core/request.ts'
import { withReferredRoot } from './schema-pointer.ts'
import type { FlatChoice, FlatTool } from './tools.ts'

export type JsonSchemaFormat = Extract<TextFormat, { type: 'json_schema' }>

/** The requested format, with a schema that describes itself. */
export function formatOf({ text }: Pick<ModelRequest, 'text'>): TextFormat | undefined {
  const format = text?.format
  if (format?.type !== 'json_schema') return format
  const schema = withReferredRoot(format.schema)
  return schema === format.schema ? format : { ...format, schema }
}

/** Whether answers are objects: only those can be the arguments of a tool, and only those some vendors can make with a schema. */
export const isOfObjects = ({ schema }: JsonSchemaFormat): boolean => (schema['type'] ?? 'object') === 'object'

/** The name of a format as servers accept it: the same characters as in names of tools, at most 64. Answers do not repeat it. */
export const formatName = ({ name }: JsonSchemaFormat): string => name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64)

/** How a requested output format reaches the model; each field is absent if not needed. */
export interface FormatPlan {
  /** The format in the endpoint's own words. */
  readonly native?: JsonObject
  /** Text for the system prompt. */
  readonly instruction?: string
  /** A tool that the model must call; its arguments are the answer. */
  readonly answerTool?: FlatTool
  /** Set if the format is only asked for, not enforced. */
  readonly note?: string
}

/** Name of the tool whose arguments are the answer; decoders turn its call back into text. */
export const ANSWER_TOOL = 'structured_answer'
/** If the caller has a tool of this name it is renamed for the endpoint, because its calls are no answers. */
export const ANSWER_NAMES: ReadonlySet<string> = new Set([ANSWER_TOOL])

const ASKED_FOR = 'text.format: asked for in the prompt'
export const OBJECT_INSTRUCTION = 'Answer with one JSON object and nothing else.'

export function schemaInstruction(format: JsonSchemaFormat): string {
  const { description, schema } = format
  const about = description == null ? '' : ` (${description})`
  return `Answer with one JSON ${isOfObjects(format) ? 'object' : 'value'} that is valid under this JSON schema${about}, and with nothing else:\n${JSON.stringify(schema)}`
}

/** The last resort: the model is told, and nobody enforces it. */
export function askForFormat(format: Exclude<TextFormat, { type: 'text' }>): FormatPlan {
  return { instruction: format.type === 'json_object' ? OBJECT_INSTRUCTION : schemaInstruction(format), note: ASKED_FOR }
}

/** A forced call instead of a format, for models that have tools and no formats. */
export function answerTool(format: JsonSchemaFormat): FlatTool {
  return {
    name: ANSWER_TOOL,
    description: format.description ?? 'Gives the final answer. Call it exactly once, with the complete answer as its arguments.',
    parameters: format.schema,
    ...(format.strict == null ? {} : { strict: format.strict }),
  }
}

/** The offered tools and the choice among them; `answers` says that the answer is a call of the hidden tool. */
export interface AnswerOffer {
  readonly tools: readonly FlatTool[]
  readonly choice: FlatChoice | undefined
  readonly answers: boolean
}

/**
 * Adds the hidden answer tool to the caller's; `others` counts those that are not in `tools`. The caller's own choice counts: if a call is forced,
 * only that is made and no answer yet; if calls are forbidden, only the answer comes. The other tools stay listed, so that the cached prompt stays
 * valid.
 */
export function withAnswerTool(tools: readonly FlatTool[], choice: FlatChoice | undefined, answer: FlatTool | undefined, others = 0): AnswerOffer {
  if (answer === undefined || choice?.mode === 'required' || choice?.mode === 'named') return { tools, choice, answers: false }
  const only = choice?.mode === 'none' || tools.length + others === 0
  return { tools: [...tools, answer], choice: only ? { mode: 'named', name: answer.name } : { mode: 'required' }, answers: true }
}
