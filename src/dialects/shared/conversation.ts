import type { CacheMarked, InputText, OtherItem } from '../../core/item.ts'
import type { ContentPart } from './content-parts.ts'
import type { ReasoningPart } from './reasoning-replay.ts'

// ---- the conversation as turns ----

export interface TextPart extends CacheMarked {
  readonly type: 'text'
  readonly text: string
}
export interface CallPart extends CacheMarked {
  readonly type: 'call'
  /** Id and name as the endpoint accepts them. */
  readonly id: string
  readonly name: string
  /** The endpoint's own set of tools that it belongs to. */
  readonly toolset?: string
  /** JSON text as the model wrote it; `{}` if there was none. Broken JSON of a cut answer stays broken. */
  readonly arguments: string
}
/** A built-in tool's call or another item that the dialect requested by `keepItem`, unchanged. */
export interface ItemPart {
  readonly type: 'item'
  readonly item: OtherItem
}
export type AssistantPart = TextPart | ReasoningPart | CallPart | ItemPart

export interface ToolResult {
  /** Id and name of the call it answers, as the endpoint accepts them. */
  readonly callId: string
  readonly name: string
  readonly parts: readonly ContentPart[]
  /** True if the caller gave no result and one was made up. */
  readonly missing: boolean
  /** The caller says that the call failed; see `failureOf`. */
  readonly failed: boolean
}

export interface SystemPart {
  readonly role: 'system' | 'developer'
  readonly parts: readonly InputText[]
}
export type Turn =
  | { readonly role: 'user'; readonly parts: readonly ContentPart[] }
  | { readonly role: 'assistant'; readonly parts: readonly AssistantPart[] }
  | { readonly role: 'tool'; readonly results: readonly ToolResult[] }
  | SystemPart

export interface Conversation {
  /** `instructions`, and the system and developer messages before anything else. */
  readonly system: readonly SystemPart[]
  /** A tool turn follows directly after the assistant turn it answers, with one result per call, in the order of the calls. */
  readonly turns: readonly Turn[]
  readonly dropped: readonly string[]
  /** True if reasoning in the history was left out because this endpoint cannot read it. */
  readonly droppedReasoning: boolean
  /** True if some of it was signed or sealed by another vendor. */
  readonly droppedSealed: boolean
}
