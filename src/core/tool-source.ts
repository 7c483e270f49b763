import type { ZodType } from 'zod'
import type { Call } from './call.ts'
import type { ServerTool, ToolRequest } from './extension.ts'
import type { GenerationStep } from './generation.ts'
import type { InputItem, JsonObject, OtherItem, OtherTool } from './item.ts'
import type { IdSource } from '../lib/id.ts'

/** What an entry may use while it is opened. */
export interface SourceContext<S = unknown> {
  /** The caller's fields of this entry, validated. */
  readonly settings: S
  /** Type of the entry as the caller spelled it. */
  readonly type: string
  /** Whoever waits for strangers obeys its signal. */
  readonly call: Call
  readonly newId: IdSource
}

/** One function of an opened entry. */
export interface SourceFunction {
  /** Its name is what the model calls it, unless the caller has a function of that name. */
  readonly tool: ServerTool
  /** Type of the items that stand for its calls. */
  readonly itemType: string
  /** What `tool_choice` may say of it, all fields of it. */
  readonly choice: JsonObject
}

/** An item of the answer that tells of the opening, with its progress. */
export interface SourceItem {
  readonly id: string
  readonly start: OtherItem
  /** Events of the contract, without `response.`. */
  readonly events: readonly string[]
  readonly end: JsonObject
}

/** An entry with its functions. Failures of strangers are items and no functions, never errors. */
export interface OpenedSource {
  readonly functions: readonly SourceFunction[]
  readonly items: readonly SourceItem[]
  /** For the record, when anything was asked. */
  readonly step?: GenerationStep
}

/** A call the caller has agreed to since it was made: it runs before the model's first turn. */
export interface DueCall {
  readonly functionName: string
  readonly callId: string
  /** JSON text as the model wrote it. */
  readonly arguments: string
  /** By which the caller agreed. */
  readonly grant: string
}

/** A conversation whose items of a source are the calls and results they were. Outputs of due calls are still empty. */
export interface ReplayedInput {
  readonly input: readonly InputItem[]
  readonly due: readonly DueCall[]
}

/**
 * Entries of `tools` that stand for functions nobody knows before someone has asked: those of a remote server. Opened before the model's
 * first turn; from then on its functions are server tools like all others. One folder each in tools/.
 */
export interface ToolSource<S = unknown> {
  /** Callers may also spell it `gateway:<name>`. */
  readonly name: string
  /** Type of its entries among the contract's tools. */
  readonly type: string
  /** Types of the items it leaves in a conversation, all spellings. */
  readonly itemTypes: ReadonlySet<string>
  readonly settings: ZodType<S>
  /** The settings in an entry. Default: its `parameters`. */
  read?(entry: OtherTool): unknown
  /** Throws GatewayError `invalid_request` when this request can not have this entry; the message names what to change. */
  check(settings: S, request: ToolRequest): void
  /** The entry as the provider itself may serve it. `only`: nobody else can. Undefined: always ours. */
  hosted?(settings: S, entry: OtherTool): { readonly tool: OtherTool; readonly only: boolean } | undefined
  /** Within a time limit. Failures are told by its items; it rejects only if the caller has gone. `history` is the input as it came. */
  open(context: SourceContext<S>, history: readonly InputItem[]): Promise<OpenedSource>
  /**
   * The conversation for a model. `find` gives what the model calls a function, by fields of its `choice`; undefined when it is not offered.
   * Throws GatewayError `invalid_prompt` for items that contradict each other.
   */
  replay(input: readonly InputItem[], find: (choice: JsonObject) => string | undefined): ReplayedInput
}
