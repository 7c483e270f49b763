import type { ZodType } from 'zod'
import type { Call } from './call.ts'
import type { ServerTool, ToolRequest } from './extension.ts'
import type { GenerationStep } from './generation.ts'
import type { InputItem, JsonObject, OtherItem, OtherTool } from './item.ts'
import type { IdSource } from '../lib/id.ts'

/** What is available while an entry is opened. */
export interface SourceContext<S = unknown> {
  /** The caller's fields in this entry, validated. */
  readonly settings: S
  /** Type of the entry as the caller wrote it. */
  readonly type: string
  /** Its signal must be obeyed while waiting for external servers. */
  readonly call: Call
  readonly newId: IdSource
}

/** One function of an opened entry. */
export interface SourceFunction {
  /** The model calls it by its name, unless the caller has a function of that name. */
  readonly tool: ServerTool
  /** Type of the items for its calls. */
  readonly itemType: string
  /** All fields by which `tool_choice` may refer to it. */
  readonly choice: JsonObject
}

/** An item of the answer that reports the opening, with its progress. */
export interface SourceItem {
  readonly id: string
  readonly start: OtherItem
  /** Event names of the contract, without `response.`. */
  readonly events: readonly string[]
  readonly end: JsonObject
}

/** An entry with its functions. Failures of external servers become items without functions, never errors. */
export interface OpenedSource {
  readonly functions: readonly SourceFunction[]
  readonly items: readonly SourceItem[]
  /** For the record, if a server was asked. */
  readonly step?: GenerationStep
}

/** A call that the caller has approved since it was made; it runs before the model's first turn. */
export interface DueCall {
  readonly functionName: string
  readonly callId: string
  /** JSON text exactly as the model wrote it. */
  readonly arguments: string
  /** Id of the caller's approval. */
  readonly grant: string
}

/** A conversation in which the items of a source are converted to the original calls and results. Outputs of due calls are still empty. */
export interface ReplayedInput {
  readonly input: readonly InputItem[]
  readonly due: readonly DueCall[]
}

/**
 * Entries of `tools` whose functions are unknown until someone asks for them: those of a remote server. They are opened before the model's first
 * turn; from then on, their functions are server tools like all others. Each is one folder in tools/.
 */
export interface ToolSource<S = unknown> {
  /** Callers may also write `gateway:<name>`. */
  readonly name: string
  /** Type of its entries among the tools of the contract. */
  readonly type: string
  /** Types of its items in a conversation, in all spellings. */
  readonly itemTypes: ReadonlySet<string>
  readonly settings: ZodType<S>
  /** Reads the settings from an entry. Default: its `parameters`. */
  read?(entry: OtherTool): unknown
  /** Throws GatewayError `invalid_request` if this request cannot have this entry; the message says what to change. */
  check(settings: S, request: ToolRequest): void
  /** The entry in the form that the provider itself may serve. `only`: nothing else can serve it. Undefined: the gateway always serves it. */
  hosted?(settings: S, entry: OtherTool): { readonly tool: OtherTool; readonly only: boolean } | undefined
  /** Ends within a time limit. Failures are reported as items; it rejects only if the caller has disconnected. `history` is the unchanged input. */
  open(context: SourceContext<S>, history: readonly InputItem[]): Promise<OpenedSource>
  /**
   * Converts the conversation for a model. `find` returns the model's name of a function, given fields of its `choice`; undefined if it is not
   * offered. Throws GatewayError `invalid_prompt` for items that contradict each other.
   */
  replay(input: readonly InputItem[], find: (choice: JsonObject) => string | undefined): ReplayedInput
}
