import type { ZodType } from 'zod'
import type { Call } from './call.ts'
import type { FinishReason, ModelEvent } from './event.ts'
import type { Cost } from './generation.ts'
import type { FunctionTool, InputItem, JsonObject, OtherTool, OutputItem, ToolOutput } from './item.ts'
import type { ModelRequest } from './request.ts'
import type { Usage } from './usage.ts'

/** What a request says of one page or document that an answer may cite. */
export interface CitableSource {
  readonly url: string
  readonly title: string
  readonly content?: string
}

/** What running a server tool came to. Failures the model can react to are results too: `error` is set and `output` tells the model. */
export interface ToolResult {
  /** What the model reads. */
  readonly output: ToolOutput
  /** Fields of the finished output item, over those of `begin`. */
  readonly item?: JsonObject
  readonly error?: { readonly type: string; readonly message: string }
  /** Counters for `usage`, by name (`web_search`: 1). */
  readonly usage?: { readonly [counter: string]: number }
  /** What it cost, USD: a search engine's price, the model calls it made. */
  readonly cost?: number
  /** Tokens of the model calls it made: they count against the loop's limits, not in the answer's usage. */
  readonly tokens?: number
  readonly sources?: readonly CitableSource[]
  /** Names of deferred functions the model may call from now on. */
  readonly reveal?: readonly string[]
  /** The caller carries the call out: this item goes back instead of the tool's own and ends the loop. */
  readonly handBack?: OutputItem
}

/** A model call made by a tool, through the gateway's own routing. */
export interface ModelAnswer {
  readonly text: string
  /** Images of the answer as URLs or data URLs. */
  readonly images: readonly string[]
  readonly sources: readonly CitableSource[]
  readonly model: string
  readonly reason: FinishReason
  readonly usage: Usage
  readonly cost: Cost
}

export interface AskOptions {
  /** Told of every event as it comes. */
  readonly onEvents?: (events: readonly ModelEvent[]) => void
}

/** What a tool may use while it runs. */
export interface ToolContext<S = unknown> {
  /** The caller's parameters of this entry of `tools`, validated. */
  readonly settings: S
  readonly call: Call
  /** Fires when the caller is gone, the answer has failed, or the tool's time is over. */
  readonly signal: AbortSignal
  /** Id of the model's call. */
  readonly callId: string
  /** The conversation up to this call. */
  readonly transcript: readonly InputItem[]
  /** Position of the entry among those of its tool: tells several advisors apart. */
  readonly instance: number
  /** How often this entry has been used in this request, this time included. */
  readonly uses: number
  /** Numbers an entry keeps between its calls of one request. */
  readonly tally: Map<string, number>
  /** Functions of the caller the model does not see yet. */
  readonly deferred: readonly FunctionTool[]
  /**
   * Progress of the output item: an event of the contract, its name without `response.`. Events of a vendor's own item
   * (`web_search_call.searching`) reach only callers who get that item: clients refuse them on any other.
   */
  emit(name: string, fields?: JsonObject): void
  /** Throws GatewayError. Spends from the call's own account; agents among the tools of `request` are left out. */
  ask(request: ModelRequest, options?: AskOptions): Promise<ModelAnswer>
}

/** What is known of a request when its tools are checked, before anything was sent. */
export interface ToolRequest {
  readonly request: ModelRequest
  /** Entries of `tools` of this tool, this one included, in order. */
  readonly siblings: readonly OtherTool[]
  readonly instance: number
}

/**
 * A tool the gateway runs itself: callers name it `gateway:<name>`, models see a function. One file each in tools/.
 * `S`: the caller's `parameters`; `A`: the model's arguments.
 */
export interface ServerTool<S = unknown, A = unknown> {
  readonly name: string
  /** What the model is told. */
  readonly description: string
  /** The model's arguments, validated before anything runs; the model sees them as JSON Schema. */
  readonly parameters: ZodType<A>
  readonly settings: ZodType<S>
  /** Other types callers may use for it, with the type of the item that answers in kind. */
  readonly spellings?: { readonly [type: string]: string }
  /** The settings in a tool of another spelling, whose fields are not under `parameters`. */
  readNative?(tool: OtherTool): unknown
  /** A type the provider itself may serve instead, in the caller's settings; undefined: always ours. */
  hosted?(settings: S): OtherTool | undefined
  /** True when the operator gave it what it needs. Default: always. */
  available?(settings: S): boolean
  /** Milliseconds one execution may take; default 60,000. */
  readonly timeoutMs?: number
  /** An agent calls models: inside the model calls of tools there are no further ones. */
  readonly agent?: boolean
  /** True when the contract has `failed` among the statuses of its item; else a failure is `incomplete`. */
  readonly failable?: boolean
  /** Throws GatewayError `invalid_request` when this request can not have this tool; the message names what to change. */
  check?(settings: S, request: ToolRequest): void
  /** Name and description for the model, where they depend on the settings. */
  present?(settings: S): { readonly name?: string; readonly description?: string }
  /** Fields of the output item while the tool runs; undefined: it has no item until it has ended. Arguments are undefined when they are invalid. */
  begin(args: A | undefined, context: ToolContext<S>): JsonObject | undefined
  /** Throws for failures; the model is told their message when it is a GatewayError. Must obey `context.signal`. */
  execute(args: A, context: ToolContext<S>): Promise<ToolResult>
  /** An item of an earlier answer as the model's call and what it read. Default: built from the item's fields. */
  replay?(item: JsonObject): { readonly arguments: string; readonly output: string } | undefined
}
