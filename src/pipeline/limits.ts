import { isDeepStrictEqual } from 'node:util'
import type { Call, CallTrace, Handler, Layer, Owner } from '../core/call.ts'
import type { CallLimits, SubjectLimits } from '../core/call-limits.ts'
import type { Charge, Counter, Payment, Rate, Verdict } from '../core/counter.ts'
import { gatewayShare, NO_COST } from '../core/cost.ts'
import { GatewayError } from '../core/error.ts'
import type { Cost, Generation } from '../core/generation.ts'
import type { ModelRequest } from '../core/request.ts'
import type { Usage } from '../core/usage.ts'
import { estimateRequest, type RequestEstimate } from '../router/estimate.ts'
import type { PlannedAttempt } from '../router/plan.ts'
import { AdmissionTurns } from './admission-turns.ts'
import { answerCost, payTool, rootOf, toolPrices } from './answer-cost.ts'
import { admissionPrice, boundBy, costAt, leastAt, outputAt, outputTokens, searchesAt, unpricedAt, type CallPriceOptions } from './call-price.ts'
import { createEndpointLimits, type EndpointLimitOptions, type TakeShare } from './endpoint-limits.ts'
import { latePayments } from './late-payments.ts'
import { refusal, refuse, type OnLimited } from './limit-refusal.ts'
import { likelyUsage } from './tool-bill.ts'
import { Written } from './written.ts'

export interface LimitsOptions extends CallPriceOptions {
  readonly counter: Counter
  /** The limits in force now, whenever the call began. Undefined for a caller without limits: a few lookups. */
  readonly limitsOf: (owner: Owner) => CallLimits | undefined
  readonly policy: () => { readonly unknownPrice: 'allow' | 'deny'; readonly expectedOutputTokens: number }
  /** Whether the caller's own provider keys might serve the call: then its price is known only when an endpoint is chosen. */
  readonly mayUseOwnKeys: (call: Call) => boolean
  /** Called whenever an endpoint is skipped because of a limit of its own. */
  readonly onFull?: EndpointLimitOptions['onFull']
  /** Called whenever a rate limit of its caller refuses a call. */
  readonly onLimited?: OnLimited | undefined
}

/** How much of the remaining money an attempt may spend. */
export interface AttemptBound {
  readonly maxOutputTokens: number
}

export interface Limits {
  /** Between record and fallback: admits the call or refuses it. */
  readonly layer: Layer
  /**
   * Called before every attempt. Throws if its price does not fit what is left; otherwise resolves to how much output does. Undefined at once for a
   * call without limits. `spent`: by endpoints that broke in the middle of this very answer.
   */
  readonly beforeAttempt: (
    call: Call,
    attempt: Pick<PlannedAttempt, 'endpoint' | 'isByok'>,
    spent?: Cost,
  ) => Promise<AttemptBound | undefined> | undefined
  /** Called before every attempt: takes what it needs of its endpoint's limits. */
  readonly takeShare: TakeShare
  /**
   * Called before a tool or plugin buys something at this price. Throws if it does not fit what is left; otherwise holds it among the prices of the
   * call's tools. Undefined at once for a call without budgets, for which nothing is held.
   */
  readonly beforePurchase: (call: Call, usd: number) => Promise<void> | undefined
  /** Directly around fallback: in a call of several upstream answers (tools), the earlier ones count as spent when the next attempt is admitted. */
  readonly meter: Layer
  /** Must be called for every finished call, with its real cost. */
  finished(generation: Generation, call: Call): void
}

/** What a limited call holds until it is finished. */
interface Ticket {
  limits: CallLimits
  readonly estimate: RequestEstimate
  /** The input that the estimate was made for. */
  readonly input: ModelRequest['input']
  /** Tokens taken from the tokens-per-minute rate. */
  readonly tokens: number
  /** What the model needs at least, USD, until it is asked for the first time. Nothing is bought for a call that it could not answer afterwards. */
  leastUsd: number
  grantedUsd: number
  /** Spent by complete upstream answers of this call. */
  spentUsd: number
  /** Used by models that tools and plugins asked; not part of the answer. */
  askedTokens: number
  /** What attempts under way may cost; there are several if tools ask models. */
  readonly running: Map<CallTrace, number>
  readonly turns: AdmissionTurns
  settled: boolean
}

/** Rates, concurrent calls and spending of all calls with limits. Calls without limits are not touched. */
export function createLimits(options: LimitsOptions): Limits {
  const { counter } = options
  // By trace, which every layer passes on whatever else of the call it replaces. A model call of a tool belongs to the tool's call.
  const tickets = new WeakMap<CallTrace, Ticket>()
  const ticketOf = ({ trace }: Call): Ticket | undefined => tickets.get(rootOf(trace))

  const settle = (call: Call, ticket: Ticket, cost: Cost, tokens: number, late: readonly Payment[] = []): void => {
    if (ticket.settled) return
    ticket.settled = true
    const payments = ticket.limits.map(({ subject, tokensPerMinute, includeByok }): Payment => ({
      subject,
      spentUsd: includeByok ? cost.total : gatewayShare(cost),
      rates: tokensPerMinute === undefined ? [] : [{ name: 'tokens', limit: tokensPerMinute, cost: tokens - ticket.tokens }],
    }))
    const settlement = { id: call.id, now: call.clock.now(), payments: [...payments, ...late] }
    ticket.turns.end(() => void counter.settle(settlement))
  }

  async function* limited(next: Handler, call: Call, limits: CallLimits): ReturnType<Handler> {
    const estimate = estimateRequest(call.request)
    const tokens = estimate.inputTokens + outputTokens(options, call)
    const hasMoney = limits.some(({ budgets }) => budgets.length > 0)
    const price = hasMoney && !options.mayUseOwnKeys(call) ? admissionPrice(options, call, estimate) : undefined
    const verdict = await counter.reserve({
      id: call.id,
      now: call.clock.now(),
      charges: limits.map((subject) => chargeOf(subject, tokens)),
      ...(price === undefined ? {} : { amountUsd: price.amount, leastUsd: price.least }),
    })
    if (!verdict.ok) return refuse(verdict, limits, call.clock.now(), options.onLimited)
    const ticket: Ticket = {
      limits,
      estimate,
      input: call.request.input,
      tokens,
      leastUsd: price?.least ?? 0,
      grantedUsd: price === undefined ? -1 : verdict.grantedUsd,
      spentUsd: 0,
      askedTokens: 0,
      running: new Map(),
      turns: new AdmissionTurns(),
      settled: false,
    }
    tickets.set(call.trace, ticket)
    try {
      yield* next(call)
    } finally {
      // Usually the record has settled with the real cost by then. If it could not, the call must not hold its place for ever.
      setImmediate(() => settle(call, ticket, call.trace.cost ?? NO_COST, ticket.tokens))
    }
  }

  return {
    layer: (next) => (call) => {
      const limits = options.limitsOf(call.owner)
      return limits === undefined ? next(call) : limited(next, call, limits)
    },
    beforeAttempt(call, attempt, spent = NO_COST) {
      const ticket = ticketOf(call)
      if (ticket === undefined || !ticket.limits.some(({ budgets }) => budgets.length > 0)) return undefined
      return ticket.turns.run(call, () => admitAttempt(options, call, ticket, attempt, spent))
    },
    takeShare: createEndpointLimits(options),
    beforePurchase(call, usd) {
      const ticket = ticketOf(call)
      if (usd <= 0 || ticket === undefined || !ticket.limits.some(({ budgets }) => budgets.length > 0)) return undefined
      return ticket.turns.run(call, async () => {
        const needed = usd + ticket.leastUsd
        await roomFor(options, call, ticket, { others: heldBy(ticket, call), amount: needed, least: needed, isByok: false })
        payTool(call.trace, usd)
      })
    },
    meter: (next) => (call) => {
      const ticket = ticketOf(call)
      return ticket === undefined ? next(call) : metered(options, next, call, ticket)
    },
    finished(generation, call) {
      const ticket = tickets.get(call.trace)
      const payments = latePayments(options, call, generation.cost, ticket?.limits ?? [])
      if (ticket !== undefined) settle(call, ticket, generation.cost, generation.usage.totalTokens + ticket.askedTokens, payments)
      else if (payments.length > 0) void counter.settle({ id: call.id, now: call.clock.now(), payments })
    },
  }
}

function chargeOf(limits: SubjectLimits, tokens: number): Charge {
  const { subject, revision, requestsPerMinute, tokensPerMinute, maxOpen, budgets } = limits
  const rates: Rate[] = []
  if (requestsPerMinute !== undefined) rates.push({ name: 'requests', limit: requestsPerMinute, cost: 1 })
  if (tokensPerMinute !== undefined) rates.push({ name: 'tokens', limit: tokensPerMinute, cost: tokens })
  return { subject, revision, rates, budgets, ...(maxOpen === undefined ? {} : { maxOpen }) }
}

/** What the call has spent so far, its tools included, plus what is under way may cost. */
function heldBy(ticket: Ticket, call: Call, except?: CallTrace): number {
  let total = ticket.spentUsd + toolPrices(call.trace)
  for (const [trace, running] of ticket.running) if (trace !== except) total += running
  return total
}

interface Need {
  readonly others: number
  readonly amount: number
  readonly least: number
  readonly isByok: boolean
}

/** The budgets as they are by now: who lowers one stops an agent at its next turn. Rates stay those that the call took its share of. */
function limitsNow({ limitsOf }: LimitsOptions, { owner }: Call, ticket: Ticket): CallLimits {
  let current: CallLimits | undefined
  try {
    current = limitsOf(owner)
  } catch {
    // What limits the caller cannot be read at the moment.
  }
  if (current === undefined || current === ticket.limits) return ticket.limits
  ticket.limits = ticket.limits.map((before) => {
    const now = current.find(({ subject }) => subject === before.subject)
    // A clock that is behind gives a change the revision of the one before.
    if (now === undefined || (now.revision === before.revision && isDeepStrictEqual(now.budgets, before.budgets))) return before
    ticket.grantedUsd = -1
    return { ...before, revision: now.revision, budgets: now.budgets }
  })
  return ticket.limits
}

/** What may be spent besides `others`: the whole amount, or less, but at least `least`. Throws if there is less. */
async function roomFor(options: LimitsOptions, call: Call, ticket: Ticket, { others, amount, least, isByok }: Need): Promise<number> {
  const limits = limitsNow(options, call, ticket)
  let granted = ticket.grantedUsd
  if (others + amount > granted || isByok) {
    const verdict: Verdict = await options.counter.reserve({
      id: call.id,
      now: call.clock.now(),
      charges: limits.map((subject) => chargeOf(isByok && !subject.includeByok ? { ...subject, budgets: [] } : subject, ticket.tokens)),
      amountUsd: others + amount,
      leastUsd: others + least,
    })
    if (!verdict.ok) {
      const refused = refusal(verdict, limits, call.clock.now())
      // A fallback key of the caller's own may pay if the gateway's money is used up.
      throw !isByok && options.mayUseOwnKeys(call) ? refused.with({ failover: 'next' }) : refused
    }
    granted = verdict.grantedUsd
    // Granted only by limits that count own keys; the others are asked before the next attempt that the gateway pays for.
    ticket.grantedUsd = isByok ? -1 : granted
  }
  return granted - others
}

async function admitAttempt(
  options: LimitsOptions,
  call: Call,
  ticket: Ticket,
  attempt: Pick<PlannedAttempt, 'endpoint' | 'isByok'>,
  spent: Cost,
): Promise<AttemptBound | undefined> {
  const { endpoint, isByok } = attempt
  if (call.trace.parent === undefined) ticket.leastUsd = 0
  // What the caller's own account pays does not count, unless a limit says so.
  if (isByok && !countsOwnKeys(ticket)) return undefined
  // A turn of a tool loop is longer than the request that came in, and a tool's question to a model is another prompt.
  const estimate = call.request.input === ticket.input ? ticket.estimate : estimateRequest(call.request)
  const unpriced = unpricedAt(call, endpoint)
  if (unpriced !== undefined) {
    if (options.policy().unknownPrice === 'deny') {
      throw new GatewayError('not_found', `The price of ${unpriced} at ${endpoint.providerName} is unknown, and this caller's spending is limited`, {
        failover: 'next',
        metadata: { reason: 'unknown_price' },
      })
    }
    const whose = call.trace.parent === undefined ? 'its endpoint' : 'an endpoint that a tool or plugin asked'
    rootOf(call.trace).params['unknown_price'] ??= `spending on this call cannot be limited: the price of ${whose} is unknown`
  }
  const searches = searchesAt(call, endpoint)
  const amount = costAt(options, call, endpoint, estimate, outputAt(options, call, endpoint)) + searches
  const left = await roomFor(options, call, ticket, {
    others: heldBy(ticket, call, call.trace) + countedOf(ticket, spent),
    amount,
    least: leastAt(options, call, endpoint, estimate) + searches,
    isByok,
  })
  ticket.running.set(call.trace, amount)
  return left < amount ? boundBy(options, call, endpoint, estimate, left - searches) : undefined
}

const countsOwnKeys = ({ limits }: Ticket): boolean => limits.some(({ includeByok }) => includeByok)
/** What a cost counts against the limits. If only some of them count own keys, all are asked for the larger sum. */
const countedOf = (ticket: Ticket, cost: Cost): number => (countsOwnKeys(ticket) ? cost.total : gatewayShare(cost))

async function* metered(options: LimitsOptions, next: Handler, call: Call, ticket: Ticket): ReturnType<Handler> {
  const { trace } = call
  const servedBefore = trace.served
  const written = new Written()
  let ended = false
  const spend = (usage: Usage): void => {
    ended = true
    ticket.spentUsd += countedOf(ticket, answerCost(options.costOf, usage, trace))
    if (trace.parent !== undefined) ticket.askedTokens += usage.totalTokens
    ticket.running.delete(trace)
  }
  try {
    for await (const events of next(call)) {
      for (const event of events) written.note(event)
      const last = events[events.length - 1]
      if (last?.type === 'response-end' && trace.served !== undefined) spend(last.usage ?? likelyUsage(call.request, written, trace))
      yield events
    }
  } finally {
    const { served } = trace
    // An answer that was left or broke in the middle has cost something, too: an agent may be asked again and again.
    if (!ended && served !== servedBefore && served?.firstTokenMs !== undefined) spend(likelyUsage(call.request, written, trace))
    ticket.running.delete(trace)
  }
}
