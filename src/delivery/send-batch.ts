import type { DeliveryRecord } from '../core/delivery.ts'
import type { DeliveryOutcome } from '../core/destination.ts'
import { redact } from '../core/outcome.ts'
import type { DeadReason } from '../core/outbox.ts'
import { toVerdict, type BatchReport, type BatchVerdict, type RecordResult } from './batch-report.ts'
import { independentGroups } from './batching.ts'
import { errorText, Exchange, toBytes, type Aborted, type EncodedRequest, type ExchangeParts, type Unreached } from './exchange.ts'
import { shrinkRecord } from './shrink.ts'

export interface SendJob extends ExchangeParts {
  readonly records: readonly DeliveryRecord[]
  /** The longest run of doubtful answers that one of the records has had so far. Default: none. */
  readonly doubtful?: number
  /** How often batches were refused with this configuration. Default: never. */
  readonly refusals?: number
}

const PARALLEL_REQUESTS = 8
/** Consecutive doubtful answers while a culprit is searched: eight find it among a hundred records. After more, the platform takes nothing. */
const MAX_DOUBTS = 10
/** The platform failed on what it was sent; higher statuses say that it is away. */
const FAILED_ON_IT = 500
/** After this many doubtful answers the culprit is searched, unless the type gives up before. */
const SEARCHED_AFTER = 5
/** The same for tries without an answer, or with one that says the platform is away. It would be back by then, unless a record takes it down each time. */
const SEARCHED_WHEN_AWAY = 10
/**
 * 403: insufficient credentials, or a firewall that dislikes the content. 404 and 410: a wrong address, or something that a record names. 415: the
 * format of all requests, or of what one record contains.
 */
const FORBIDDEN: ReadonlySet<number> = new Set([403, 404, 410, 415])
/** Batches that must have been refused before one is searched for a culprit, because usually all of them are meant. */
const SEARCHED_REFUSALS = 2

/**
 * Sends a batch until each of its records has an outcome: split if it is too large, halved to find the culprit if it is refused, shortened if a single
 * record is too large, given back if the destination takes nothing. Never rejects.
 */
export async function sendBatch(job: SendJob): Promise<BatchReport> {
  const run = new BatchRun(job)
  await run.deliver(job.records.map((record, index) => ({ record, whole: record, index, step: 0 })))
  await run.judgeSuspects()
  return run.report()
}

/** A record on its way: its place in the batch, and how often it was shortened. */
interface Piece {
  readonly record: DeliveryRecord
  /** Before it was shortened. */
  readonly whole: DeliveryRecord
  readonly index: number
  readonly step: number
}

class BatchRun {
  readonly #job: SendJob
  readonly #exchange: Exchange
  readonly #results: RecordResult[]
  /** Set when the destination takes nothing at the moment: nothing more is sent. */
  #halt: BatchVerdict | undefined
  #last: BatchVerdict = { kind: 'ok', status: 0 }
  /** The first complaint of the platform about a part of the batch, or its first remark about what it took. */
  #remark: string | undefined
  #rejected = 0
  #encodedBytes = 0
  #doubts = 0
  /** Sent after the first refusal. What was sent before says nothing about a platform that has closed since. */
  #hasTaken = false
  #refusal: BatchVerdict | undefined
  /** Refused alone, while nobody knew whether others would be. */
  readonly #suspects: Piece[] = []
  #isJudging = false

  constructor(job: SendJob) {
    this.#job = job
    this.#exchange = new Exchange(job)
    this.#results = job.records.map(() => ({ kind: 'released' }))
  }

  report(): BatchReport {
    const done = this.#remark === undefined ? this.#last : { ...this.#last, message: this.#remark }
    return { results: this.#results, verdict: this.#halt ?? done, rejected: this.#rejected, encodedBytes: this.#encodedBytes }
  }

  #answered(status: number, remark: string | undefined): void {
    this.#last = { kind: 'ok', status }
    this.#remark ??= remark
  }

  /** Includes every request that carries the record, because the first of several says nothing about the others. */
  #taken(isAfterRefusal: boolean): void {
    this.#hasTaken ||= isAfterRefusal
    this.#doubts = 0
  }

  #settle(pieces: readonly Piece[], result: RecordResult): void {
    for (const piece of pieces) this.#results[piece.index] = result
  }

  /** The size of its bytes as a multiple of the allowed size. */
  readonly #excess = ({ body }: EncodedRequest): number => (body?.length ?? 0) / this.#job.type.limits.bytes

  async deliver(pieces: readonly Piece[]): Promise<void> {
    if (pieces.length === 0) return
    if (this.#halt) return this.#settle(pieces, { kind: 'released' })
    const { type, settings, context } = this.#job
    let requests: readonly EncodedRequest[]
    try {
      const encoded = await type.encode(
        pieces.map((piece) => piece.record),
        settings,
        context,
      )
      requests = encoded.map(toBytes)
    } catch (error) {
      return this.#refuse(pieces, 'encode-failed', 0, errorText(error))
    }
    this.#encodedBytes ||= requests.reduce((sum, { body }) => sum + (body?.length ?? 0), 0)
    const carried = new Set(requests.flatMap((request) => request.records ?? pieces.map((_piece, position) => position)))
    const forgotten = pieces.filter((_piece, position) => !carried.has(position))
    if (forgotten.length > 0)
      this.#settle(forgotten, { kind: 'dead', reason: 'encode-failed', status: 0, error: 'the encoder made no request for it' })
    const groups = [...independentGroups(requests)]
    const next = async (): Promise<void> => {
      for (let group = groups.shift(); group !== undefined; group = groups.shift()) await this.#sendGroup(group, pieces)
    }
    // The oldest record goes first if it may be the one that is refused, so that the answers to the others come after that.
    if ((this.#job.refusals ?? 0) >= SEARCHED_REFUSALS && groups.length > 1) await this.#sendGroup(groups.shift()!, pieces)
    await Promise.all(Array.from({ length: Math.min(PARALLEL_REQUESTS, groups.length) }, next))
  }

  /** Sends requests in order. Records that have an outcome are left out, and the requests that carried them are encoded again for the rest. */
  async #sendGroup(group: readonly EncodedRequest[], pieces: readonly Piece[]): Promise<void> {
    const isAfterRefusal = this.#refusal !== undefined
    const all = pieces.map((_piece, position) => position)
    const open = new Set(group.flatMap((request) => request.records ?? all))
    const at = (positions: Iterable<number>): readonly Piece[] => Array.from(positions, (position) => pieces[position]!)
    // What is too large is split before anything is sent; otherwise the part that was accepted would be sent again with each half.
    for (const request of group.toSorted((a, b) => Number(this.#excess(b) > 1) - Number(this.#excess(a) > 1))) {
      const carried = request.records ?? all
      if (carried.every((position) => open.has(position))) {
        const done = await this.#sendRequest(request, at(carried))
        for (const position of done) open.delete(carried[position]!)
      } else {
        const left = carried.filter((position) => open.delete(position))
        await this.deliver(at(left))
      }
    }
    if (open.size > 0) this.#taken(isAfterRefusal)
    this.#settle(at(open), { kind: 'delivered' })
  }

  /** Positions whose outcome is decided; the others were accepted by this request. */
  async #sendRequest(request: EncodedRequest, pieces: readonly Piece[]): Promise<readonly number[]> {
    const everyone = pieces.map((_piece, position) => position)
    if (this.#halt) {
      this.#settle(pieces, { kind: 'released' })
      return everyone
    }
    const halvings = Math.ceil(Math.log2(this.#excess(request)))
    if (halvings > 0) {
      await this.#tooLarge(pieces, 0, `the request is larger than ${this.#job.type.limits.bytes} bytes`, halvings)
      return everyone
    }
    const { outcome, status } = await this.#exchange.ask(request)
    return this.#apply(outcome, status, pieces)
  }

  async #apply(outcome: DeliveryOutcome | Unreached | Aborted, status: number, pieces: readonly Piece[]): Promise<readonly number[]> {
    const everyone = pieces.map((_piece, position) => position)
    switch (outcome.kind) {
      case 'delivered':
        this.#answered(status, outcome.message)
        return []
      case 'partial': {
        this.#answered(status, outcome.message)
        this.#rejected += Math.min(outcome.rejectedCount ?? 0, pieces.length)
        const settled: number[] = []
        for (const { index, message } of outcome.rejected ?? []) {
          const piece = pieces[index]
          if (piece === undefined) continue
          this.#settle([piece], { kind: 'dead', reason: 'rejected', status, error: redact(message, 500) })
          settled.push(index)
        }
        for (const index of outcome.retry ?? []) {
          const piece = pieces[index]
          if (piece === undefined) continue
          this.#settle([piece], { kind: 'retry', status, error: outcome.message })
          settled.push(index)
        }
        return settled
      }
      case 'retry':
        await this.#again(outcome, status, pieces)
        return everyone
      case 'unauthorized':
        await this.#forbid({ kind: 'unauthorized', status, message: outcome.message }, pieces)
        return everyone
      case 'aborted':
        this.#stop({ kind: 'released' }, { kind: 'aborted', status: 0, message: outcome.message }, pieces)
        return everyone
      case 'split':
        await this.#tooLarge(pieces, status, outcome.message)
        return everyone
      case 'reject':
        await this.#refuse(pieces, 'rejected', status, outcome.message)
        return everyone
      default:
        return outcome satisfies never
    }
  }

  /** A batch that fails again and again is searched: one record may be what the platform fails on, and the others are not at fault. */
  async #again(outcome: Unreached, status: number, pieces: readonly Piece[]): Promise<void> {
    const { message, maxAttempts, afterMs, overload } = outcome
    const isDoubtful = maxAttempts !== undefined || (status === FAILED_ON_IT && afterMs === undefined && overload !== true)
    const result: RecordResult = {
      kind: 'retry',
      status,
      error: message,
      ...(isDoubtful ? { doubtful: true } : {}),
      ...(maxAttempts === undefined ? {} : { maxAttempts }),
    }
    const verdict = toVerdict(outcome, status)
    if (!this.#searches(outcome, isDoubtful)) return this.#stop(result, verdict, pieces)
    if (++this.#doubts > MAX_DOUBTS) return this.#stop({ kind: 'released' }, verdict, pieces)
    if (pieces.length > 1) return this.#halves(pieces)
    this.#remark ??= message
    if (this.#last.status === 0) this.#last = verdict
    this.#settle(pieces, result)
  }

  /** A platform that is busy or names a time does not fail on the content. */
  #searches({ afterMs, overload, maxAttempts, isUnreached }: Unreached, isDoubtful: boolean): boolean {
    const { records, doubtful = 0, context } = this.#job
    if (records.length < 2 || afterMs !== undefined || overload === true) return false
    return isDoubtful
      ? doubtful + 1 >= Math.min(maxAttempts ?? Infinity, SEARCHED_AFTER)
      : isUnreached !== true && context.attempt >= SEARCHED_WHEN_AWAY
  }

  /** The final refusal, if the record is at fault: its text, for example, which a firewall takes for an attack. */
  async #forbid(verdict: BatchVerdict, pieces: readonly Piece[]): Promise<void> {
    const { status, message = '' } = verdict
    if (this.#isJudging && FORBIDDEN.has(status)) return this.#bury(pieces, 'rejected', status, message)
    const { records, refusals = 0 } = this.#job
    const searches = FORBIDDEN.has(status) && records.length > 1 && refusals >= SEARCHED_REFUSALS
    if (!searches || ++this.#doubts > MAX_DOUBTS) return this.#stop({ kind: 'released' }, verdict, pieces)
    this.#refusal ??= verdict
    if (pieces.length > 1) return this.#halves(pieces)
    this.#suspects.push(...pieces)
  }

  /** If others were accepted, a record that is refused again is at fault. Otherwise none is, and all go back. */
  async judgeSuspects(): Promise<void> {
    if (this.#suspects.length === 0) return
    if (!this.#hasTaken) this.#halt ??= this.#refusal
    this.#isJudging = true
    for (const piece of this.#suspects) await this.deliver([piece])
  }

  #stop(result: RecordResult, verdict: BatchVerdict, pieces: readonly Piece[]): void {
    // Records after a failure are given back untried and keep their count of tries.
    this.#halt ??= verdict
    this.#settle(pieces, result)
  }

  /** `halvings`: how often its text must be halved at least. The sizes in between are not encoded, as each try costs seconds for many megabytes. */
  async #tooLarge(pieces: readonly Piece[], status: number, error: string, halvings = 1): Promise<void> {
    if (pieces.length > 1) return this.#halves(pieces)
    const [piece] = pieces
    if (piece === undefined) return
    // The last step that leaves anything, if `halvings` would leave nothing.
    for (let step = piece.step + halvings; step > piece.step; step--) {
      const record = shrinkRecord(piece.whole, step)
      if (record !== undefined) return this.deliver([{ ...piece, record, step }])
    }
    this.#bury(pieces, 'too-large', status, error)
  }

  async #refuse(pieces: readonly Piece[], reason: DeadReason, status: number, error: string): Promise<void> {
    if (pieces.length > 1) return this.#halves(pieces)
    this.#bury(pieces, reason, status, error)
  }

  #bury(pieces: readonly Piece[], reason: DeadReason, status: number, error: string): void {
    if (status > 0) this.#answered(status, error)
    this.#doubts = 0
    this.#settle(pieces, { kind: 'dead', reason, status, error })
  }

  async #halves(pieces: readonly Piece[]): Promise<void> {
    const middle = Math.ceil(pieces.length / 2)
    await this.deliver(pieces.slice(0, middle))
    await this.deliver(pieces.slice(middle))
  }
}
