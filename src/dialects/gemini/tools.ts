import type { Target } from '../../core/dialect.ts'
import type { JsonObject, Tool } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'
import { isObject } from '../shared/json.ts'
import { objectAtTop } from '../shared/sanitize-schema.ts'
import { flattenTools } from '../shared/tools.ts'
import type { FlatTool, FlatTools } from '../shared/tools.ts'
import { Unfolding } from '../shared/unfolding.ts'
import { fitJsonSchema } from '../shared/rooted-schema.ts'
import type { ModelTraits } from './model-traits.ts'
import { toOpenApiSchema } from './openapi-schema.ts'
import type { GeminiOptions } from './options.ts'

const NAME_RULE = { pattern: /^[a-zA-Z_][a-zA-Z0-9_.-]*$/, max: 64 }

type NativeTool = GeminiOptions['native_tools'][number]

/** The built-in tool of this format that a tool of the request corresponds to. */
function nativeOf(tool: Tool, options: GeminiOptions): NativeTool | undefined {
  const name = /^web_search(?:_|$)/.test(tool.type) ? 'web_search' : tool.type === 'code_interpreter' ? 'code_interpreter' : undefined
  return name !== undefined && options.native_tools.includes(name) ? name : undefined
}

const isBounded = ({ filters }: Tool & { readonly filters?: unknown }): boolean =>
  isObject(filters) && Object.values(filters).some((list) => Array.isArray(list) && list.length > 0)

/**
 * Whether the endpoint runs this tool itself among the others of a request. It cannot restrict a search to given domains, so it does not run such a
 * tool.
 */
export function hostsTool(tool: Tool, others: readonly Tool[], options: GeminiOptions, traits: ModelTraits): boolean {
  if (nativeOf(tool, options) === undefined || isBounded(tool)) return false
  return traits.tools_with_search || others.every((other) => nativeOf(other, options) !== undefined)
}

/** Whether the request asks the endpoint to search. */
export function asksSearch({ tools, tool_choice: choice }: ModelRequest, options: GeminiOptions): boolean {
  return choice !== 'none' && tools?.some((tool) => nativeOf(tool, options) === 'web_search') === true
}

export interface GeminiTools extends FlatTools {
  /** All functions, including those that `allowed_tools` leaves out. */
  readonly all: readonly FlatTool[]
  readonly native: ReadonlySet<NativeTool>
}

/** The caller's tools under names that this endpoint accepts; the decoder calls this again for the reverse mapping. */
export function toolsOf(request: Pick<ModelRequest, 'tools' | 'tool_choice'>, options: GeminiOptions): GeminiTools {
  const tools = request.tools ?? []
  const native = new Set(tools.flatMap((tool) => nativeOf(tool, options) ?? []))
  const functions = tools.filter((tool) => nativeOf(tool, options) === undefined)
  const choice = request.tool_choice === undefined ? {} : { tool_choice: request.tool_choice }
  return { ...flattenTools({ tools: functions, ...choice }, NAME_RULE), all: flattenTools({ tools: functions }, NAME_RULE).tools, native }
}

/** The fields `tools` and `toolConfig`. */
export function encodeTools(
  tools: GeminiTools,
  request: ModelRequest,
  target: Target<GeminiOptions>,
  traits: ModelTraits,
  dropped: string[],
): JsonObject {
  const { options } = target
  const config = callingConfig(tools, request, target)
  // An endpoint that cannot be told not to call gets no tools.
  const forbidden = tools.choice?.mode === 'none' && !target.supports.has('tool_choice')
  const functions = forbidden ? [] : config['allowedFunctionNames'] === undefined ? tools.tools : tools.all
  const native = [...tools.native].filter((name) => {
    const fits = functions.length === 0 || traits.tools_with_search
    if (!fits) dropped.push(`tools: ${name} beside functions`)
    return fits && request.tool_choice !== 'none'
  })
  if (request.parallel_tool_calls === false && functions.length > 0) dropped.push('parallel_tool_calls')
  const list: JsonObject[] = []
  if (functions.length > 0) {
    const unfolding = new Unfolding()
    list.push({ functionDeclarations: functions.map((tool) => declaration(tool, options, unfolding)) })
  }
  if (native.includes('web_search')) list.push({ googleSearch: {} })
  if (native.includes('code_interpreter')) list.push({ codeExecution: {} })
  if (list.length === 0) return {}
  const mixed = functions.length > 0 && native.length > 0 && options.tool_invocations
  const toolConfig = {
    ...(Object.keys(config).length > 0 && functions.length > 0 ? { functionCallingConfig: config } : {}),
    ...(mixed ? { includeServerSideToolInvocations: true } : {}),
  }
  return { tools: list, ...(Object.keys(toolConfig).length > 0 ? { toolConfig } : {}) }
}

function declaration(tool: FlatTool, options: GeminiOptions, unfolding: Unfolding): JsonObject {
  const described = { name: tool.name, description: tool.description ?? '' }
  const schema = objectAtTop(tool.parameters, unfolding)
  if (options.schemas === 'json-schema') return { ...described, parametersJsonSchema: fitJsonSchema(schema, unfolding) }
  const parameters = toOpenApiSchema(schema, unfolding)
  // An object without members is refused, and a function without parameters takes none.
  return parameters['properties'] === undefined ? described : { ...described, parameters }
}

/** Modes: AUTO (by omitting it), NONE, ANY, and VALIDATED if the caller wants arguments validated against their schemas. */
function callingConfig(
  tools: GeminiTools,
  request: ModelRequest,
  { options, supports }: Target<GeminiOptions>,
): { readonly [field: string]: unknown } {
  const strict = options.validated_mode && tools.tools.some((tool) => tool.strict === true)
  const { choice } = tools
  if (choice === undefined || !supports.has('tool_choice')) return strict ? { mode: 'VALIDATED' } : {}
  switch (choice.mode) {
    case 'auto':
      // Models of Gemini 3 write calls as text if AUTO is stated; omitting it means the same mode.
      return strict ? { mode: 'VALIDATED' } : {}
    case 'none':
      return { mode: 'NONE' }
    case 'named':
      return { mode: 'ANY', allowedFunctionNames: [choice.name] }
    case 'required': {
      // All declarations stay and only the choice is restricted, so that the cached prompt stays the same.
      const narrowed = typeof request.tool_choice === 'object' && tools.tools.length < tools.all.length
      return { mode: 'ANY', ...(narrowed ? { allowedFunctionNames: tools.tools.map(({ name }) => name) } : {}) }
    }
  }
}
