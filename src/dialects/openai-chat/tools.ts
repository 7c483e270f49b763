import type { Target } from '../../core/dialect.ts'
import type { JsonObject } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'
import { cacheMark } from '../shared/cache-mark.ts'
import { withAnswerTool } from '../shared/format-plan.ts'
import type { FormatPlan } from '../shared/format-plan.ts'
import { curateSchema } from '../shared/curated-schema.ts'
import { hasOptionalMembers, STRICT_WITH_OPTIONAL } from '../shared/optional-members.ts'
import { objectAtTop } from '../shared/sanitize-schema.ts'
import { strictChoices } from '../shared/strict-choices.ts'
import { isForced, NOT_FORCED, onlyChosen } from '../shared/tool-choice.ts'
import type { FlatChoice, FlatTool, FlatTools } from '../shared/tools.ts'
import { Unfolding } from '../shared/unfolding.ts'
import { boundsInDescription } from './bounds-in-description.ts'
import { forcedToolsFor, type OpenAiChatOptions } from './options.ts'

type ChatTarget = Target<OpenAiChatOptions>
type Body = { [field: string]: unknown }
type Offered = Body & { tools?: readonly JsonObject[] }

/** The tools and the choice among them; lists in `dropped` what cannot be expressed. */
export function encodeTools(flat: FlatTools, format: FormatPlan, request: ModelRequest, target: ChatTarget, dropped: string[]): Offered {
  const { options, supports } = target
  const { answers, ...wanted } = withAnswerTool(flat.tools, flat.choice, format.answerTool)
  const { tools, choice } = possibleChoice(wanted, target, dropped)
  if (tools.length === 0) return {}
  const unfolding = new Unfolding()
  const body: Offered = { tools: tools.map((tool) => encodeTool(tool, options, unfolding, dropped)) }
  // Free choice is the default: the field is not worth sending if other values of it are refused.
  if (choice !== undefined && (choice.mode !== 'auto' || forcedToolsFor(target) === undefined)) {
    if (supports.has('tool_choice')) body['tool_choice'] = encodeChoice(choice, options)
    else if (choice.mode !== 'auto') dropped.push('tool_choice')
  }
  if (request.parallel_tool_calls != null || answers) {
    const parallel = !answers && request.parallel_tool_calls === true
    if (supports.has('parallel_tool_calls')) body['parallel_tool_calls'] = parallel
    else if (request.parallel_tool_calls === false) dropped.push('parallel_tool_calls')
  }
  return body
}

interface Offer {
  readonly tools: readonly FlatTool[]
  readonly choice: FlatChoice | undefined
}

/** The choice as far as this model supports it; an unsupported choice restricts the list of tools instead. */
function possibleChoice({ tools, choice }: Offer, target: ChatTarget, dropped: string[]): Offer {
  const { options, supports } = target
  // An endpoint that cannot be told not to call gets no tools.
  if (choice?.mode === 'none') return { tools: options.none_tool_choice && supports.has('tool_choice') ? tools : [], choice }
  if (isForced(choice) && forcedToolsFor(target) === 'never') {
    dropped.push(NOT_FORCED)
    return { tools: onlyChosen(tools, choice), choice: { mode: 'auto' } }
  }
  if (choice?.mode === 'named' && !options.named_tool_choice) return { tools: onlyChosen(tools, choice), choice: { mode: 'required' } }
  return { tools, choice }
}

/** Whether the request forces a call. */
export const demandsCall = ({ tool_choice: choice }: Body): boolean => choice !== undefined && choice !== 'auto' && choice !== 'none'

function encodeTool(tool: FlatTool, options: OpenAiChatOptions, unfolding: Unfolding, dropped: string[]): JsonObject {
  const folded = objectAtTop(tool.parameters, unfolding)
  const bounded = options.tool_bounds === 'sent' ? folded : boundsInDescription(folded, options.tool_bounds === 'described' ? undefined : 'patterns')
  const parameters = options.schemas === 'curated' ? curateSchema(bounded, unfolding) : bounded
  // A folded schema contains more than a strict one may. Not strict is the default, and is not sent because some vendors do not know the field.
  const wanted = options.strict_tools && tool.strict === true && parameters === tool.parameters
  const strict = wanted && !(options.optional_members === 'refused' && hasOptionalMembers(tool.parameters))
  if (wanted && !strict) dropped.push(`tools: ${STRICT_WITH_OPTIONAL}`)
  return {
    type: 'function',
    function: {
      name: tool.name,
      ...(tool.description === undefined ? {} : { description: tool.description }),
      parameters: strict ? strictChoices(parameters) : parameters,
      ...(strict ? { strict } : {}),
    },
    ...(options.cache_breakpoints ? cacheMark(tool, true) : {}),
  }
}

function encodeChoice(choice: FlatChoice, options: OpenAiChatOptions): unknown {
  if (choice.mode === 'named') return { type: 'function', function: { name: choice.name } }
  return choice.mode === 'required' ? options.required_word : choice.mode
}
