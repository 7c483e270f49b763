import type { ZodType } from 'zod'
import type { Call, CallTrace, Handler } from './call.ts'
import type { Endpoint, Modality, Model } from './endpoint.ts'
import type { FinishReason, ModelEvent } from './event.ts'
import type { Cost, PipelineStage } from './generation.ts'
import type { FunctionTool, InputItem, JsonObject, OtherTool, OutputItem, Tool, ToolOutput } from './item.ts'
import type { ModelRequest } from './request.ts'
import type { Usage } from './usage.ts'

/** A page or document that an answer may cite. */
export interface CitableSource {
  readonly url: string
  readonly title: string
  readonly content?: string
}

/** The result of a server tool. Failures that the model can react to are results, too: `error` is set, and `output` tells the model. */
export interface ToolResult {
  /** What the model reads. */
  readonly output: ToolOutput
  /** Fields of the finished output item; they override those of `begin`. */
  readonly item?: JsonObject
  /** `lasting`: the same call fails again, because what it asks for is wrong, does not exist, or cannot be read. */
  readonly error?: { readonly type: string; readonly message: string; readonly lasting?: boolean }
  /** Counters for `usage`, by name (`web_search`: 1). */
  readonly usage?: { readonly [counter: string]: number }
  /** USD that it cost besides its own model calls, such as a search engine's price. */
  readonly cost?: number
  readonly sources?: readonly CitableSource[]
  /** Names of deferred functions that the model may call from now on. */
  readonly reveal?: readonly string[]
  /** The caller must run the call: this item is returned instead of the tool's own, and ends the loop. */
  readonly handBack?: OutputItem
  /**
   * What the tool's own model has done since the call began or was last continued. It ends in calls of the caller's functions: they are returned in the
   * tool's name and end the loop. Once their results are sent, the call is continued with everything so far as `context.resumed`.
   */
  readonly suspended?: readonly InputItem[]
  /** Nothing was run: the call waits for the caller's approval. */
  readonly held?: boolean
}

/** The answer to a model call that a tool made through the gateway's own routing. */
export interface ModelAnswer {
  readonly text: string
  /** The text of a refusal; it is not part of `text`. */
  readonly refusal?: string
  /** Images of the answer as URLs or data URLs. */
  readonly images: readonly string[]
  readonly sources: readonly CitableSource[]
  /** All of it, as a further request continues it. */
  readonly items: readonly InputItem[]
  readonly model: string
  readonly reason: FinishReason
  readonly usage: Usage
  readonly cost: Cost
}

export interface AskOptions {
  /** Called with all events as they arrive. */
  readonly onEvents?: (events: readonly ModelEvent[]) => void
  /** The model has to get all of the request: it is not adapted to its endpoint, which may leave out the middle. Throws if it does not fit. */
  readonly isWhole?: boolean
}

/** What is available to a running tool. */
export interface ToolContext<S = unknown> {
  /** The caller's parameters in this entry of `tools`, validated. */
  readonly settings: S
  readonly call: Call
  /** Fires when the caller disconnects, the answer fails, or the tool's time is over. */
  readonly signal: AbortSignal
  /** Id of the model's call. */
  readonly callId: string
  /** The arguments as the model wrote them, valid or not. */
  readonly rawArguments: string
  /** Id of the caller's approval of exactly this call; undefined: no approval was requested. */
  readonly grant?: string
  /** What was done before the call was suspended, with the results of the caller; undefined: it begins now. */
  readonly resumed?: readonly InputItem[]
  /** The conversation up to this call. */
  readonly transcript: readonly InputItem[]
  /** Position of the entry among the entries of the same tool; distinguishes several advisors. */
  readonly instance: number
  /** How often this entry has been used in this request, including this use. */
  readonly uses: number
  /** Numbers that an entry keeps between its calls in one request. */
  readonly tally: Map<string, number>
  /** Functions of the caller that the model cannot see yet. */
  readonly deferred: readonly FunctionTool[]
  /**
   * Progress of the output item: an event of the contract, named without `response.`. Events of a vendor's own item (`web_search_call.searching`)
   * reach only callers who get that item, because clients refuse them on any other. Events that `begin` reports come directly after the start of the
   * item.
   */
  emit(name: string, fields?: JsonObject): void
  /**
   * Must be awaited before anything is bought at this price, in USD. Throws GatewayError if the caller's remaining money is not enough. Otherwise the
   * amount is reserved until the result reports what was spent.
   */
  afford(usd: number): Promise<void>
  /** Throws GatewayError. Spends from the call's own budget; agents among the tools of `request` are removed. */
  ask(request: ModelRequest, options?: AskOptions): Promise<ModelAnswer>
}

/** What is known of a request when its tools are checked, before anything is sent. */
export interface ToolRequest {
  readonly request: ModelRequest
  /** All entries of `tools` for this tool, including this one, in order. */
  readonly siblings: readonly OtherTool[]
  readonly instance: number
}

/**
 * A tool that the gateway runs itself. Callers name it `gateway:<name>`; models see a function. Each is one file in tools/. `S`: the caller's
 * `parameters`; `A`: the model's arguments.
 */
export interface ServerTool<S = unknown, A = unknown> {
  readonly name: string
  /** The description for the model. */
  readonly description: string
  /** The model's arguments, validated before anything runs. The model sees them as JSON Schema. */
  readonly parameters: ZodType<A>
  /** The schema that the model sees instead, if the arguments are described elsewhere. */
  readonly schema?: JsonObject
  /** Additional names of the tool in conditions of the caller. */
  readonly knownAs?: readonly string[]
  readonly settings: ZodType<S>
  /** Other types that callers may use for it, each with the type of the item in the answer. */
  readonly spellings?: { readonly [type: string]: string }
  /** Other types that callers may use, for a tool that has no output item of its own. */
  readonly aliases?: readonly string[]
  /** The settings of a tool with another spelling, whose fields are not in `parameters`. */
  readNative?(tool: OtherTool): unknown
  /** The tool that a provider may run instead, with the caller's settings and spelling; undefined: the gateway always runs it. */
  hosted?(settings: S, type: string): OtherTool | undefined
  /** True if the operator has configured what it needs. Default: always. */
  available?(settings: S): boolean
  /** Time limit of one execution in milliseconds; default 60,000. */
  readonly timeoutMs?: number
  /** An agent calls models. It is not available in model calls that tools make. */
  readonly agent?: boolean
  /** True if its calls may wait for functions of the caller (`ToolResult.suspended`). Its items must then hold their `call_id`. */
  readonly suspends?: boolean
  /** True if the contract allows the status `failed` for its item; otherwise a failure is `incomplete`. */
  readonly failable?: boolean
  /** True if its item has an `error` field in the contract, which then describes the failure, even of calls that never ran. */
  readonly showsError?: boolean
  /** Throws GatewayError `invalid_request` if this request cannot have this tool; the message says what to change. */
  check?(settings: S, request: ToolRequest): void
  /** Tools in the model calls that it makes, so that tools that cannot run there are refused before anything is sent. */
  nested?(settings: S): readonly Tool[] | undefined
  /** The `instance_name` in the items of this entry, if the tool may have several entries. */
  instanceName?(settings: S, instance: number): string
  /** Name and description for the model, if they depend on the settings. */
  present?(settings: S): { readonly name?: string; readonly description?: string }
  /** Fields of the output item while the tool runs; undefined: there is no item until the end. `args` is undefined if the arguments are invalid. */
  begin(args: A | undefined, context: ToolContext<S>): JsonObject | undefined
  /** Throws on failure; the model sees the message of a GatewayError. Must obey `context.signal`. */
  execute(args: A, context: ToolContext<S>): Promise<ToolResult>
  /** Final fields of the item; they override those of the result. Also called after calls that were refused, timed out or threw. */
  end?(result: ToolResult, context: ToolContext<S>): JsonObject | undefined
  /** Converts an item of an earlier answer to the model's call and the output it read. Default: built from the item's fields. */
  replay?(item: JsonObject): { readonly arguments: string; readonly output: string } | undefined
}

/** One entry of `plugins`, in a request or in the defaults of the configuration. */
export type PluginEntry = { readonly id: string } & JsonObject

/** What a plugin did and used, besides its changes. */
export interface PluginEffects {
  /** For `gateway_metadata.pipeline`; only if something was really changed or refused. A later stage of the same name replaces it. */
  readonly stage?: PipelineStage
  /** USD that it cost besides its own model calls; listed under the plugin's id. */
  readonly cost?: number
  /** Counters for `usage.server_tool_use`, by name. */
  readonly usage?: { readonly [counter: string]: number }
  /** Pages that the answer cites where it links to them. */
  readonly sources?: readonly CitableSource[]
}

/** What is available to a plugin during one call. */
export interface PluginContext<S = unknown> {
  /** The settings of the request merged over the defaults, validated. */
  readonly settings: S
  /** The original call. The argument of each hook is the request as changed by earlier plugins. */
  readonly call: Call
  /** Fires when the caller disconnects or the hook's time is over. */
  readonly signal: AbortSignal
  /** Endpoints of the models that a request names, before any filter. */
  readonly endpointsOf: (request: ModelRequest) => readonly Endpoint[]
  /** The endpoints of a model that remain after a request's provider preferences and requirements. */
  readonly permitted: (request: ModelRequest) => (model: Model) => readonly Endpoint[]
  /**
   * Makes a model call through the gateway's own routing. Throws GatewayError; `timeout` after `withinMs`, for hooks that go on without the answer. Its
   * cost is listed under the plugin's id, whatever the result.
   */
  readonly ask: (request: ModelRequest, options?: AskOptions & { readonly withinMs?: number }) => Promise<ModelAnswer>
  /**
   * Must be awaited before anything is bought at this price, in USD. Throws GatewayError if the caller's remaining money is not enough. Otherwise the
   * amount is reserved until a cost is reported or the hook ends.
   */
  readonly afford: (usd: number) => Promise<void>
  readonly report: (effects: PluginEffects) => void
}

/** The models for a call, in order of preference. */
export interface ModelChoice {
  readonly models: readonly [string, ...string[]]
  readonly strategy: CallTrace['strategy']
  /** The reasons, for `gateway_metadata.params`. */
  readonly reasons?: { readonly [name: string]: unknown }
}

type Awaitable<T> = T | Promise<T>

/**
 * A feature that processes a whole call, once. Callers switch it on by its id in `plugins`, operators by `defaults.plugins`. Each is one file in
 * plugins/. A plugin does only what it declares. Active plugins run in the order of plugins/index.ts.
 */
export interface Plugin<S = unknown> {
  readonly id: string
  /** The schema of its entry, without `id` and `enabled`. */
  readonly settings: ZodType<S>
  /** Suffix of a model name that switches it on. */
  readonly suffix?: 'online'
  /** Whether it runs for a request that does not name it. Called for every call, so it must be cheap. */
  implied?(request: ModelRequest): boolean
  /**
   * Throws GatewayError if these settings can never work; the message says what to change. Called for defaults at startup, and for every call before
   * any plugin runs.
   */
  check?(settings: S): void
  /** Time limit of `choose`, `prepare` and `adapt` each, in milliseconds; default 60,000. */
  readonly timeoutMs?: number
  /** Chooses the models for the call; undefined: those that the call names. Throws GatewayError to refuse the call. */
  choose?(request: ModelRequest, context: PluginContext<S>): Awaitable<ModelChoice | undefined>
  /** Changes the request before planning. Undefined: no change. Throws GatewayError to refuse the call. */
  prepare?(request: ModelRequest, context: PluginContext<S>): Awaitable<ModelRequest | undefined>
  /** `prepare` makes no calls and affects which endpoints can serve, so it also runs for plans that are only explained. */
  readonly preparesAlone?: true
  /** Wraps the whole answer: all turns of the model and its tools. `request` is the request that will be planned. */
  wrap?(next: Handler, request: ModelRequest, context: PluginContext<S>): Handler
  /** True for requests whose answer it changes only if it is not streamed, so that streamed and other answers differ. Default: none. */
  sparesStreams?(request: ModelRequest): boolean
  /** Adapts the request to a single endpoint. */
  readonly adapts?: EndpointAdapter<S>
}

export interface EndpointAdapter<S = unknown> {
  /** Modalities that are converted for endpoints without them; default: none. */
  modalities?(settings: S): readonly Modality[]
  /** Size of the largest window, in tokens, that it shortens prompts for; default: none. */
  shortensUpTo?(settings: S): number
  /** Settings for calls that do not name the plugin. Undefined: it works only for calls that name it. */
  readonly standing?: S
  /**
   * Undefined: no change. `tooLong`: the endpoint refused the prompt as too long. Throws GatewayError; its kind decides whether another endpoint is
   * tried.
   */
  adapt(request: ModelRequest, endpoint: Endpoint, context: PluginContext<S>, tooLong: boolean): Awaitable<ModelRequest | undefined>
}
