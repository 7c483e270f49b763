import type { Clock } from '../lib/clock.ts'
import type { Endpoint, Modality } from './endpoint.ts'
import type { CacheReport, CacheWish } from './answer-cache.ts'
import type { ApiType, Cost, GenerationStep, PipelineStage } from './generation.ts'
import type { ErrorType, GatewayError } from './error.ts'
import type { ModelEvent } from './event.ts'
import type { InputItem, OutputItem } from './item.ts'
import type { ModelRequest } from './request.ts'
import type { Strategy } from './strategy.ts'
import type { Usage } from './usage.ts'

/** Who calls: taken from the key snapshot. */
export interface Owner {
  readonly workspaceId: string
  /** SHA-256 of the key, hex: the public identity of a key. */
  readonly keyHash: string
  readonly keyName: string
  readonly keyLabel: string
  readonly userId?: string
}

/** What one upstream attempt came to. */
export interface AttemptRecord {
  readonly endpoint: Endpoint
  /** HTTP status of the upstream; 0 when nothing was received; 200 for a stream that failed later. */
  status: number
  readonly startedAt: number
  /** Milliseconds from sending to the first content event. */
  firstTokenMs?: number
  durationMs?: number
  /** How much of that the caller took to accept what was read. */
  heldMs?: number
  error?: { readonly type: ErrorType; readonly message: string }
  /** It ended because the caller left. */
  abandoned?: true
  upstreamId?: string
  /** What the upstream had counted when its answer broke off or was left. */
  counted?: Usage
  /** How many requests were sent, where it may be several. */
  requests?: number
  credentialId?: string
  isByok?: boolean
  /** USD of what it wrote, where others had a part in the answer, too; else it is what the answer cost. */
  costUsd?: number
  /** Parameters and notes the encoder dropped. */
  dropped?: readonly string[]
  /** What was sent, as JSON text without media and credentials; present until the caller who asked for it (`Call.echoes`) has been told. */
  echo?: string
}

/** What the gateway decided and did for one call; becomes `gateway_metadata`, the generation record and its spans. */
export interface CallTrace {
  strategy: Strategy
  /** Candidate endpoints before filtering. */
  candidates: readonly Endpoint[]
  /** Why each rejected endpoint was rejected, by endpoint id. */
  rejected: ReadonlyMap<string, string>
  /** What guardrails left of the request, when they changed it: records keep this one. */
  keptRequest?: ModelRequest
  readonly attempts: AttemptRecord[]
  readonly pipeline: PipelineStage[]
  /** Free values for `gateway_metadata.params`: dropped parameters, preferences not applied, session pin. */
  readonly params: { [name: string]: unknown }
  /** The attempt that serves the answer. */
  served?: AttemptRecord
  /** Money of the whole call; known with the last event. */
  cost?: Cost
  /** Money of the upstream answer that has just ended, when several endpoints had a part in it; else it is that of `served`. */
  answerCost?: Cost | undefined
  /** The call that a tool makes this model call for: limits and budgets are that one's. */
  readonly parent?: CallTrace
  /** USD that tools have cost besides the models they asked, those of agents included: known before the call has ended. */
  toolPrices?: number
  /** Executions of server tools, in the order they started. */
  steps?: GenerationStep[]
  /** The usage of an answer that broke, as recorded, for callers who saw a part of it. */
  broken?: Usage
  /** Reasoning of the request that a provider could not read: later turns of the call go without it. */
  unreadable?: ReadonlySet<InputItem>
  /** Endpoints that found the prompt too long and get a shorter one from then on; made with the first. */
  tooLong?: Set<string>
  /** Endpoints that can hold no answer to the schemas of this call, and are not asked to from then on; made with the first. */
  unheld?: Set<string>
  /** Endpoints that stream no answer to this call, and are asked for whole ones from then on; made with the first. */
  whole?: Set<string>
  /** Parameters of the request that endpoints refused, and go without from then on; made with the first. */
  refused?: Map<string, Set<string>>
  /** Why the answer could not be told to the caller, although its producer went on. */
  untold?: GatewayError
  /** What a call of several upstream answers used when it broke before its last one. */
  spent?: Usage
  /** What plugins have bought for an answer that never began. */
  bought?: Cost
  /** Whether the answer is one that was kept, for callers who asked. */
  cached?: CacheReport
  /** Tokens of the answer that was held back when the caller left: written, and read by nobody. */
  unread?: number
}

/** The memory an answer takes. */
export interface AnswerHold {
  /** So many more characters of it are here. Undefined: it may be read on; else resolves when it may. Rejects with GatewayError `provider_overloaded`. */
  add(chars: number): Promise<void> | undefined
}

/**
 * One request inside the gateway. Layers read it, and write only its `trace`.
 * `signal` fires when the caller is gone: everything the call waits for must obey it.
 */
export interface Call {
  /** Generation id, `gen-<unix seconds>-<20 base62>`; also the id of the response. */
  readonly id: string
  readonly owner: Owner
  readonly request: ModelRequest
  /** The name the caller used, before aliases, presets and variants; the default if it named no model. */
  readonly requestedModel: string
  /** Why an endpoint may not serve this call, as a clause; undefined: it may. Absent: any may. */
  readonly admits?: (endpoint: Endpoint) => string | undefined
  /** Id of the preset that filled in the request. */
  readonly presetId?: string
  readonly stream: boolean
  /** The caller wants to be told what each upstream is sent. */
  readonly echoes?: true
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly random: () => number
  /** When all of the request was there, in milliseconds since the epoch. */
  readonly receivedAt: number
  readonly sessionId?: string
  readonly requestId?: string
  readonly origin: CallOrigin
  /** What happens to a stream that breaks after its first content; undefined: as configured. */
  readonly streamFailure?: StreamFailure
  /** How the caller wants to use the answer cache; absent: not at all, and its answer is not kept. */
  readonly cache?: CacheWish
  /** Id of the endpoint that served the step before: planned first, so that a call of several upstream answers stays where it began. */
  readonly preferredEndpoint?: string
  /** How its request is made to suit endpoints that cannot take it as it is; undefined: as for every call. */
  readonly adaptation?: Adaptation
  /** Set when the gateway itself chose the models of the request. */
  readonly strategy?: CallTrace['strategy']
  readonly trace: CallTrace
  /** Absent: there is as much memory for its answer as it takes. */
  readonly hold?: AnswerHold
  /** The items of the answer so far; set by the front door that assembles them. */
  output: () => readonly OutputItem[]
}

/**
 * `fail`: the failure is told in-band. `continue`: the next endpoint continues where the answer broke. `buffer`: the answer is held back until it is
 * complete, so that another endpoint can still give all of it.
 */
export const STREAM_FAILURES = ['fail', 'continue', 'buffer'] as const
export type StreamFailure = (typeof STREAM_FAILURES)[number]

/**
 * How a request can be adapted to a single endpoint. The planner counts on it for models without an endpoint that takes the request as it is; `adapt`
 * is then called before the attempt.
 */
export interface Adaptation {
  /** Modalities that endpoints without them get in another form. */
  readonly modalities: readonly Modality[]
  /** Prompts too long for a window of up to this many tokens are shortened to it; 0: none are. */
  readonly shortensUpTo: number
  /** The request for this endpoint, which has refused the one before as too long or not. Throws GatewayError. */
  adapt(call: Call, request: ModelRequest, endpoint: Endpoint, tooLong: boolean): Promise<ModelRequest>
}

export interface CallOrigin {
  readonly apiType: ApiType
  readonly userAgent?: string
  readonly referer?: string
  readonly title?: string
}

/** One array per upstream read: the async cost is paid per read, not per token. Failures are thrown as GatewayError. */
export type Handler = (call: Call) => AsyncIterable<readonly ModelEvent[]>
export type Layer = (next: Handler) => Handler
