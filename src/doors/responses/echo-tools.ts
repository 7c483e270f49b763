import type { JsonObject, Tool, ToolChoice } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'
import { withoutSecrets } from '../../core/tool-secrets.ts'
import { ownName } from '../../core/own-names.ts'

/**
 * Tools, choice, text format and prompt in an answer: what the caller sent, as far as the contract's answers can express it. Requests may contain more (a
 * null instead of an absent field, a choice among hosted tools), and a strict client would fail on the answer because of it.
 */

/** Types that objects in an answer's `tool_choice` may have. */
const ANSWERED_CHOICES: ReadonlySet<string> = new Set([
  'function',
  'allowed_tools',
  'web_search_preview',
  'web_search_preview_2025_03_11',
  'apply_patch',
  'shell',
])

/** A choice that answers cannot express forces some tool, so `required` is the closest value. */
export function echoToolChoice(choice: ModelRequest['tool_choice']): ToolChoice {
  if (choice === undefined) return 'auto'
  return typeof choice === 'string' || ANSWERED_CHOICES.has(choice.type) ? choice : 'required'
}

/** The contract's answers list none of the gateway's own tools, and strict clients do not know them. */
export function echoTools(tools: ModelRequest['tools']): readonly Tool[] {
  return tools?.filter(({ type }) => ownName(type) === undefined).map(echoTool) ?? []
}

export function echoText(text: ModelRequest['text']): JsonObject {
  return { ...text, format: text?.format == null ? { type: 'text' } : withoutNulls(text.format) }
}

interface StoredPrompt {
  readonly id: string
  readonly variables?: { readonly [name: string]: string | JsonObject } | null
}

/** A stored prompt with its texts; media would be repeated in every event that contains the answer. */
export function echoPrompt(prompt: unknown): StoredPrompt | null {
  if (prompt == null) return null
  const { id, variables } = prompt as StoredPrompt
  if (variables == null) return { id, variables: null }
  const texts: { [name: string]: string | JsonObject } = {}
  for (const [name, value] of Object.entries(variables)) {
    if (typeof value === 'string') texts[name] = value
    else if (value['type'] === 'input_text') texts[name] = { type: 'input_text', text: value['text'] }
  }
  return { id, variables: texts }
}

/** Answers have one explicit mode; the other is expressed by leaving the options out. */
export function echoCacheOptions(options: ModelRequest['prompt_cache_options']): ModelRequest['prompt_cache_options'] {
  return options?.mode === 'explicit' ? options : null
}

/** Strict readers expect the members that answers always have. */
function echoTool(tool: Tool): Tool {
  const shown = withoutNulls(withoutSecrets(tool))
  if (shown.type === 'function') return { description: null, parameters: null, strict: null, ...shown }
  return shown.type === 'namespace' ? { description: '', ...shown } : shown
}

/** Members of tools and formats, at any depth, that may be null in the contract's answers, too. */
const NULLABLE: ReadonlySet<string> = new Set([
  'allowed_callers',
  'allowed_domains',
  'allowed_tools',
  'blocked_domains',
  'city',
  'country',
  'excluded_domains',
  'filters',
  'headers',
  'input_fidelity',
  'memory_limit',
  'output_schema',
  'parameters',
  'region',
  'require_approval',
  'strict',
  'timezone',
  'user_location',
])
/** The caller's own JSON, in which a null has a meaning. */
const OPAQUE: ReadonlySet<string> = new Set(['filters', 'output_schema', 'parameters', 'schema'])

/** Without members that are null where answers may not have null; the same object if there is no such member. */
function withoutNulls<T extends object>(value: T): T {
  let copy: { [member: string]: unknown } | undefined
  for (const [key, member] of Object.entries(value) as readonly (readonly [string, unknown])[]) {
    const echoed = member === null ? keptNull(value, key) : OPAQUE.has(key) ? member : cleaned(member)
    if (echoed === member) continue
    copy ??= Object.fromEntries(Object.entries(value))
    if (echoed === undefined) delete copy[key]
    else copy[key] = echoed
  }
  return (copy as T | undefined) ?? value
}

const keptNull = (owner: { readonly type?: unknown }, key: string): null | undefined =>
  NULLABLE.has(key) || (key === 'description' && owner.type === 'function') ? null : undefined

function cleaned(member: unknown): unknown {
  if (typeof member !== 'object' || member === null) return member
  if (!Array.isArray(member)) return withoutNulls(member)
  const list = member.map(cleaned)
  return list.some((each, index) => each !== member[index]) ? list : member
}
