import type { ZodType } from 'zod'
import type { Call, CallTrace, Handler } from './call.ts'
import type { Endpoint, Modality, Model } from './endpoint.ts'
import type { FinishReason, ModelEvent } from './event.ts'
import type { Cost, PipelineStage } from './generation.ts'
import type { FunctionTool, InputItem, JsonObject, OtherTool, OutputItem, Tool, ToolOutput } from './item.ts'
import type { ModelRequest } from './request.ts'
import type { Usage } from './usage.ts'

/** A request's wishes about a page or document that an answer may cite. */
export interface CitableSource {
  readonly url: string
  readonly title: string
  readonly content?: string
}

/** The result of a server tool. Failures that the model can react to are results, too: `error` is set and `output` tells the model. */
export interface ToolResult {
  /** What the model reads. */
  readonly output: ToolOutput
  /** Fields of the finished output item, over those of `begin`. */
  readonly item?: JsonObject
  readonly error?: { readonly type: string; readonly message: string }
  /** Counters for `usage`, by name (`web_search`: 1). */
  readonly usage?: { readonly [counter: string]: number }
  /** What it cost besides the model calls it made, USD: a search engine's price. */
  readonly cost?: number
  readonly sources?: readonly CitableSource[]
  /** Names of deferred functions the model may call from now on. */
  readonly reveal?: readonly string[]
  /** The caller carries the call out: this item goes back instead of the tool's own and ends the loop. */
  readonly handBack?: OutputItem
  /** Nothing was carried out: the call waits for the caller's word. */
  readonly held?: boolean
}

/** A model call made by a tool, through the gateway's own routing. */
export interface ModelAnswer {
  readonly text: string
  /** Its words where it refused; they are no part of `text`. */
  readonly refusal?: string
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
  /** The arguments as the model wrote them, valid or not. */
  readonly rawArguments: string
  /** Id by which the caller has agreed to this very call; undefined: nobody was asked. */
  readonly grant?: string
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
   * Progress of the output item: an event of the contract, named without `response.`. Events of a vendor's own item (`web_search_call.searching`)
   * reach only callers who get that item, because clients refuse them on any other. Events that `begin` reports come directly after the start of the
   * item.
   */
  emit(name: string, fields?: JsonObject): void
  /**
   * To be awaited before anything is bought for this price, USD: throws GatewayError when less is left of the caller's money, else holds it
   * until the result says what was spent.
   */
  afford(usd: number): Promise<void>
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
  /** The schema the model sees instead, if somebody else describes the arguments. */
  readonly schema?: JsonObject
  /** Further names by which conditions of the caller know it. */
  readonly knownAs?: readonly string[]
  readonly settings: ZodType<S>
  /** Other types callers may use for it, with the type of the item that answers in kind. */
  readonly spellings?: { readonly [type: string]: string }
  /** Other types callers may use for one that leaves no item of its own. */
  readonly aliases?: readonly string[]
  /** The settings in a tool of another spelling, whose fields are not under `parameters`. */
  readNative?(tool: OtherTool): unknown
  /** A type the provider itself may serve instead, in the caller's settings and spelling; undefined: always ours. */
  hosted?(settings: S, type: string): OtherTool | undefined
  /** True when the operator gave it what it needs. Default: always. */
  available?(settings: S): boolean
  /** Milliseconds one execution may take; default 60,000. */
  readonly timeoutMs?: number
  /** An agent calls models: inside the model calls of tools there are no further ones. */
  readonly agent?: boolean
  /** True when the contract has `failed` among the statuses of its item; else a failure is `incomplete`. */
  readonly failable?: boolean
  /** True when the contract has `error` among the fields of its item: what went wrong stands there, also of calls that never ran. */
  readonly showsError?: boolean
  /** Throws GatewayError `invalid_request` when this request can not have this tool; the message names what to change. */
  check?(settings: S, request: ToolRequest): void
  /** Tools it gives to the model calls it makes: what cannot run there is refused before anything is sent. */
  nested?(settings: S): readonly Tool[] | undefined
  /** The `instance_name` in the items of this entry, if several entries of the tool may exist. */
  instanceName?(settings: S, instance: number): string
  /** Name and description for the model, where they depend on the settings. */
  present?(settings: S): { readonly name?: string; readonly description?: string }
  /** Fields of the output item while the tool runs; undefined: it has no item until it has ended. Arguments are undefined when they are invalid. */
  begin(args: A | undefined, context: ToolContext<S>): JsonObject | undefined
  /** Throws for failures; the model is told their message when it is a GatewayError. Must obey `context.signal`. */
  execute(args: A, context: ToolContext<S>): Promise<ToolResult>
  /** Fields of the item when all is over, over those of the result: also after calls that were refused, timed out or threw. */
  end?(result: ToolResult, context: ToolContext<S>): JsonObject | undefined
  /** An item of an earlier answer as the model's call and what it read. Default: built from the item's fields. */
  replay?(item: JsonObject): { readonly arguments: string; readonly output: string } | undefined
}

/** One entry of `plugins`, of a request or of the configuration's defaults. */
export type PluginEntry = { readonly id: string } & JsonObject

/** What a plugin did and used, beside what it changed. */
export interface PluginEffects {
  /** For `gateway_metadata.pipeline`: only of what was really changed or refused. A later stage of the same name replaces it. */
  readonly stage?: PipelineStage
  /** What it cost besides the model calls it made, USD, listed under the plugin's id. */
  readonly cost?: number
  /** Counters for `usage.server_tool_use`, by name. */
  readonly usage?: { readonly [counter: string]: number }
  /** Pages the answer cites where it links them. */
  readonly sources?: readonly CitableSource[]
}

/** What a plugin may use while it works on one call. */
export interface PluginContext<S = unknown> {
  /** Of the request over the defaults, validated. */
  readonly settings: S
  /** As it came in: what plugins before this one made of its request is the argument of each hook. */
  readonly call: Call
  /** Fires when the caller is gone or the hook's time is over. */
  readonly signal: AbortSignal
  /** Endpoints of the models a request names, before anything is filtered. */
  readonly endpointsOf: (request: ModelRequest) => readonly Endpoint[]
  /** Those of a model that a request could be planned with: its provider preferences, and what it needs, leave them. */
  readonly permitted: (request: ModelRequest) => (model: Model) => readonly Endpoint[]
  /** A model call through the gateway's own routing. Throws GatewayError. It is paid for under the plugin's id, whatever becomes of it. */
  readonly ask: (request: ModelRequest, options?: AskOptions) => Promise<ModelAnswer>
  /**
   * To be awaited before anything is bought for this price, USD: throws GatewayError when less is left of the caller's money, else holds it
   * until a cost is reported or the hook is over.
   */
  readonly afford: (usd: number) => Promise<void>
  readonly report: (effects: PluginEffects) => void
}

/** Which models are to serve a call, in order of preference. */
export interface ModelChoice {
  readonly models: readonly [string, ...string[]]
  readonly strategy: CallTrace['strategy']
  /** Why, for `gateway_metadata.params`. */
  readonly reasons?: { readonly [name: string]: unknown }
}

type Awaitable<T> = T | Promise<T>

/**
 * Something the gateway does to a whole call, once: callers switch it on by its id in `plugins`, operators by `defaults.plugins`. One file
 * each in plugins/. What a plugin does not declare it does not do; those that apply run in the order in which plugins/index.ts lists them.
 */
export interface Plugin<S = unknown> {
  readonly id: string
  /** Of its entry, without `id` and `enabled`. */
  readonly settings: ZodType<S>
  /** Suffix of a model's name that switches it on. */
  readonly suffix?: 'online'
  /** True of requests for which it runs though they do not name it. Asked of every call: hardly any work. */
  implied?(request: ModelRequest): boolean
  /**
   * Throws GatewayError when no call can have this plugin with these settings; the message names what to change. Asked of defaults at the
   * start, and of every call before any plugin runs.
   */
  check?(settings: S): void
  /** Milliseconds that `choose`, `prepare` and `adapt` may take each; default 60,000. */
  readonly timeoutMs?: number
  /** Which models serve the call; undefined: those it names. Throws GatewayError to refuse the call. */
  choose?(request: ModelRequest, context: PluginContext<S>): Awaitable<ModelChoice | undefined>
  /** Changes the request before anything is planned. Undefined: nothing to change. Throws GatewayError to refuse the call. */
  prepare?(request: ModelRequest, context: PluginContext<S>): Awaitable<ModelRequest | undefined>
  /** `prepare` calls nobody and affects who can serve, so plans that are only explained run it, too. */
  readonly preparesAlone?: true
  /** Stands around the answer: all turns of the model and its tools. Asked with the request as it will be planned. */
  wrap?(next: Handler, request: ModelRequest, context: PluginContext<S>): Handler
  /** True for requests whose answer it changes only if it is not streamed, so that a streamed one is another answer. Default: none. */
  sparesStreams?(request: ModelRequest): boolean
  /** Makes the request suit one endpoint. */
  readonly adapts?: EndpointAdapter<S>
}

export interface EndpointAdapter<S = unknown> {
  /** Modalities that endpoints without them get in another form; default: none. */
  modalities?(settings: S): readonly Modality[]
  /** Windows it can shorten prompts to, in tokens; default: none. */
  shortensUpTo?(settings: S): number
  /** Settings with which it works for calls that do not name the plugin. Undefined: only for those that do. */
  readonly standing?: S
  /** Undefined: as it is. `tooLong`: the endpoint has refused the prompt so. Throws GatewayError; another endpoint may then be tried, as its kind says. */
  adapt(request: ModelRequest, endpoint: Endpoint, context: PluginContext<S>, tooLong: boolean): Awaitable<ModelRequest | undefined>
}
