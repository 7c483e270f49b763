import type { JsonObject } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'
import { isObject } from '../shared/json.ts'
import type { ChatMessage } from './messages.ts'
import type { OpenAiChatOptions } from './options.ts'

type CacheControl = NonNullable<ModelRequest['cache_control']>
type MarkedPart = JsonObject & { readonly cache_control: CacheControl }

/** Servers that support breakpoints serve models with this limit, and refuse a request with more. */
const MAX_BREAKPOINTS = 4

/** The parts of a request, in the order in which they are cached. */
interface Markable {
  readonly tools: readonly JsonObject[]
  readonly messages: readonly ChatMessage[]
}

/**
 * Marks the end of the content that the caller wants cached, and makes all breakpoints valid together. If there are too many, the last ones are kept,
 * which have the longest prefixes. Those before a long-lived one get the same TTL, because longer ones must come first.
 */
export function placeBreakpoints(
  { tools, messages }: Markable,
  request: Pick<ModelRequest, 'cache_control'>,
  options: Pick<OpenAiChatOptions, 'cache_breakpoints'>,
  dropped: string[],
): Markable {
  if (!options.cache_breakpoints) return { tools, messages }
  const all = request.cache_control == null ? messages : markLast(messages, request.cache_control)
  const marked = [...tools.filter(isMarked), ...all.flatMap(({ content }) => (Array.isArray(content) ? content.filter(isMarked) : []))]
  const tooMany = Math.max(0, marked.length - MAX_BREAKPOINTS)
  const long = marked.findLast(isLong)?.cache_control
  if (tooMany === 0 && (long === undefined || marked.every(isLong))) return { tools, messages: all }
  if (tooMany > 0) dropped.push('prompt_cache_breakpoint: more than the endpoint takes')
  const lastLong = marked.findLastIndex(isLong)
  const placed = new Map<unknown, JsonObject>(
    marked.map((part, at) => {
      const { cache_control: mark, ...bare } = part
      return [part, at < tooMany ? bare : { ...bare, cache_control: at < lastLong && long !== undefined ? long : mark }]
    }),
  )
  const placedIn = (message: ChatMessage): ChatMessage => {
    const { content } = message
    return Array.isArray(content) ? { ...message, content: content.map((part: unknown) => placed.get(part) ?? part) } : message
  }
  return { tools: tools.map((tool) => placed.get(tool) ?? tool), messages: all.map(placedIn) }
}

/** The caller's single directive goes to the last text that can carry it. */
function markLast(messages: readonly ChatMessage[], directive: CacheControl): readonly ChatMessage[] {
  const at = messages.findLastIndex(({ content }) => (typeof content === 'string' ? content !== '' : Array.isArray(content) && content.some(isText)))
  const message = messages[at]
  if (message === undefined) return messages
  const parts: unknown[] =
    typeof message['content'] === 'string' ? [{ type: 'text', text: message['content'] }] : [...(message['content'] as unknown[])]
  const last = parts.findLastIndex(isText)
  parts[last] = { ...(parts[last] as JsonObject), cache_control: directive }
  return messages.with(at, { ...message, content: parts })
}

const isText = (part: unknown): boolean => isObject(part) && part['type'] === 'text'
const isMarked = (part: unknown): part is MarkedPart => isObject(part) && isObject(part['cache_control'])
const isLong = ({ cache_control: mark }: MarkedPart): boolean => mark.ttl === '1h'
