import type { ZodType } from 'zod'
import type { Modality, Parameter } from './capability.ts'
import type { GatewayError } from './error.ts'
import type { ModelEvent } from './event.ts'
import type { InputFile, OtherTool, Tool } from './item.ts'
import type { ModelRequest } from './request.ts'
import type { EndpointTier } from './service-tier.ts'
import type { Usage } from './usage.ts'

/** What an encoder must know of the endpoint it writes for. Built per attempt: limits and parameters differ between endpoints. */
export interface Target<Options = unknown> {
  readonly provider: string
  readonly providerName: string
  readonly upstreamModel: string
  readonly options: Options
  readonly supports: ReadonlySet<Parameter>
  readonly contextLength: number
  readonly maxOutputTokens?: number
  /** The service tier the endpoint stands for and is priced by: the one to ask the upstream for. Absent: the one the caller asks for. */
  readonly tier?: EndpointTier
  /** Whose encrypted reasoning this endpoint can read (core/reasoning-envelope.ts). */
  readonly scope: string
  /** Whether the upstream is asked to stream. JSON calls are streamed upstream too where the dialect can, and aggregated. */
  readonly stream: boolean
  /** Media the dialect asked for by `mediaUrls`, fetched through the safe egress, by URL. */
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
  /** What the caller asked for and this endpoint does not get: parameter names and short notes, for the metadata. */
  readonly dropped: readonly string[]
}

/**
 * A pure state machine from upstream frames to model events: no timers, no fetch, no public ids.
 * A method that finds an upstream error or garbage beyond repair throws a GatewayError; a frame gives either events or an error.
 */
export interface Decoder {
  /** One frame: the `data` of an SSE event and its name, or the payload of an AWS frame and its event type. */
  push(data: string, event: string | undefined, out: ModelEvent[]): void
  /** A complete JSON body (a JSON answer, or an upstream that ignored `stream`). */
  body(text: string, out: ModelEvent[]): void
  /** The upstream closed. Emits what is open and `response-end`, or throws `provider_unavailable` when the answer is truncated. */
  end(out: ModelEvent[]): void
  /** True once the answer is complete: nothing after it matters and the connection may be released. */
  readonly finished: boolean
  /** True once the model has stopped and only trailing facts (usage, an end mark) may follow: a silent upstream is then ended soon. */
  readonly settled?: boolean
  /**
   * Beside `settled`: false while the format alone does not prove that no text is under way, as before the counts of a chat stream. A connection
   * that breaks then broke the answer. Default: `settled` is proof.
   */
  readonly entire?: boolean
  /** What the upstream has counted so far: all that is known if an answer breaks off or is left before its end. */
  readonly counted?: Usage | undefined
}

/** How much an upstream takes in one request for embeddings. */
export interface BatchLimits {
  readonly inputs: number
  /** Of all inputs together. Absent: as many as they have. */
  readonly tokens?: number | undefined
}

/** One upstream wire format. Vendors' differences are declared options, never names. */
export interface Dialect<Options = unknown> {
  readonly name: string
  readonly framing: 'sse' | 'aws-event-stream'
  /** What it answers with. Default: text, and what else models say. */
  readonly answers?: 'embeddings'
  /** The dialect in which servers of this one make embeddings. Default: they make none. */
  readonly embeddings?: string
  /** Declared quirks with their defaults; unknown keys are errors. */
  readonly options: ZodType<Options>
  /** Headers in which callers of this format name features that are not part of it yet; they reach the encoder as `vendor_betas`. Default: none. */
  readonly betaHeaders?: readonly string[]
  /** Where servers of this format list their models, below the base URL: asked whether address and credentials are right. Default: nowhere. */
  readonly modelList?: { readonly path: string; readonly headers?: { readonly [name: string]: string } }
  /** What endpoints of this dialect support when the catalog does not say. */
  readonly supports: readonly Parameter[]
  /** Options of endpoints whose operator lists a kind of input that not all servers take; options that are set count more. */
  readonly listed?: { readonly [kind in Modality]?: { readonly [option: string]: unknown } }
  /** Names what was dropped or changed in `dropped`. Throws GatewayError `invalid_prompt` for input this endpoint can never take. */
  encodeRequest(request: ModelRequest, target: Target<Options>): EncodedRequest
  decoder(request: ModelRequest, target: Target<Options>): Decoder
  /** An HTTP answer with a status of 400 or more. Never throws; tolerant of any body. */
  decodeError(
    status: number,
    headers: { readonly [name: string]: string | string[] | undefined },
    body: string,
    target: Target<Options>,
  ): GatewayError
  /** Remote URLs whose bytes this dialect must inline; fetched before `encodeRequest`. Default: none. */
  mediaUrls?(request: ModelRequest, target: Target<Options>): readonly string[]
  /**
   * Whether the upstream goes on with an answer begun when it is the last assistant message. False: it refuses, or begins anew.
   * Default: unknown, which is tried.
   */
  prefills?(request: ModelRequest, target: Pick<Target<Options>, 'options' | 'upstreamModel'>): boolean | undefined
  /** Whether the upstream is asked for this answer in one piece: its first content is then its last. Default: it streams. */
  asksWhole?(request: ModelRequest, target: Pick<Target<Options>, 'options' | 'upstreamModel' | 'supports'>): boolean
  /** Whether the upstream runs this tool (`web_search`) itself, with the caller's settings and beside the other tools of the request. Default: it runs none. */
  hosts?(tool: OtherTool, others: readonly Tool[], target: Pick<Target<Options>, 'options' | 'upstreamModel'>): boolean
  /** Whether the upstream charges apart for what this tool of its own does, at a price nobody here knows. Default: it does not. */
  buys?(tool: Tool, target: Pick<Target<Options>, 'options' | 'upstreamModel'>): boolean
  /**
   * Whether this model can be asked to reason, in formats that leave this to options; an endpoint then supports all parameters of reasoning, or none.
   * Default: as `supports` says.
   */
  reasons?(target: Pick<Target<Options>, 'options' | 'upstreamModel'>): boolean
  /** Most output tokens to ask the upstream for, if reasoning comes on top of the answer that the caller bounded. Default: what the request says. */
  mostOutput?(request: ModelRequest, target: Pick<Target<Options>, 'options' | 'upstreamModel' | 'maxOutputTokens'>): number | undefined
  /** The factor on the list price for this request (a faster speed, a certain place). Default: 1. */
  priceFactor?(request: ModelRequest, target: Pick<Target<Options>, 'options' | 'upstreamModel'>): number
  /**
   * Whether the upstream reads tools and messages between agents that stand in the input (`additional_tools`, `agent_message`). Default: it
   * does not, and the request comes with the tools among the others and with the messages as the user's.
   */
  readsInputTools?(target: Pick<Target<Options>, 'options' | 'upstreamModel'>): boolean
  /**
   * Whether the upstream knows a search of tools that the caller runs (`tool_search` with `execution: 'client'`) and the tools it found. Default:
   * it does not, and the request comes with a function in its place.
   */
  knowsClientSearch?(target: Pick<Target<Options>, 'options' | 'upstreamModel'>): boolean
  /** Whether the upstream keeps prompts that a request may name (`prompt`) instead of words of its own. Default: it keeps none. */
  storedPrompts?(target: Pick<Target<Options>, 'options' | 'upstreamModel'>): boolean
  /** How much the upstream takes of a request for embeddings at a time: it is asked several times for the rest. Default: all of it. */
  batch?(target: Pick<Target<Options>, 'options' | 'upstreamModel'>): BatchLimits
  /** Whether the upstream reads this file, if it reads files at all. Default: it does. Other files may be sent as text. */
  takesFile?(file: InputFile, target: Pick<Target<Options>, 'options' | 'upstreamModel'>): boolean
}
