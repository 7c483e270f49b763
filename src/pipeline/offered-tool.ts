import type { ServerTool } from '../core/extension.ts'
import type { FunctionTool, JsonObject, Tool, ToolChoice } from '../core/item.ts'
import type { ToolSource } from '../core/tool-source.ts'

/** One entry of the caller's `tools` that the gateway runs. */
export interface OfferedTool {
  readonly tool: ServerTool
  readonly settings: unknown
  /** As the caller spelled it. */
  readonly type: string
  /** Type of the items that stand for its calls, in the caller's spelling. */
  readonly itemType: string
  /** The name the model calls it by. */
  readonly functionName: string
  readonly instance: number
  readonly tally: Map<string, number>
  uses: number
  /** The name of its source, if it is another server's. */
  readonly source?: string
  /** The fields by which `tool_choice` may name it, if its type is not enough. */
  readonly choice?: JsonObject
}

/** One entry of the caller's `tools` whose functions are not known yet. */
export interface PendingSource {
  readonly source: ToolSource
  readonly settings: unknown
  readonly type: string
}

/** The caller's tools as the model gets them. */
export interface Offer {
  readonly tools: readonly Tool[]
  readonly byFunction: ReadonlyMap<string, OfferedTool>
  /** Offered tools by the type of their items in a history, in either spelling. */
  readonly byItem: ReadonlyMap<string, readonly OfferedTool[]>
  /** Types of items that the provider answers with, and the types the caller asked to see instead. */
  readonly renamed: ReadonlyMap<string, string>
  readonly choice: ToolChoice | undefined
  /** Functions that the model does not see until a search finds them. */
  readonly deferred: readonly FunctionTool[]
  /** Entries to open before the first turn. */
  readonly pending: readonly PendingSource[]
  /** Sources whose entries the provider serves itself: their items are the provider's. */
  readonly hostedSources: ReadonlySet<ToolSource>
  /** `choice` once more functions are known. */
  readonly choose: (byFunction: ReadonlyMap<string, OfferedTool>) => ToolChoice | undefined
}
