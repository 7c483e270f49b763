/**
 * The vocabulary of conversations: input items, output items, content parts, annotations and tools.
 *
 * Items keep their wire format (snake_case, as in the Responses contract). Thus unknown items are carried unchanged, a native upstream receives what
 * the caller sent, and the hot path renames nothing twice.
 */

import { isJsonObject } from '../lib/json.ts'

export type JsonObject = { readonly [key: string]: unknown }

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete' | 'failed'

// ---- content parts the caller sends ----

/** Marks the end of the prefix to cache. */
export interface CacheMarked {
  /** `ttl`: the lifetime, if the caller sets it per breakpoint; no other text is one, whoever wrote it. */
  readonly prompt_cache_breakpoint?: { readonly mode: 'explicit'; readonly ttl?: CacheLifetime | undefined } | null
}
/** Five minutes and an hour in Anthropic's format and those that follow it; half an hour and twelve in OpenAI's. */
export type CacheLifetime = '5m' | '30m' | '1h' | '12h'
/** A document that the model should cite, from a front door whose format requests citations per document. */
export interface Citable {
  /**
   * The structure of a text. `titled`: its first line is the title; `sourced`: the next line is its source; `blocks`: the lengths, in UTF-16 code
   * units, of the texts that make up the rest, joined by line breaks.
   */
  readonly cited?: { readonly titled?: boolean; readonly sourced?: boolean; readonly blocks?: readonly number[] }
}
export interface InputText extends CacheMarked, Citable {
  readonly type: 'input_text'
  readonly text: string
  /** Text of a document or search result that the sender of the message quotes and did not write. */
  readonly quoted?: true
}
export interface InputImage extends CacheMarked {
  readonly type: 'input_image'
  readonly image_url?: string | null
  readonly file_id?: string | null
  readonly detail?: 'auto' | 'high' | 'low' | 'original' | null
}
export interface InputFile extends CacheMarked, Citable {
  readonly type: 'input_file'
  readonly file_data?: string | null
  readonly file_id?: string | null
  readonly file_url?: string | null
  readonly filename?: string | null
  /** Only where vectors are wanted: the kind of bytes, in the caller's words. */
  readonly format?: string
}
export interface InputAudio {
  readonly type: 'input_audio'
  /** Only where vectors are wanted, `format` may be empty: the caller has not said it. */
  readonly input_audio: { readonly data: string; readonly format: string }
}
export interface InputVideo {
  readonly type: 'input_video'
  readonly video_url: string
  /** Only where vectors are wanted: the kind of bytes, in the caller's words. */
  readonly format?: string
}
/** What a hosted tool returned, readable only by models of one vendor; only in tool outputs. */
export interface EncryptedContent {
  readonly type: 'encrypted_content'
  readonly encrypted_content: string
}

// ---- content parts a model produces ----

export interface Logprob {
  readonly token: string
  readonly logprob: number
  readonly bytes: readonly number[]
  readonly top_logprobs: readonly { readonly token: string; readonly logprob: number; readonly bytes: readonly number[] }[]
}
export interface UrlCitation {
  readonly type: 'url_citation'
  readonly url: string
  readonly title: string
  /** Offsets into the text of the content part, in UTF-16 code units. */
  readonly start_index: number
  readonly end_index: number
  readonly content?: string
}
export interface FileCitation {
  readonly type: 'file_citation'
  readonly file_id: string
  readonly filename: string
  /** End of the cited text, in UTF-16 code units. Recorded answers of this format count like this, whatever its documentation says. */
  readonly index: number
}
export interface FilePath {
  readonly type: 'file_path'
  readonly file_id: string
  readonly index: number
}
export type Annotation = UrlCitation | FileCitation | FilePath

export interface OutputText extends CacheMarked {
  readonly type: 'output_text'
  readonly text: string
  readonly annotations?: readonly Annotation[]
  readonly logprobs?: readonly Logprob[]
}
export interface Refusal {
  readonly type: 'refusal'
  readonly refusal: string
}

export type InputPart = InputText | InputImage | InputFile | InputAudio | InputVideo | OutputText | Refusal

// ---- items ----

export type Role = 'user' | 'system' | 'developer' | 'assistant'

/** A message of any role: the easy form (no `type`), the strict input form, and the assistant form with `output_text` parts. */
export interface MessageItem {
  readonly type: 'message'
  readonly role: Role
  readonly content: string | readonly InputPart[]
  readonly id?: string | null
  readonly status?: ItemStatus | null
  readonly phase?: 'commentary' | 'final_answer' | null
}
export interface ReasoningItem {
  readonly type: 'reasoning'
  readonly id?: string | null
  readonly summary?: readonly { readonly type: 'summary_text'; readonly text: string }[] | null
  readonly content?: readonly { readonly type: 'reasoning_text'; readonly text: string }[] | null
  /** A vendor's opaque blob, or the gateway's envelope around signature and text (see core/reasoning-envelope.ts). */
  readonly encrypted_content?: string | null
  readonly signature?: string | null
  readonly format?: string | null
  readonly status?: ItemStatus | null
}
/** Who called a tool: the model itself, or a program of the model that the provider runs and that waits for the result. */
export type ToolCaller = { readonly type: string; readonly caller_id?: string }
export interface FunctionCallItem extends CacheMarked {
  readonly type: 'function_call'
  readonly id?: string | null
  readonly call_id: string
  readonly name: string
  readonly arguments: string
  readonly namespace?: string | null
  readonly caller?: ToolCaller | null
  /** The result may come in a later turn than the next one. */
  readonly async?: boolean | null
  readonly status?: ItemStatus | null
  /** The call of a server tool whose own model makes this call and waits for its result. */
  readonly subagent_id?: string | null
  /** What that model has said since it was last continued, this call included; in the first of several calls. */
  readonly subagent_items?: readonly InputItem[] | null
}
export type ToolOutput = string | readonly (InputText | InputImage | InputFile | InputAudio | InputVideo)[]
export interface FunctionCallOutputItem {
  readonly type: 'function_call_output'
  readonly id?: string | null
  readonly call_id: string
  readonly output: ToolOutput
  /** The call failed, according to a front door whose format has a flag for it; `output` then begins with a word that says so. */
  readonly failed?: boolean | null
  readonly caller?: ToolCaller | null
  readonly status?: ItemStatus | null
}
export interface CustomToolCallItem {
  readonly type: 'custom_tool_call'
  readonly id?: string | null
  readonly call_id: string
  readonly name: string
  readonly input: string
  readonly namespace?: string | null
  readonly caller?: ToolCaller | null
  readonly async?: boolean | null
  readonly status?: ItemStatus | null
}
export interface CustomToolCallOutputItem {
  readonly type: 'custom_tool_call_output'
  readonly id?: string | null
  readonly call_id: string
  readonly output: ToolOutput
  readonly caller?: ToolCaller | null
}

/** Built-in tool calls (`web_search_call`, `mcp_call`, `gateway:datetime`, ...) and all unknown types; carried unchanged. */
export interface OtherItem {
  readonly type: string
  readonly id?: string | null
  readonly [key: string]: unknown
}

export type KnownItem = MessageItem | ReasoningItem | FunctionCallItem | FunctionCallOutputItem | CustomToolCallItem | CustomToolCallOutputItem
export type InputItem = KnownItem | OtherItem

/** An item of an answer. `message` items in answers always have role `assistant` and part arrays. */
export type OutputItem = MessageItem | ReasoningItem | FunctionCallItem | CustomToolCallItem | OtherItem

const KNOWN = new Set(['message', 'reasoning', 'function_call', 'function_call_output', 'custom_tool_call', 'custom_tool_call_output'])

/** Narrows to the item types that dialects translate; all others are carried or dropped by policy. */
export function isKnownItem(item: InputItem): item is KnownItem {
  return KNOWN.has(item.type)
}

// ---- tools ----

export interface FunctionTool extends CacheMarked {
  readonly type: 'function'
  readonly name: string
  readonly description?: string | null
  readonly parameters?: JsonObject | null
  readonly strict?: boolean | null
  readonly defer_loading?: boolean
  /**
   * Arguments may be streamed while they are generated, without validation, so that readers must handle JSON that breaks off. For endpoints that
   * otherwise hold arguments back.
   */
  readonly eager_input_streaming?: boolean | null
  /** Examples of arguments. */
  readonly input_examples?: readonly JsonObject[] | null
  /** Results may come in a later turn than the next one. */
  readonly async?: boolean | null
}
export interface CustomTool extends CacheMarked {
  readonly type: 'custom'
  readonly name: string
  readonly async?: boolean | null
  readonly description?: string
  readonly format?: { readonly type: 'text' } | { readonly type: 'grammar'; readonly syntax: 'lark' | 'regex'; readonly definition: string }
}
export interface OtherTool {
  readonly type: string
  readonly [key: string]: unknown
}
export type Tool = FunctionTool | CustomTool | OtherTool

export type ToolChoice =
  | 'auto'
  | 'none'
  | 'required'
  | { readonly type: 'function'; readonly name: string }
  | { readonly type: 'custom'; readonly name: string }
  | { readonly type: 'allowed_tools'; readonly mode: 'auto' | 'required'; readonly tools: readonly JsonObject[] }
  | { readonly type: string; readonly [key: string]: unknown }

export function isFunctionTool(tool: Tool): tool is FunctionTool {
  return tool.type === 'function'
}
export function isCustomTool(tool: Tool): tool is CustomTool {
  return tool.type === 'custom'
}

const HOLDS_TOOLS: ReadonlySet<string> = new Set(['additional_tools', 'tool_search_output'])

/** Tools in the input instead of in the request's `tools`: added during the conversation, or found by a search. */
export function toolsWithin(item: InputItem): readonly Tool[] {
  if (!HOLDS_TOOLS.has(item.type)) return []
  const { tools } = item as { readonly tools?: unknown }
  return Array.isArray(tools) ? (tools as readonly Tool[]) : []
}

/** Every tool that a model is given, wherever it stands in the request: among its tools, in the input, or in namespaces of either. */
export const toolsGiven = ({
  tools,
  input,
}: {
  readonly tools?: readonly Tool[] | undefined
  readonly input: readonly InputItem[]
}): readonly Tool[] => [...(tools ?? []), ...input.flatMap(toolsWithin)].flatMap(withInner)

function withInner(tool: Tool): readonly Tool[] {
  const { tools } = tool as { readonly tools?: unknown }
  return Array.isArray(tools) ? [tool, ...(tools as readonly unknown[]).filter(isJsonObject).map(typed).flatMap(withInner)] : [tool]
}

/** What a tool of an unknown kind holds need not say its type, but whoever looks for types reads one of each. */
const typed = (inner: JsonObject): Tool => ({ ...inner, type: typeof inner['type'] === 'string' ? inner['type'] : '' })
