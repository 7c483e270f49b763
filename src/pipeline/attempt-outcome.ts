import type { AttemptRecord, Call } from '../core/call.ts'
import { GatewayError } from '../core/error.ts'
import { isContentEvent, type ModelEvent } from '../core/event.ts'
import type { Credential } from '../core/provider.ts'
import { mendEstimate, type Usage } from '../core/usage.ts'
import { joinsLast } from './answer-notes.ts'
import type { EndpointShare } from './endpoint-limits.ts'
import { AnswerBuffer } from './stream-failure.ts'
import { writtenUsage } from './tool-bill.ts'
import type { ToolCallCheck } from './tool-call-check.ts'
import { UnseenItems } from './unseen-items.ts'

/** More start events than any model sends before its first content: an upstream that sends more is broken. */
const MAX_HELD_EVENTS = 4_096
const NOTHING: readonly (readonly ModelEvent[])[] = []

/** How far an attempt got, and what of its answer is held back. */
export class Outcome {
  readonly startedAt: number
  /** The request was sent: failures from then on say something about its endpoint. */
  sent = false
  credential: Credential | undefined
  /** What the attempt has taken of its endpoint's limits. */
  share: EndpointShare | undefined
  /** The usage the upstream reported at the end. */
  usage: Usage | undefined
  /** Watches its calls; undefined if it was offered no tools. */
  calls: ToolCallCheck | undefined
  /** Set once the request is about to be sent. */
  record: AttemptRecord | undefined
  /** The endpoint began to answer, whether or not the caller has seen it. */
  begun = false
  /** The caller has seen a part of the answer, or is about to. */
  committed = false
  /** Events that are held back. */
  held: readonly (readonly ModelEvent[])[] = NOTHING
  readonly #buffer: AnswerBuffer | undefined
  readonly #unseen: UnseenItems | undefined
  #heldEvents = 0
  /** Characters of the answer, counted only if somebody counts its tokens. */
  #chars = 0

  /** `buffers`: hold back the whole answer, within bounds; otherwise only what comes before the first content that the caller sees. */
  constructor(startedAt: number, buffers: boolean, { visibilityOf }: Pick<Call, 'visibilityOf'> = {}) {
    this.startedAt = startedAt
    this.#buffer = buffers ? new AnswerBuffer() : undefined
    this.#unseen = buffers || visibilityOf === undefined ? undefined : new UnseenItems(visibilityOf)
  }

  /** Whether more was held back than the bound allows. */
  get outgrown(): boolean {
    return this.#buffer?.full === true
  }

  /** The attempt is over, however it ended: gives back what it had taken of limits and did not use. */
  release(): void {
    this.share?.settle({ tokens: this.#tokens(), requests: this.sent ? this.record?.requests : 0 })
    this.share = undefined
  }

  /** Tokens the attempt used; undefined if nobody knows, because the answer was left or broke off. */
  #tokens(): number | undefined {
    const { usage, record, begun } = this
    if (usage !== undefined) return usage.totalTokens
    const counted = record?.counted
    if (counted === undefined || counted.totalTokens === 0) return begun ? undefined : 0
    // Some upstreams count the prompt at the start and the answer at the end, which never came.
    return mendEstimate(writtenUsage(this.#chars), counted).totalTokens
  }

  /** The events that may be passed on now that these have arrived; undefined if none may yet. Throws if the attempt ended without content. */
  take(events: readonly ModelEvent[]): readonly ModelEvent[] | undefined {
    const record = this.record!
    this.calls?.take(events)
    if (this.share !== undefined) for (const event of events) if ('delta' in event) this.#chars += event.delta.length
    const first = events[0]
    if (first?.type === 'response-start' && first.upstreamId !== undefined) record.upstreamId = first.upstreamId
    if (this.committed) return events
    if (!this.begun) {
      if (isWordless(events)) throw stopped(record, events[events.length - 1])
      this.begun = events.some(commits)
    }
    if (!this.#frees(events)) {
      this.#hold(events, record)
      return undefined
    }
    this.committed = true
    const batch = this.held.length === 0 ? events : [...this.held, events].flat()
    this.held = NOTHING
    return batch
  }

  #frees(events: readonly ModelEvent[]): boolean {
    if (this.#buffer !== undefined) return this.#buffer.take(events)
    // Also asked before the first content: an item may start well before that.
    const shows = this.#unseen?.frees(events) ?? true
    return this.begun && shows
  }

  #hold(events: readonly ModelEvent[], { endpoint }: AttemptRecord): void {
    this.#heldEvents += events.length
    if (this.#heldEvents > MAX_HELD_EVENTS && !this.begun)
      throw new GatewayError('provider_unavailable', `${endpoint.providerName} sends events without content`, { source: 'provider' })
    if (this.#unseen !== undefined) this.#holdJoined(events)
    else if (this.held === NOTHING) this.held = [events]
    else (this.held as (readonly ModelEvent[])[]).push(events)
  }

  /** A model may think for minutes: nobody sees in how many pieces it wrote what is held. */
  #holdJoined(events: readonly ModelEvent[]): void {
    if (this.held === NOTHING) this.held = [[]]
    const list = this.held[0] as ModelEvent[]
    for (const event of events) if (!joinsLast(list, event)) list.push(event)
  }
}

/** The provider's filter, or the model itself, ended the answer before its first content. */
const isWordless = (events: readonly ModelEvent[]): boolean => {
  const last = events[events.length - 1]
  return last?.type === 'response-end' && (last.reason === 'content_filter' || last.reason === 'refusal') && !events.some(isContentEvent)
}

/** The failure for an answer without content: another model may answer, and if none does the caller is told why. */
function stopped(record: AttemptRecord, last: ModelEvent | undefined): GatewayError {
  const { endpoint, status } = record
  const end = last?.type === 'response-end' ? last : undefined
  if (end?.usage !== undefined) {
    record.counted = end.usage
    // The usage at the end of an answer has the price of its tier already.
    delete record.tierFactor
  }
  const [type, what] =
    end?.reason === 'refusal'
      ? (['refusal', 'The model refused to answer'] as const)
      : (['content_policy_violation', 'The answer was stopped by a filter'] as const)
  return new GatewayError(type, `${endpoint.providerName}: ${what} before its first word`, {
    source: 'provider',
    providerName: endpoint.providerName,
    upstreamStatus: status,
    ...(end?.nativeReason === undefined ? {} : { providerCode: end.nativeReason }),
  })
}

/** Content commits an answer; so does an end without content that the decoder found to be a legal answer. */
const commits = (event: ModelEvent): boolean => event.type === 'response-end' || isContentEvent(event)
