import type { OutgoingRequest, OutgoingResponse } from '../core/destination.ts'
import type { Transport } from '../delivery/transport.ts'
import { EgressError } from '../lib/egress-policy.ts'

/** How a platform handles all requests for a while. */
export type Mode =
  | { readonly kind: 'answer'; readonly status: number; readonly headers?: { readonly [name: string]: string }; readonly body?: string }
  /** Quotes what it was sent, credentials included. */
  | { readonly kind: 'quote'; readonly status: number }
  /** Accepts the request, but its answer is lost. */
  | { readonly kind: 'lost answer' }
  | { readonly kind: 'unreachable'; readonly why: 'dns' | 'connect' | 'network' | 'refused' }
  /** Never answers; may accept the request. */
  | { readonly kind: 'hang'; readonly takes: boolean }
  /** Accepts at most this many records at a time. */
  | { readonly kind: 'small'; readonly records: number }
  /** Accepts some of a request's records and reports it, in the way of its type. */
  | { readonly kind: 'some' }

export interface Phase {
  readonly until: number
  readonly mode: Mode
}

/** One request with records, as the platform received it. */
export interface Arrival {
  readonly ids: readonly string[]
  readonly at: number
  readonly text: string
  readonly mode: Mode['kind']
  readonly status: number
  /** Records that it accepted. */
  kept: readonly string[]
  /** The sender was told so. */
  told: boolean
  /** The sender has recorded the outcome. */
  isNoted: boolean
  endedAt: number
  sender: string
  retryAfterMs: number | undefined
  /** How many of the accepted records it reported as refused, without naming them. */
  rejected: number
}

const LATENCY_MS = 20
const ID = /gen-\d{10}-[A-Za-z0-9]{20}/g

export interface ScheduledPlatform {
  readonly arrivals: Arrival[]
  phases: readonly Phase[]
  /** Records that the platform refuses with this status, even if its mode would accept them. */
  readonly poison: Map<string, number>
  transportFor(sender: { readonly name: string; dead: boolean }): Transport
}

/** Ids of the records in a request: every test record has its id in its metadata, which no privacy mode removes. */
const idsIn = (request: OutgoingRequest): readonly string[] => [
  ...new Set(
    Buffer.from(request.body ?? '')
      .toString('latin1')
      .match(ID) ?? [],
  ),
]

export function createScheduledPlatform(now: () => number, random: () => number): ScheduledPlatform {
  const platform: ScheduledPlatform = {
    arrivals: [],
    phases: [],
    poison: new Map(),
    transportFor: (sender) => async (request, timeoutMs, signal) => {
      const mode = platform.phases.find(({ until }) => now() < until)?.mode ?? { kind: 'answer', status: 200 }
      const ids = idsIn(request)
      const arrival: Arrival = {
        ids,
        at: now(),
        text: Buffer.from(request.body ?? '').toString('latin1'),
        mode: mode.kind,
        status: 0,
        kept: [],
        told: false,
        isNoted: false,
        endedAt: Infinity,
        sender: sender.name,
        retryAfterMs: undefined,
        rejected: 0,
      }
      if (ids.length > 0) platform.arrivals.push(arrival)
      await wait(Math.ceil(random() * LATENCY_MS), signal)
      try {
        const response = await react(mode, request, ids, arrival, timeoutMs, signal)
        Object.assign(arrival, { status: response.status })
        arrival.told = arrival.kept.length > 0 && !sender.dead && !signal.aborted
        return response
      } finally {
        arrival.endedAt = now()
      }
    },
  }

  async function react(
    mode: Mode,
    request: OutgoingRequest,
    ids: readonly string[],
    arrival: Arrival,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<OutgoingResponse> {
    switch (mode.kind) {
      case 'unreachable':
        throw new EgressError(mode.why, `platform.test ${mode.why}`)
      case 'lost answer':
        arrival.kept = ids
        throw new EgressError('network', 'the connection to platform.test broke')
      case 'hang':
        if (mode.takes) arrival.kept = ids
        await wait(timeoutMs, signal)
        throw new EgressError('timeout', 'platform.test did not answer in time')
      case 'quote':
        return respond(mode.status, {}, `cannot take ${JSON.stringify(request.headers)} ${request.url}`)
      case 'small':
        if (ids.length > mode.records) return respond(413)
        break
      case 'some': {
        const some = takeSome(request, random, (id) => platform.poison.has(id))
        if (some === undefined) break
        arrival.kept = ids.filter((id) => !some.refused.includes(id))
        arrival.rejected = some.rejected ?? 0
        return respond(200, { 'content-type': 'application/json' }, some.body)
      }
      case 'answer':
        if (mode.status >= 300) {
          const after = Number(mode.headers?.['retry-after'])
          if (Number.isFinite(after)) arrival.retryAfterMs = Math.min(3_600_000, after * 1_000)
          return respond(mode.status, mode.headers, mode.body)
        }
        break
      default:
        mode satisfies never
    }
    const statuses = ids.flatMap((id) => platform.poison.get(id) ?? [])
    if (statuses.length > 0) return respond(statuses[0]!, {}, `this one is bad, key=${Object.values(request.headers).join(' ')}`)
    arrival.kept = ids
    return mode.kind === 'answer' ? respond(mode.status, mode.headers, mode.body ?? '{}') : respond(200)
  }
  return platform
}

interface Some {
  readonly refused: readonly string[]
  readonly rejected?: number
  readonly body: string
}

/** Handles batches of formats that can be accepted in part; undefined for others. */
function takeSome(request: OutgoingRequest, random: () => number, isPoison: (id: string) => boolean): Some | undefined {
  const text = Buffer.from(request.body ?? '').toString('utf8')
  if (!text.startsWith('{')) return undefined
  const body = JSON.parse(text) as { readonly records?: unknown[]; readonly rows?: unknown[]; readonly resourceSpans?: unknown[] }
  if (body.resourceSpans !== undefined) {
    const n = Math.floor(random() * (body.resourceSpans.length + 2))
    return {
      refused: [],
      rejected: Math.min(n, body.resourceSpans.length),
      body: JSON.stringify({ partialSuccess: { rejectedSpans: String(n), errorMessage: 'too old' } }),
    }
  }
  const items = (body.records ?? body.rows)?.map((item) => (JSON.stringify(item).match(ID) ?? [])[0]!)
  if (items === undefined) return undefined
  const reactions = items.map((id) => (isPoison(id) ? 'never' : random() < 0.3 ? 'later' : 'kept'))
  const refused = items.filter((_id, i) => reactions[i] !== 'kept')
  if (body.records !== undefined)
    return {
      refused,
      body: JSON.stringify({
        offsets: reactions.map((reaction) => (reaction === 'kept' ? { offset: 1 } : { error_code: reaction === 'never' ? 1 : 2, error: reaction })),
      }),
    }
  const insertErrors = reactions.flatMap((reaction, index) =>
    reaction === 'kept' ? [] : [{ index, errors: [{ reason: reaction === 'never' ? 'invalid' : 'timeout', message: reaction }] }],
  )
  return { refused, body: JSON.stringify({ insertErrors }) }
}

const respond = (status: number, headers: { readonly [name: string]: string } = {}, body = ''): OutgoingResponse => ({
  status,
  headers,
  body: Buffer.from(body),
})

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const aborted = (): void => {
      clearTimeout(timer)
      reject(new EgressError('aborted', 'the request was given up'))
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', aborted)
      resolve()
    }, ms)
    if (signal.aborted) aborted()
    else signal.addEventListener('abort', aborted, { once: true })
  })
}

/** The source of randomness for a schedule. */
export interface Chance {
  now(): number
  /** 0 to n - 1. */
  int(n: number): number
  pick<T>(list: readonly T[]): T
}

const RETRY_AFTERS = ['1', '30', '0', '99999999', '-5', 'soon']

function anyMode(chance: Chance): Mode {
  const answer = (status: number, headers?: { [name: string]: string }, body?: string): Mode => ({
    kind: 'answer',
    status,
    ...(headers === undefined ? {} : { headers }),
    ...(body === undefined ? {} : { body }),
  })
  return chance.pick<() => Mode>([
    () => answer(200),
    () => answer(204, {}, ''),
    () => answer(200, {}, 'not { json'),
    () => answer(200, {}, '{"partialSuccess":{"rejectedSpans":0,"errorMessage":"careful"}}'),
    () => answer(chance.pick([301, 307])),
    () => ({ kind: 'quote', status: chance.pick([401, 403, 503, 429]) }),
    () => answer(chance.pick([401, 402, 403])),
    () => answer(408),
    () => answer(429, { 'retry-after': chance.pick(RETRY_AFTERS) }),
    () => answer(429, { 'retry-after': new Date(chance.now() + 45_000).toUTCString() }),
    () => answer(503, { 'retry-after': chance.pick(RETRY_AFTERS) }),
    () => answer(chance.pick([502, 503, 504, 520])),
    () => ({ kind: 'lost answer' }),
    () => ({ kind: 'unreachable', why: chance.pick(['dns', 'connect', 'network', 'refused'] as const) }),
    () => ({ kind: 'hang', takes: chance.int(2) === 0 }),
    () => ({ kind: 'some' }),
    () => ({ kind: 'some' }),
    () => ({ kind: 'small', records: 1 + chance.int(5) }),
  ])()
}

/** Random trouble until `end`, and none afterwards. */
export function anyPhases(chance: Chance, end: number): readonly Phase[] {
  const phases: Phase[] = []
  for (let at = chance.now(); at < end;) {
    at += 1_000 * (1 + chance.int(240))
    phases.push({ until: Math.min(at, end), mode: anyMode(chance) })
  }
  return phases
}
