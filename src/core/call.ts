import type { Clock } from '../lib/clock.ts'
import type { Catalog, Endpoint, Modality } from './endpoint.ts'
import type { CacheReport, CachePreferences } from './answer-cache.ts'
import type { ApiType, Cost, GenerationStep, PipelineStage } from './generation.ts'
import type { ErrorType, GatewayError } from './error.ts'
import type { ModelEvent } from './event.ts'
import type { InputItem, OutputItem } from './item.ts'
import type { ModelRequest } from './request.ts'
import type { Strategy } from './strategy.ts'
import type { Usage } from './usage.ts'

/** The caller, as the key snapshot has it. */
export interface Owner {
  readonly workspaceId: string
  /** The public identity of the key. */
  readonly keyHash: string
  /** SHA-256 of the secret that the caller sent, hex; absent if it is the same as `keyHash`. */
  readonly secretHash?: string
  readonly keyName: string
  readonly keyLabel: string
  readonly userId?: string
}

/** The result of one upstream attempt. */
export interface AttemptRecord {
  readonly endpoint: Endpoint
  /** HTTP status of the upstream; 0 if nothing was received; 200 for a stream that failed later. */
  status: number
  readonly startedAt: number
  /** Milliseconds from sending to the first content event. */
  firstTokenMs?: number
  durationMs?: number
  /** The part of `durationMs` spent waiting for the caller to accept what had been read. */
  heldMs?: number
  error?: { readonly type: ErrorType; readonly message: string }
  /** The attempt ended because the caller disconnected. */
  abandoned?: true
  upstreamId?: string
  /** What the upstream had counted when its answer broke off or was abandoned. */
  counted?: Usage
  /** How many requests were sent, if it may be several. */
  requests?: number
  credentialId?: string
  isByok?: boolean
  /** USD for what this attempt wrote, if other attempts contributed to the answer, too. Otherwise it is the cost of the answer. */
  costUsd?: number
  /** The multiple of the endpoint's price in the service tier that the answer named, or else was requested: for tokens that nobody counted. Default: 1. */
  tierFactor?: number
  /** Parameters and notes that the encoder dropped. */
  dropped?: readonly string[]
  /** What was sent, as JSON text without media and credentials. Present until the caller that asked for it (`Call.echoes`) has received it. */
  echo?: string
}

/** What the gateway decided and did for one call. Becomes `gateway_metadata`, the generation record and its spans. */
export interface CallTrace {
  strategy: Strategy
  /** Candidate endpoints before filtering. */
  candidates: readonly Endpoint[]
  /** Why each rejected endpoint was rejected, by endpoint id. */
  rejected: ReadonlyMap<string, string>
  /** The request after guardrails changed it; records keep this version. */
  keptRequest?: ModelRequest
  /** Filters that may change the request have still to read it. */
  unread?: boolean
  readonly attempts: AttemptRecord[]
  readonly pipeline: PipelineStage[]
  /** Free-form values for `gateway_metadata.params`: dropped parameters, preferences not applied, session pin. */
  readonly params: { [name: string]: unknown }
  /** The attempt that serves the answer. */
  served?: AttemptRecord
  /** Cost of the whole call; known with the last event. */
  cost?: Cost
  /** Cost of the upstream answer that has just ended, if several endpoints contributed to it. Otherwise it is the cost of `served`. */
  answerCost?: Cost | undefined
  /** The call whose tool makes this model call. Its limits and budgets apply. */
  readonly parent?: CallTrace
  /** USD that tools have cost besides the models they called, including tools of agents. Known before the call ends. */
  toolPrices?: number
  /** Executions of server tools, in the order in which they started. */
  steps?: GenerationStep[]
  /** The recorded usage of an answer that broke off, for callers that saw a part of it. */
  brokenUsage?: Usage
  /** Reasoning in the request that a provider could not read; later turns of the call omit it. */
  unreadable?: ReadonlySet<InputItem>
  /** Endpoints that refused the prompt as too long and get a shorter one from then on. Created with the first entry. */
  tooLong?: Set<string>
  /** Endpoints that cannot enforce the schemas of this call and are not asked to from then on. Created with the first entry. */
  unenforcedSchemas?: Set<string>
  /** Endpoints that do not stream an answer to this call and are asked for complete ones from then on. Created with the first entry. */
  unstreamed?: Set<string>
  /** Parameters of the request that endpoints refused and no longer get. Created with the first entry. */
  refused?: Map<string, Set<string>>
  /** Why the answer could not be delivered to the caller, although its producer went on. */
  undelivered?: GatewayError
  /** The usage of a call with several upstream answers that broke off before the last one. */
  spentUsage?: Usage
  /** The cost of what plugins and tools did for an answer that never began. */
  extrasCost?: Cost
  /** Adds what plugins have bought to adapt a model call of a tool to its cost. Callers' own calls have that added where their plugins run. */
  withBought?: (cost: Cost) => Cost
  /** Whether the answer came from the cache, for callers that use the cache. */
  cached?: CacheReport
  /** Tokens of an answer that was still held back when the caller disconnected: generated, but never delivered. 0 if it had begun without text. */
  undeliveredTokens?: number
  /** Pictures of such an answer. */
  undeliveredPictures?: number
}

/** The memory that an answer occupies. */
export interface AnswerHold {
  /**
   * Reports that this many more characters have arrived. Undefined: reading may go on at once. Otherwise it may go on once the promise resolves.
   * Rejects with GatewayError `provider_overloaded`.
   */
  add(chars: number): Promise<void> | undefined
}

/**
 * One request inside the gateway. Layers read it and write only its `trace`. `signal` fires when the caller disconnects; everything that the call
 * waits for must obey it.
 */
export interface Call {
  /** Generation id, `gen-<unix seconds>-<20 base62>`; also the id of the response. */
  readonly id: string
  readonly owner: Owner
  readonly request: ModelRequest
  /** The model name that the caller used, before aliases, presets and variants; the default if the caller named no model. */
  readonly requestedModel: string
  /** Why an endpoint may not serve this call, as a clause; undefined if it may. Absent: every endpoint may. */
  readonly admits?: (endpoint: Endpoint) => string | undefined
  /** Id of the preset that filled in the request. */
  readonly presetId?: string
  readonly stream: boolean
  /** The caller wants to see what is sent to each upstream. */
  readonly echoes?: true
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly random: () => number
  /** When the request was completely received, in milliseconds since the epoch. */
  readonly receivedAt: number
  readonly sessionId?: string
  readonly requestId?: string
  readonly origin: CallOrigin
  /** What happens to a stream that breaks after its first content; undefined: the configured behaviour. */
  readonly streamFailure?: StreamFailure
  /** How the caller wants to use the answer cache; absent: not at all, and the answer is not kept. */
  readonly cache?: CachePreferences
  /** Id of the endpoint that served the previous step. It is planned first, so that a call with several upstream answers stays at one endpoint. */
  readonly preferredEndpoint?: string
  /** The models when a call with several upstream answers began, for steps that those of now no longer serve. */
  readonly catalogAtStart?: Catalog
  /** How much of an item the caller sees while it is written. Absent: each of its events. */
  readonly visibilityOf?: (item: OutputItem) => Visibility
  /** How the request is adapted to endpoints that cannot take it unchanged; undefined: as for every call. */
  readonly adaptation?: Adaptation
  /** Set if the gateway itself chose the models of the request. */
  readonly strategy?: CallTrace['strategy']
  readonly trace: CallTrace
  /** Absent: the memory for the answer is not limited. */
  readonly hold?: AnswerHold
  /** The items of the answer so far; set by the front door that assembles them. */
  output: () => readonly OutputItem[]
}

/**
 * `written`: the caller sees an item while it is written. `whole`: nothing before its end. `hidden`: nothing of it, or only with something else, as the
 * sources that are listed at the end of an answer.
 */
export type Visibility = 'written' | 'whole' | 'hidden'

/**
 * `fail`: the failure is reported in-band. `continue`: the next endpoint continues where the answer broke off. `buffer`: the answer is held back
 * until it is complete, so that another endpoint can still give all of it.
 */
export const STREAM_FAILURES = ['fail', 'continue', 'buffer'] as const
export type StreamFailure = (typeof STREAM_FAILURES)[number]

/**
 * How a request can be adapted to a single endpoint. The planner relies on it if a model has no endpoint that takes the request unchanged; `adapt` is
 * then called before the attempt.
 */
export interface Adaptation {
  /** Modalities that are converted for endpoints without them. */
  readonly modalities: readonly Modality[]
  /** Prompts are shortened to fit windows of up to this many tokens; 0: never. */
  readonly shortensUpTo: number
  /** The request for this endpoint. `tooLong`: the endpoint refused the previous one as too long. Throws GatewayError. */
  adapt(call: Call, request: ModelRequest, endpoint: Endpoint, tooLong: boolean): Promise<ModelRequest>
}

export interface CallOrigin {
  readonly apiType: ApiType
  readonly userAgent?: string
  readonly referer?: string
  readonly title?: string
}

/** One array per upstream read, so that the async overhead is paid per read, not per token. Failures are thrown as GatewayError. */
export type Handler = (call: Call) => AsyncIterable<readonly ModelEvent[]>
export type Layer = (next: Handler) => Handler
