import { z } from 'zod'
import type { Call } from '../core/call.ts'
import { GatewayError } from '../core/error.ts'
import type { ModelAnswer, ServerTool, ToolContext } from '../core/extension.ts'
import { isFunctionTool, type FunctionCallItem, type FunctionTool, type InputItem, type JsonObject } from '../core/item.ts'
import { ownName } from '../core/own-names.ts'
import type { ModelRequest } from '../core/request.ts'
import { cutText } from '../lib/cut-text.ts'
import { agentFailure, agentRequest, agentSettings, checkAgentName, cutOffNote, modelOf, userMessage, wordsOf } from './shared/agent.ts'

const nestedTool = z.looseObject({ type: z.string(), parameters: z.looseObject({}).optional() })
const settings = z.object({
  ...agentSettings,
  name: z.string().trim().min(1).max(64).optional(),
  inherit_functions: z.boolean().optional(),
  inherited_function_names: z.array(z.string().trim().min(1)).optional(),
  max_tool_calls: z.int().min(1).max(25).optional(),
  tools: z.array(nestedTool).optional(),
})
const parameters = z.object({
  task_name: z.string().min(1).max(200).describe('A short name for the task, such as summarize-changelog.'),
  task_description: z.string().min(1).describe('All the worker needs: context, input, constraints and the form of the result. It sees nothing else.'),
})

type Settings = z.infer<typeof settings>
type Arguments = z.infer<typeof parameters>

const MAX_TASKS = 20
/** Of a name that is unknown. */
const MAX_SHOWN = 60

/** Gives a self-contained task to a worker model, which may have server tools of its own and functions of the caller. */
export const subagent: ServerTool<Settings, Arguments> = {
  name: 'subagent',
  description:
    'Gives a self-contained task to a fast worker and returns its result: summaries, extraction, drafts, conversions. Do yourself what is quicker done than described. ' +
    'Several independent tasks can be given at once.',
  settings,
  parameters,
  agent: true,
  failable: true,
  showsError: true,
  suspends: true,
  timeoutMs: 300_000,
  present: ({ name }) =>
    name === undefined
      ? {}
      : {
          name: `subagent_${name.toLowerCase().replace(/[^a-z0-9_-]+/g, '_')}`.slice(0, 60),
          description: `${subagent.description} This worker is called ${name}.`,
        },
  instanceName,
  check(own, tools) {
    checkAgentName('subagent', own.name, tools)
    const wrong = (own.tools ?? []).find(({ type }) => ownName(type) === undefined || ownName(type) === 'subagent')
    if (wrong !== undefined) {
      throw new GatewayError(
        'invalid_request',
        ownName(wrong.type) === 'subagent'
          ? 'A subagent cannot have subagents'
          : `A subagent can use server tools only, not "${wrong.type}"; functions of the request are named in inherited_function_names`,
      )
    }
    const known = new Set(inherited({ inherit_functions: true }, tools.request).map(({ name }) => name))
    const missing = own.inherit_functions === true ? undefined : own.inherited_function_names?.find((name) => !known.has(name))
    if (missing === undefined) return
    const named = JSON.stringify(cutText(missing, MAX_SHOWN))
    throw new GatewayError(
      'invalid_request',
      `parameters.inherited_function_names names ${named}, which is no function among the tools of the request`,
    )
  },
  nested: ({ tools }) => tools,
  begin: (args, context) => ({
    ...task(args),
    ...identity(context),
    call_id: context.callId,
    model: context.settings.model ?? modelOf(context.call),
  }),
  async execute(args, context) {
    const { settings: own, call, uses, resumed = [] } = context
    const fields = task(args)
    const called = resumed.filter(({ type }) => type === 'function_call').length
    if (uses > MAX_TASKS)
      return agentFailure('The subagent', new GatewayError('rate_limit_exceeded', `only ${MAX_TASKS} tasks may be delegated in one request`), fields)
    try {
      const answer = await context.ask(
        agentRequest(call.request, own, own.model, {
          input: [userMessage(args.task_description), ...resumed],
          ...toolsOf(own, call, called),
        }),
      )
      // A model that is told to stop, or cannot be told, may call all the same.
      if (called < (own.max_tool_calls ?? Infinity) && isWhole(answer)) {
        const { items, left } = withRefusals(answer.items, new Set(answerable(own, call).map(({ name }) => name)))
        if (left > 0) return { output: '', suspended: items }
        if (items.length > answer.items.length && answer.text === '')
          throw new GatewayError('provider_unavailable', 'the model called only functions that it was not given')
      }
      const outcome = wordsOf(answer)
      const output = JSON.stringify({ status: 'ok', model: answer.model, task_name: args.task_name, outcome, ...cutOffNote(answer) })
      return { output, item: { ...fields, model: answer.model, outcome }, sources: answer.sources }
    } catch (error) {
      return agentFailure('The subagent', error, fields)
    }
  },
  replay: (item) => ({
    arguments: JSON.stringify({ task_name: item['task_name'] ?? '', task_description: item['task_description'] ?? '' }),
    output: JSON.stringify(
      item['error'] == null ? { status: 'ok', model: item['model'], outcome: item['outcome'] } : { status: 'error', error: item['error'] },
    ),
  }),
}

/** The caller's functions that the worker may call. */
function inherited(own: Pick<Settings, 'inherit_functions' | 'inherited_function_names'>, { tools = [] }: ModelRequest): readonly FunctionTool[] {
  const names = new Set(own.inherited_function_names)
  if (own.inherit_functions !== true && names.size === 0) return []
  return tools.filter(isFunctionTool).filter(({ name }) => own.inherit_functions === true || names.has(name))
}

/** Callers of other formats, whose presets may hold such a tool, could not send back what it takes to continue. */
const answerable = (own: Settings, { request, origin }: Pick<Call, 'request' | 'origin'>): readonly FunctionTool[] =>
  origin.apiType === 'responses' ? inherited(own, request) : []

/** `called`: how often it has called functions before it was continued. */
function toolsOf(own: Settings, call: Pick<Call, 'request' | 'origin'>, called: number): Partial<ModelRequest> {
  const functions = answerable(own, call).map((tool) => ({ ...tool, defer_loading: undefined }))
  const tools = [...(own.tools ?? []), ...functions]
  if (tools.length === 0) return {}
  if (own.max_tool_calls === undefined) return { tools }
  return { tools, max_tool_calls: Math.max(0, own.max_tool_calls - called), ...(called < own.max_tool_calls ? {} : { tool_choice: 'none' }) }
}

/** Calls that were cut off cannot be answered. */
const isWhole = ({ reason }: ModelAnswer): boolean => reason === 'tool_calls' || reason === 'stop'

/**
 * The items with answers to calls of functions that the worker was not given, and how many calls are left to the caller. The caller runs whatever has
 * the name of a function of its own, also what the worker should not have.
 */
function withRefusals(items: readonly InputItem[], given: ReadonlySet<string>): { readonly items: readonly InputItem[]; readonly left: number } {
  const refusals: InputItem[] = []
  let left = 0
  const answered = items.map((item, n): InputItem => {
    if (item.type !== 'function_call') return item
    const { name, namespace, call_id: id } = item as FunctionCallItem
    if (given.has(name) && (namespace ?? '') === '') {
      left++
      return item
    }
    const error = `There is no function ${JSON.stringify(cutText(name, MAX_SHOWN))}.`
    refusals.push({ type: 'function_call_output', call_id: `${id}_${n}`, output: JSON.stringify({ status: 'error', error }) })
    return { ...(item as FunctionCallItem), call_id: `${id}_${n}` }
  })
  return { items: [...answered, ...refusals], left }
}

const task = (args: Arguments | undefined): JsonObject =>
  args === undefined ? {} : { task_name: args.task_name, task_description: args.task_description }
function instanceName({ name }: Settings, instance: number): string {
  return name ?? `subagent_${instance}`
}
const identity = ({ settings: own, instance }: ToolContext<Settings>): JsonObject => ({ instance_name: instanceName(own, instance) })
