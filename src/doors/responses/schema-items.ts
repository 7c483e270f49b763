import { z } from 'zod'
import {
  type Branch,
  byKind,
  byType,
  describeKind,
  dictionary,
  fields,
  kindOf,
  list,
  maybe,
  nameKind,
  pickOne,
  type Schema,
  tagged,
} from './schema-combinators.ts'
import { GATEWAY_ITEMS } from './schema-gateway-items.ts'
import { canonicalType } from '../../core/own-names.ts'
import { textFormat } from './schema-options.ts'
import { agentContent, messageContent, toolOutput } from './schema-parts.ts'
import { effort, itemStatus, patchOperation, reasoningFormat, shellAction, shellOutput, text, texts } from './schema-shared.ts'
import { tools } from './schema-tools.ts'

/**
 * Input items. `id` and `status` are optional everywhere: clients rebuild histories with and without them. In replayed items of a vendor's own tools, only
 * meaningful fields are required; fields that are present must have their type.
 */

const searchStatus = maybe(z.enum(['in_progress', 'searching', 'completed', 'incomplete', 'failed']))
const common = { id: text, status: itemStatus }
const namespaced = { ...common, call_id: z.string().min(1), namespace: text }
const subagentItems = maybe(list(fields({ type: z.string() })))

const message = fields({
  type: maybe(z.literal('message')),
  role: z.enum(['user', 'assistant', 'system', 'developer'], {
    error: (issue) =>
      issue.input === 'tool' || issue.input === 'function'
        ? 'must be user, assistant, system or developer; a tool\'s result is an item of type "function_call_output"'
        : undefined,
  }),
  content: maybe(messageContent),
  phase: maybe(z.enum(['commentary', 'final_answer'])),
  ...common,
})

const reasoning = tagged('reasoning', {
  summary: maybe(list(fields({ type: maybe(z.literal('summary_text')), text: z.string() }))),
  content: maybe(list(fields({ type: maybe(z.enum(['reasoning_text', 'text'])), text: z.string() }))),
  encrypted_content: text,
  signature: text,
  format: reasoningFormat,
  ...common,
})

const CALLS: readonly Branch[] = [
  tagged('function_call', {
    name: z.string().min(1),
    arguments: z.string(),
    subagent_id: text,
    subagent_items: subagentItems,
    ...namespaced,
  }),
  tagged('function_call_output', { output: toolOutput, ...namespaced }),
  tagged('custom_tool_call', { name: z.string().min(1), input: z.string(), ...namespaced }),
  tagged('custom_tool_call_output', { output: toolOutput, ...namespaced }),
]

const WORKSHOP: readonly Branch[] = [
  tagged('apply_patch_call', { ...common, call_id: z.string().min(1), operation: patchOperation }),
  tagged('apply_patch_call_output', { ...common, call_id: z.string().min(1), output: text }),
  tagged('shell_call', { ...common, call_id: z.string().min(1), action: shellAction, arguments: text }),
  tagged('shell_call_output', { ...common, call_id: z.string().min(1), output: shellOutput, max_output_length: maybe(z.int()) }),
  tagged('local_shell_call', {
    ...common,
    call_id: text,
    action: fields({
      type: maybe(z.literal('exec')),
      command: list(z.string()),
      env: maybe(dictionary(z.string())),
      timeout_ms: maybe(z.int()),
      user: text,
      working_directory: text,
    }),
  }),
  tagged('local_shell_call_output', { ...common, output: z.string() }),
]

/** A page or, with a name instead of a URL, one of the vendor's own feeds. */
const searchSource = fields({ type: maybe(z.enum(['url', 'api'])), url: text, name: text })

const searchAction = byType(
  [
    tagged('search', { query: text, queries: texts, sources: maybe(list(searchSource)) }),
    tagged('open_page', { url: text }),
    tagged('find_in_page', { url: text, pattern: text }),
  ],
  { noun: 'search action', others: fields({ type: z.string() }) },
)
const codeOutput = byType(
  [
    tagged('logs', { logs: z.string() }),
    tagged('image', { url: z.string() }),
    tagged('file', {
      id: text,
      filename: text,
      download_url: text,
      media_type: text,
      sha256: text,
      status: text,
      size_bytes: maybe(z.int()),
      error_code: text,
      expires_at: text,
    }),
  ],
  { noun: 'code output', others: fields({ type: z.string() }) },
)
const safetyCheck = fields({ id: z.string(), code: text, message: text })

const HOSTED: readonly Branch[] = [
  tagged('web_search_call', { id: text, status: searchStatus, action: maybe(searchAction) }),
  tagged('file_search_call', { id: text, status: searchStatus, queries: texts, results: maybe(list(fields({}))) }),
  tagged('image_generation_call', {
    id: text,
    status: maybe(z.enum(['in_progress', 'completed', 'generating', 'failed'])),
    result: text,
    prompt: text,
  }),
  tagged('code_interpreter_call', {
    id: text,
    status: maybe(z.enum(['in_progress', 'completed', 'incomplete', 'interpreting', 'failed'])),
    code: text,
    container_id: text,
    outputs: maybe(list(codeOutput)),
  }),
  tagged('computer_call', { ...common, call_id: z.string().min(1), pending_safety_checks: maybe(list(safetyCheck)) }),
]

/** A string in the contract; some vendors send an object, which comes back with the history. */
const callError = maybe(byKind({ string: z.string(), object: fields({}) }))

const MCP: readonly Branch[] = [
  tagged('mcp_list_tools', {
    id: text,
    server_label: z.string(),
    error: callError,
    tools: list(fields({ name: z.string(), description: text, input_schema: maybe(fields({})) })),
  }),
  tagged('mcp_approval_request', { id: text, server_label: z.string(), name: z.string(), arguments: z.string() }),
  tagged('mcp_approval_response', { id: text, approval_request_id: z.string(), approve: z.boolean(), reason: text }),
  tagged('mcp_call', {
    id: text,
    status: maybe(z.enum(['in_progress', 'calling', 'completed', 'incomplete', 'failed'])),
    server_label: z.string(),
    name: z.string(),
    arguments: z.string(),
    output: text,
    error: callError,
    approval_request_id: text,
  }),
]

const CONTEXT: readonly Branch[] = [
  tagged('compaction', { id: text, encrypted_content: z.string() }),
  tagged('context_compaction', { id: text, encrypted_content: text }),
  tagged('additional_tools', {
    id: text,
    role: maybe(z.enum(['unknown', 'user', 'assistant', 'system', 'critic', 'discriminator', 'developer', 'tool'])),
    tools,
  }),
  tagged('configuration_update', {
    id: text,
    reasoning: maybe(fields({ effort: maybe(effort) })),
    text: maybe(fields({ format: maybe(textFormat) })),
  }),
  tagged('tool_search_output', { id: text, call_id: text, tools }),
  tagged('agent_message', {
    id: text,
    author: z.string(),
    recipient: z.string(),
    content: agentContent,
    agent: maybe(fields({ agent_name: z.string() })),
  }),
]

/** Every item with a type of its own, by that type. */
export const ITEMS: readonly Branch[] = [['message', message], reasoning, ...CALLS, ...WORKSHOP, ...HOSTED, ...MCP, ...CONTEXT, ...GATEWAY_ITEMS]

const BRANCHES: ReadonlyMap<string, Schema> = new Map(ITEMS)

/** Items of types the contract does not list go to upstreams that may know them. */
export const otherItem = fields({ type: z.string().min(1) })

/** An item of an earlier answer, by its id: it is resolved while decoding and never reaches a dialect. */
export const itemReference = fields({ type: maybe(z.literal('item_reference')), id: z.string().min(1) })

/** Two forms have no `type`: messages, recognized by their role, and references, recognized by having only an id. */
export const inputItem = pickOne([...BRANCHES.values(), itemReference, otherItem], (value) => {
  if (kindOf(value) !== 'object') return { reason: describeKind(value, 'an item object') }
  const { type, role, id } = value as { readonly [key: string]: unknown }
  if (type === undefined || type === null) {
    if (role !== undefined) return message
    return typeof id === 'string'
      ? itemReference
      : { at: ['type'], reason: 'is required: it says which item this is, unless "role" makes it a message' }
  }
  if (typeof type !== 'string') return { at: ['type'], reason: `must be a string, not ${nameKind(type)}` }
  if (type === 'item_reference') return itemReference
  return BRANCHES.get(type) ?? BRANCHES.get(canonicalType(type)) ?? otherItem
})
