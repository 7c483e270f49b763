import type { GatewayError } from '../../core/error.ts'
import { isFunctionTool } from '../../core/item.ts'
import type { Tool } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'
import { isOfObjects, schemaInstruction } from './format-plan.ts'

/**
 * Valid schemas that a server cannot turn into a grammar: too large, too deep, recursive, with optional members, or of tools. What it can do is
 * documented nowhere.
 */
const NO_GRAMMAR =
  /compiled grammar is too large|too complex for (?:grammar )?compilation|grammar compilation (?:timed out|timeout)|schemas? contains? too many (?:optional )?parameters|circular reference detected in schema|recursive schemas? (?:is|are) not|too many states for serving|exceeds the maximum (?:allowed )?nesting depth|'required' is required to be supplied and to be an array including every key in properties|tools with strict=true are not supported|support the outputConfig field|(?:output_config\.format|tools\.\d+\.(?:custom\.)?strict): extra inputs are not permitted/i

/**
 * What a strict schema must not contain at vendors that follow OpenAI: `oneOf` (which zod writes for unions), maps, values of any type, unknown
 * formats, keywords beside a reference. If it is not strict, the same schema is accepted.
 */
const NOT_STRICT =
  /context=\(.*(?:'[$\w]+' is not permitted|'additionalProperties' is required to be supplied and to be false|schema must have a 'type' key|'[^']+' is not a valid format|\$ref cannot have keywords)/i

/** Answers that are lists, strings or numbers, which the same vendors make only without a schema. */
const NO_OBJECT = /response_format '[^']*': schema must be a JSON Schema of 'type: "object"'/i

/** No schemas at all, at a server without declared options: it has JSON mode only, or nothing of the kind. */
const NO_SCHEMAS =
  /response_format type is unavailable|response_format['"`]?(?:\.type)?.{0,40}json_schema.{0,40}(?:unavailable|not supported|unsupported)|does not support response format/i

/** A request refused with status 400 or 422 because of such a schema may be sent again without enforcing it; the error's metadata say so. */
export function markRefusedSchema(status: number, error: GatewayError): GatewayError {
  if ((status !== 400 && status !== 422) || ![NO_GRAMMAR, NOT_STRICT, NO_OBJECT, NO_SCHEMAS].some((words) => words.test(error.message))) return error
  return error.with({ metadata: { ...error.details.metadata, loosen_schemas: true } })
}

/**
 * The request with the schema of its answer in the prompt and without strict tools: the model reads the same, and nothing enforces it. The same
 * object if nothing was enforced.
 */
export function withLooseSchemas(request: ModelRequest): ModelRequest {
  const { text, tools, instructions } = request
  const format = text?.format
  const loose = tools?.map(loosened)
  const hasLoosened = loose?.some((tool, at) => tool !== tools![at]) === true
  if (format?.type !== 'json_schema') return hasLoosened ? { ...request, tools: loose } : request
  return {
    ...request,
    ...(hasLoosened ? { tools: loose } : {}),
    instructions: instructions ? `${instructions}\n\n${schemaInstruction(format)}` : schemaInstruction(format),
    text: { ...text, format: { type: isOfObjects(format) ? 'json_object' : 'text' } },
  }
}

function loosened(tool: Tool): Tool {
  if (isFunctionTool(tool)) return tool.strict === true ? { ...tool, strict: false } : tool
  if (tool.type !== 'namespace' || !Array.isArray(tool['tools'])) return tool
  const before = tool['tools'] as readonly Tool[]
  const inner = before.map(loosened)
  return inner.some((each, at) => each !== before[at]) ? { ...tool, tools: inner } : tool
}
