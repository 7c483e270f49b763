import type { GatewayError } from '../../core/error.ts'
import { isFunctionTool } from '../../core/item.ts'
import type { Tool } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'
import { isOfObjects, schemaInstruction } from './format-plan.ts'

/**
 * Sound schemas that a server makes no grammar of: too large, too deep, recursive, with members that may be left out, or of tools. What it can make
 * one of is nowhere said in advance.
 */
const NO_GRAMMAR =
  /compiled grammar is too large|too complex for (?:grammar )?compilation|grammar compilation (?:timed out|timeout)|schemas? contains? too many (?:optional )?parameters|circular reference detected in schema|recursive schemas? (?:is|are) not|too many states for serving|exceeds the maximum (?:allowed )?nesting depth|'required' is required to be supplied and to be an array including every key in properties|tools with strict=true are not supported|support the outputConfig field|(?:output_config\.format|tools\.\d+\.(?:custom\.)?strict): extra inputs are not permitted/i

/**
 * What a strict schema may not hold with vendors that have the words of OpenAI: choices between kinds (`oneOf`, as zod writes them), maps, values of any
 * kind, unknown formats, words beside a reference. The same schema is taken where it is not strict.
 */
const NOT_STRICT =
  /context=\(.*(?:'[$\w]+' is not permitted|'additionalProperties' is required to be supplied and to be false|schema must have a 'type' key|'[^']+' is not a valid format|\$ref cannot have keywords)/i

/** Answers that are lists, words or numbers, which the same vendors make without a schema alone. */
const NO_OBJECT = /response_format '[^']*': schema must be a JSON Schema of 'type: "object"'/i

/** No schemas at all, at a server of which nothing was declared: it knows objects alone, or nothing of the kind. */
const NO_SCHEMAS =
  /response_format type is unavailable|response_format['"`]?(?:\.type)?.{0,40}json_schema.{0,40}(?:unavailable|not supported|unsupported)|does not support response format/i

/** A request of status 400 or 422 refused for such a schema may be sent again without being held to it: the metadata of the error say so. */
export function markRefusedSchema(status: number, error: GatewayError): GatewayError {
  if ((status !== 400 && status !== 422) || ![NO_GRAMMAR, NOT_STRICT, NO_OBJECT, NO_SCHEMAS].some((words) => words.test(error.message))) return error
  return error.with({ metadata: { ...error.details.metadata, loosen_schemas: true } })
}

/**
 * The request with the schema of its answer in the prompt and without strict tools: the model reads all that it read before, and nobody holds
 * it to it. The same object where nothing was to be held.
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
