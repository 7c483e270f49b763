import type { Adaptation, Call, Handler, Owner } from '../core/call.ts'
import { NO_COST, roundUsd, withExtra } from '../core/cost.ts'
import type { Catalog, Endpoint, Pricing } from '../core/endpoint.ts'
import { GatewayError } from '../core/error.ts'
import type { ModelEvent } from '../core/event.ts'
import type { PluginContext, PluginEffects } from '../core/extension.ts'
import type { Cost, PipelineStage } from '../core/generation.ts'
import type { ModelRequest } from '../core/request.ts'
import { addUsage, createUsage, type Usage } from '../core/usage.ts'
import { permittedEndpoints } from '../router/permitted.ts'
import { modelNames, type RoutingDefaults } from '../router/plan.ts'
import { hasLeft } from './abort-reason.ts'
import { answerCost } from './answer-cost.ts'
import { routedModels } from './call-route.ts'
import type { ActivePlugin } from './plugin-select.ts'
import { TimeLimit } from './time-limit.ts'
import type { Limits } from './limits.ts'
import { askModel } from './tool-ask.ts'
import { ToolBill } from './tool-bill.ts'
import { SourceBook } from './tool-citations.ts'

export interface PluginRunOptions {
  readonly catalog: () => Catalog
  readonly defaults: (owner: Owner) => RoutingDefaults
  readonly costOf: (usage: Usage, pricing: Pricing) => Cost
  /** The likely usage of an answer that broke. */
  readonly estimateUsage: (call: Call) => Usage
  /** Throws when the caller may have no more of a call that is under way. Absent: it may. */
  readonly mayGoOn?: (owner: Owner) => void
  /** Whether a call may buy something at this price. Absent: it may. */
  readonly beforePurchase?: Limits['beforePurchase']
}

const DEFAULT_TIMEOUT_MS = 60_000

/** What the plugins do for one call: their contexts, and the cost of their work. */
export class PluginRun {
  readonly sources = new SourceBook()
  readonly #options: PluginRunOptions
  readonly #call: Call
  /** The handler below the plugins; their own model calls begin there. */
  readonly #next: Handler
  readonly #stages = new Map<string, PipelineStage>()
  /** By plugin: what it has bought, and the models it has asked. */
  readonly #bills = new Map<string, ToolBill>()
  readonly #counts: Record<string, number> = {}

  constructor(options: PluginRunOptions, call: Call, next: Handler) {
    this.#options = options
    this.#call = call
    this.#next = next
  }

  /** Runs one hook of a plugin within its time limit. Throws GatewayError `timeout`. */
  async within<T>({ plugin, settings }: ActivePlugin, hook: (context: PluginContext) => T | Promise<T>): Promise<T> {
    const limit = new TimeLimit(this.#call.signal, plugin.timeoutMs ?? DEFAULT_TIMEOUT_MS)
    try {
      const work = hook(this.context({ plugin, settings }, limit.signal))
      return work instanceof Promise ? await limit.race(work) : work
    } catch (error) {
      limit.giveUp(error)
      if (limit.expired) throw new GatewayError('timeout', `The plugin ${plugin.id} took too long`, { cause: error })
      throw error
    } finally {
      limit.end()
      if (hasLeft(this.#call.signal)) this.#bills.get(plugin.id)?.leave()
      else this.#bills.get(plugin.id)?.release()
    }
  }

  context({ plugin, settings }: ActivePlugin, signal: AbortSignal = this.#call.signal): PluginContext {
    return {
      settings,
      call: this.#call,
      signal,
      endpointsOf: (request) => this.#endpointsOf(request),
      permitted: (request) => permittedEndpoints(request, this.#call.clock.now()),
      ask: (request, { withinMs = Infinity, ...options } = {}) =>
        within(withinMs, signal, (limited) =>
          askModel(this.#next, this.#call, request, limited, { ...options, costOf: this.#options.costOf, bill: this.#billOf(plugin.id) }),
        ),
      afford: (usd) => this.#billOf(plugin.id).afford(usd),
      report: (effects) => this.#report(plugin.id, effects),
    }
  }

  /** Lets each plugin, in order, adapt the request to an endpoint. Work done once for the call is reused. */
  adaptation(active: readonly ActivePlugin[]): Adaptation | undefined {
    const adapting = active.filter(({ plugin }) => plugin.adapts !== undefined)
    if (adapting.length === 0) return undefined
    const made = new WeakMap<ModelRequest, Map<string, Promise<ModelRequest>>>()
    return {
      ...reachOf(adapting),
      adapt: (_call, request, endpoint, tooLong) => {
        let known = made.get(request)
        if (known === undefined) {
          known = new Map()
          made.set(request, known)
        }
        const key = `${endpoint.id} ${tooLong}`
        let adapted = known.get(key)
        if (adapted === undefined) {
          adapted = this.#adapt(adapting, request, endpoint, tooLong)
          known.set(key, adapted)
        }
        return adapted
      },
    }
  }

  async #adapt(adapting: readonly ActivePlugin[], request: ModelRequest, endpoint: Endpoint, tooLong: boolean): Promise<ModelRequest> {
    let adapted = request
    for (const active of adapting) {
      adapted = (await this.within(active, (context) => active.plugin.adapts!.adapt(adapted, endpoint, context, tooLong))) ?? adapted
    }
    // Reading files takes minutes, in which the caller's key may have ended.
    this.#options.mayGoOn?.(this.#call.owner)
    return adapted
  }

  #endpointsOf(request: ModelRequest): readonly Endpoint[] {
    const names = modelNames(request, this.#options.defaults(this.#call.owner))
    return routedModels(names, this.#options.catalog(), this.#call.catalogAtStart).flatMap(({ endpoints }) => endpoints)
  }

  #billOf(id: string): ToolBill {
    let bill = this.#bills.get(id)
    if (bill === undefined) this.#bills.set(id, (bill = new ToolBill(this.#call.trace, (usd) => this.#options.beforePurchase?.(this.#call, usd))))
    return bill
  }

  #report(id: string, { stage, cost, usage, sources }: PluginEffects): void {
    if (stage !== undefined) this.#tell(`${id}/${stage.name}`, stage)
    if (cost !== undefined && cost > 0) this.#billOf(id).pay(cost)
    for (const [counter, n] of Object.entries(usage ?? {})) this.#counts[counter] = (this.#counts[counter] ?? 0) + n
    if (sources !== undefined) this.sources.add(sources)
  }

  /** One stage per plugin and name: the latest, with the price of all. */
  #tell(key: string, stage: PipelineStage): void {
    const { pipeline } = this.#call.trace
    const before = this.#stages.get(key)
    const spent = (before?.cost_usd ?? 0) + (stage.cost_usd ?? 0)
    const priced = spent === 0 ? stage : { ...stage, cost_usd: roundUsd(spent) }
    const place = before === undefined ? -1 : pipeline.indexOf(before)
    if (place === -1) pipeline.push(priced)
    else pipeline[place] = priced
    this.#stages.set(key, priced)
  }

  /** Whether this event ends the answer without usage, to which the plugins' share must be added. */
  mustEstimate(last: ModelEvent | undefined): boolean {
    return last?.type === 'response-end' && last.usage === undefined && this.#hasShare && this.#call.trace.served !== undefined
  }

  /** The usage of the answer with the plugins' counters. Its cost, with theirs, goes into the trace. */
  settle(end: Extract<ModelEvent, { readonly type: 'response-end' }>): Usage | undefined {
    const usage = this.mustEstimate(end) ? this.#options.estimateUsage(this.#call) : end.usage
    if (usage !== undefined) this.#pay(usage)
    if (usage === undefined || Object.keys(this.#counts).length === 0) return usage
    const counted = addUsage(usage, createUsage({ serverToolUse: this.#counts }))
    return usage.raw === undefined ? counted : { ...counted, raw: usage.raw }
  }

  /** Whether the plugins have bought or counted anything. */
  get #hasShare(): boolean {
    return this.#bills.size > 0 || Object.keys(this.#counts).length > 0
  }

  /** An answer that broke after it had begun is paid for, and so is the plugins' work. Of one that had not begun, that work is noted alone. */
  broke(): void {
    const { trace } = this.#call
    const begun = trace.served?.firstTokenMs !== undefined
    if (begun || trace.cost !== undefined) this.#pay(trace.spentUsage ?? this.#options.estimateUsage(this.#call))
    if (!begun && this.#bills.size > 0) trace.extrasCost = this.withShare(trace.extrasCost ?? NO_COST)
  }

  /** Priced before the plugins' counters join the usage: their searches are not those of the model's provider, which have a price of their own. */
  #pay(usage: Usage): void {
    const { trace } = this.#call
    // Tools may have worked for an answer to which no model has added a word.
    if (!this.#hasShare || (trace.served === undefined && trace.cost === undefined)) return
    trace.cost = this.withShare(trace.cost ?? answerCost(this.#options.costOf, usage, trace))
  }

  /** A cost with what the plugins have bought and asked. */
  withShare(cost: Cost): Cost {
    let sum = cost
    for (const [id, bill] of this.#bills) {
      const { total, byok, source } = bill.spent.cost
      sum = withExtra(sum, id, total, byok, source)
    }
    return sum
  }
}

/** Ends work that listens to its signal with `timeout`. */
async function within<T>(ms: number, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  if (ms === Infinity) return work(signal)
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(new GatewayError('timeout', `The model did not answer within ${Math.ceil(ms / 1000)} s`)), ms)
  try {
    return await work(AbortSignal.any([signal, late.signal]))
  } finally {
    clearTimeout(timer)
  }
}

/** What several adapting plugins can do together. */
export function reachOf(adapting: readonly ActivePlugin[]): Pick<Adaptation, 'modalities' | 'shortensUpTo'> {
  return {
    modalities: [...new Set(adapting.flatMap(({ plugin, settings }) => plugin.adapts?.modalities?.(settings) ?? []))],
    shortensUpTo: Math.max(0, ...adapting.map(({ plugin, settings }) => plugin.adapts?.shortensUpTo?.(settings) ?? 0)),
  }
}
