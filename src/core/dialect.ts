import type { ZodType } from 'zod'
import type { Modality, Parameter } from './capability.ts'
import type { GatewayError } from './error.ts'
import type { ModelEvent } from './event.ts'
import type { InputFile, OtherTool, Tool } from './item.ts'
import type { ModelRequest } from './request.ts'
import type { EndpointTier } from './service-tier.ts'
import type { SettingsUpdate } from './settings-update.ts'
import type { Usage } from './usage.ts'

/** What an encoder must know of its endpoint. Built per attempt, because limits and parameters differ between endpoints. */
export interface Target<Options = unknown> {
  readonly provider: string
  readonly providerName: string
  readonly upstreamModel: string
  readonly options: Options
  readonly supports: ReadonlySet<Parameter>
  /** Whether the model takes pictures or draws them. Absent: no. */
  readonly pictures?: boolean
  readonly contextLength: number
  readonly maxOutputTokens?: number
  /** The service tier that the endpoint stands for and is priced by. It is requested from the upstream. Absent: the caller's tier is requested. */
  readonly tier?: EndpointTier
  /** Identifies whose encrypted reasoning this endpoint can read (core/reasoning-envelope.ts). */
  readonly scope: string
  /** Whether the upstream is asked to stream. Calls that the caller does not stream are streamed upstream, too, if the dialect can, and aggregated. */
  readonly stream: boolean
  /** Media that the dialect requested with `mediaUrls`, by URL; fetched through the safe egress. */
  readonly media?: ReadonlyMap<string, FetchedMedia>
}

export interface FetchedMedia {
  readonly mimeType: string
  /** Base64. */
  readonly data: string
}

export interface UpstreamRequest {
  readonly method: 'POST'
  /** Appended to the connection's base URL. */
  readonly path: string
  readonly headers: { readonly [name: string]: string }
  readonly body: string
}

export interface EncodedRequest extends UpstreamRequest {
  /** What the caller asked for but this endpoint does not get: parameter names and short notes, for the metadata. */
  readonly dropped: readonly string[]
}

/**
 * A pure state machine from upstream frames to model events: no timers, no fetch, no public ids. A method that finds an upstream error or
 * unrecoverable garbage throws a GatewayError. A frame gives either events or an error.
 */
export interface Decoder {
  /** The headers of the answer, with names in lower case, before its first frame. Absent: they say nothing. */
  head?(headers: { readonly [name: string]: string | string[] | undefined }): void
  /** One frame: the `data` of an SSE event and its name, or the payload of an AWS frame and its event type. */
  push(data: string, event: string | undefined, out: ModelEvent[]): void
  /** A complete JSON body: a JSON answer, or an answer of an upstream that ignored `stream`. */
  body(text: string, out: ModelEvent[]): void
  /** The upstream closed the connection. Emits what is still open and `response-end`, or throws `provider_unavailable` if the answer is truncated. */
  end(out: ModelEvent[]): void
  /** True once the answer is complete. Nothing after it matters, and the connection may be released. */
  readonly finished: boolean
  /** True once the model has stopped and only trailing data (usage, an end mark) may follow. A silent upstream is then soon disconnected. */
  readonly settled?: boolean
  /**
   * Refines `settled`: false while the format does not prove that all text has arrived, for example before the counts of a chat stream. If the
   * connection breaks at that point, the answer is broken. Default: `settled` is sufficient proof.
   */
  readonly entire?: boolean
  /** What the upstream has counted so far. It is the only known usage if an answer breaks off or is abandoned. */
  readonly counted?: Usage | undefined
}

/** How much an upstream accepts in one embeddings request. */
export interface BatchLimits {
  readonly inputs: number
  /** Of all inputs together. Absent: no limit. */
  readonly tokens?: number | undefined
}

/** One upstream wire format. Differences between vendors are declared options; vendor names never appear. */
export interface Dialect<Options = unknown> {
  readonly name: string
  readonly framing: 'sse' | 'aws-event-stream'
  /** What it answers with. Default: text and other model output. */
  readonly answers?: 'embeddings'
  /** The dialect in which servers of this one create embeddings. Default: they create none. */
  readonly embeddings?: string
  /** Declared quirks with their defaults; unknown keys are errors. */
  readonly options: ZodType<Options>
  /** Headers in which callers of this format name features that are not part of it yet. They reach the encoder as `vendor_betas`. Default: none. */
  readonly betaHeaders?: readonly string[]
  /** Where servers of this format list their models, relative to the base URL. Requested to test address and credentials. Default: nowhere. */
  readonly modelList?: { readonly path: string; readonly headers?: { readonly [name: string]: string } }
  /** What endpoints of this dialect support if the catalog does not say. */
  readonly supports: readonly Parameter[]
  /** Options that are implied if the operator lists an input modality that not all servers take. Explicit options take precedence. */
  readonly listed?: { readonly [kind in Modality]?: { readonly [option: string]: unknown } }
  /** Lists what was omitted or changed in `dropped`. Throws GatewayError `invalid_prompt` for input that this endpoint can never take. */
  encodeRequest(request: ModelRequest, target: Target<Options>): EncodedRequest
  decoder(request: ModelRequest, target: Target<Options>): Decoder
  /** Converts an HTTP response with a status of 400 or more. Never throws; accepts any body. */
  decodeError(
    status: number,
    headers: { readonly [name: string]: string | string[] | undefined },
    body: string,
    target: Target<Options>,
  ): GatewayError
  /** Remote URLs whose bytes this dialect must inline. They are fetched before `encodeRequest`. Default: none. */
  mediaUrls?(request: ModelRequest, target: Target<Options>): readonly string[]
  /**
   * Whether the upstream continues an answer whose beginning is the last assistant message. False: it refuses, or starts a new answer. Default:
   * unknown; continuing is then tried.
   */
  prefills?(request: ModelRequest, target: Pick<Target<Options>, 'options' | 'upstreamModel'>): boolean | undefined
  /** Whether this answer is requested as a whole, so that its first content is also its last. Default: it is streamed. */
  asksWhole?(request: ModelRequest, target: Pick<Target<Options>, 'options' | 'upstreamModel' | 'supports'>): boolean
  /**
   * Whether the upstream runs this tool (`web_search`) itself, with the caller's settings and together with the other tools of the request. Default:
   * it runs none.
   */
  hosts?(tool: OtherTool, others: readonly Tool[], target: Pick<Target<Options>, 'options' | 'upstreamModel'>): boolean
  /** Whether the upstream charges extra for the use of this tool of its own, at a price that is unknown here. Default: it does not. */
  buys?(tool: Tool, target: Pick<Target<Options>, 'options' | 'upstreamModel'>): boolean
  /**
   * Whether this model can be asked to reason, for formats in which options decide that. An endpoint then supports all reasoning parameters, or none.
   * Default: as `supports` says.
   */
  reasons?(target: Pick<Target<Options>, 'options' | 'upstreamModel'>): boolean
  /**
   * The most output tokens to request from the upstream, if reasoning adds to the answer length that the caller limited. Default: the limit in the
   * request.
   */
  mostOutput?(request: ModelRequest, target: Pick<Target<Options>, 'options' | 'upstreamModel' | 'maxOutputTokens'>): number | undefined
  /** The factor on the list price for this request (for a faster speed or a certain region). Default: 1. */
  priceFactor?(request: ModelRequest, target: Pick<Target<Options>, 'options' | 'upstreamModel'>): number
  /** The factor on the list price in this service tier (`flex`, `priority`, ...), in the contract's words. Default: 1. */
  tierFactor?(tier: string, target: Pick<Target<Options>, 'options' | 'upstreamModel'>): number
  /**
   * Whether the upstream reads tools and messages between agents in the input (`additional_tools`, `agent_message`). Default: it does not; the
   * encoder then gets these tools among the others and these messages as user messages.
   */
  readsInputTools?(target: Pick<Target<Options>, 'options' | 'upstreamModel'>): boolean
  /** Whether the upstream can read a prompt into its cache without answering it. Default: it cannot, and is asked for the shortest answer. */
  prewarms?(target: Pick<Target<Options>, 'options' | 'upstreamModel'>): boolean
  /** Whether the upstream reads these changes of settings in the input as they are. Default: it does not, and gets the settings in force. */
  readsSettings?(updates: readonly SettingsUpdate[], target: Pick<Target<Options>, 'options' | 'upstreamModel' | 'supports'>): boolean
  /**
   * Whether the upstream knows a tool search that the caller runs (`tool_search` with `execution: 'client'`) and the tools it found. Default: it does
   * not; the encoder then gets a function instead.
   */
  knowsClientSearch?(target: Pick<Target<Options>, 'options' | 'upstreamModel'>): boolean
  /** Whether the upstream stores prompts that a request may reference (`prompt`) instead of containing its own text. Default: it does not. */
  storedPrompts?(target: Pick<Target<Options>, 'options' | 'upstreamModel'>): boolean
  /** Whether the upstream compacts the conversation if the input ends by asking for it (`compaction_trigger`). Default: it does not. */
  compacts?(target: Pick<Target<Options>, 'options' | 'upstreamModel'>): boolean
  /** How much of an embeddings request the upstream takes at a time. The rest follows in further requests. Default: all of it. */
  batch?(target: Pick<Target<Options>, 'options' | 'upstreamModel'>): BatchLimits
  /** Whether the upstream reads this file, if it reads files at all. Default: it does. Other files may be sent as text. */
  takesFile?(file: InputFile, target: Pick<Target<Options>, 'options' | 'upstreamModel'>): boolean
}
