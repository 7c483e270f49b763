import type { Call, Handler, Layer } from '../core/call.ts'
import { addCost, NO_COST, withExtra } from '../core/cost.ts'
import type { Catalog, Pricing } from '../core/endpoint.ts'
import type { ModelEvent } from '../core/event.ts'
import type { ServerTool } from '../core/extension.ts'
import type { Cost, GenerationStep } from '../core/generation.ts'
import type { InputItem, Tool, ToolChoice } from '../core/item.ts'
import type { ModelRequest } from '../core/request.ts'
import { addUsage, createUsage, ZERO_USAGE, type Usage } from '../core/usage.ts'
import type { IdSource } from '../lib/id.ts'
import { estimateRequest } from '../router/estimate.ts'
import type { RoutingDefaults } from '../router/plan.ts'
import { askModel } from './tool-ask.ts'
import { SourceBook } from './tool-citations.ts'
import { replayHistory } from './tool-history.ts'
import { createToolBelt, offerTools, wantsTools, type Offer, type ToolBelt } from './tool-offer.ts'
import { runTools, type FinishedCall } from './tool-run.ts'
import { callBudget, DEFAULT_LOOP_LIMITS, RepeatDetector, stopReason, type LoopLimits, type StopReason } from './tool-stop.ts'
import { ToolStep } from './tool-step.ts'

export interface ToolLoopOptions {
  /** Tools of the gateway; none: the layer does nothing. */
  readonly tools?: () => readonly ServerTool[]
  readonly toolLimits?: () => Partial<LoopLimits>
  readonly catalog: () => Catalog
  readonly defaults: () => RoutingDefaults
  readonly costOf: (usage: Usage, pricing: Pricing) => Cost
  readonly newId: IdSource
}

/** Tools and limits as they are when a call begins. */
interface Room {
  readonly options: ToolLoopOptions
  readonly belt: ToolBelt
  readonly limits: LoopLimits
  readonly newId: IdSource
}

/**
 * Runs server tools between turns of the model, inside one answer. A call without such tools pays one look at its list of tools.
 * Each turn is a pass of its own through the layers below, which may fail over as long as nothing of that turn was shown.
 */
export function toolLoopLayer(options: ToolLoopOptions): Layer {
  let tools: readonly ServerTool[] | undefined
  let belt = createToolBelt([])
  return (next) => (call) => {
    const current = options.tools?.() ?? []
    if (current !== tools) {
      tools = current
      belt = createToolBelt(current)
    }
    if (!wantsTools(call.request, belt)) return next(call)
    return new ToolLoop(
      { options, belt, limits: { ...DEFAULT_LOOP_LIMITS, ...options.toolLimits?.() }, newId: options.newId },
      next,
      call,
      false,
    ).run()
  }
}

class ToolLoop {
  readonly #room: Room
  readonly #next: Handler
  readonly #call: Call
  readonly #nested: boolean
  readonly #steps: GenerationStep[] = []
  readonly #sources = new SourceBook()
  readonly #repeats = new RepeatDetector()
  readonly #called = new Set<string>()
  readonly #perTool: Record<string, number> = {}
  readonly #counts: Record<string, number> = {}
  #usage: Usage = ZERO_USAGE
  #cost: Cost = NO_COST
  #toolTokens = 0
  #requested = 0
  #executed = 0
  #turns = 0
  #stopped: StopReason | undefined
  #complete = false

  constructor(room: Room, next: Handler, call: Call, nested: boolean) {
    this.#room = room
    this.#next = next
    this.#call = call
    this.#nested = nested
  }

  async *run(): AsyncGenerator<readonly ModelEvent[], void> {
    const call = this.#call
    const startedAt = call.clock.monotonic()
    const offer = this.#offer()
    const budget = callBudget(call.request)
    let tools = offer.tools
    let input = replayHistory(call.request.input, offer)
    let choice = offer.choice
    let final = budget === 0
    let step: ToolStep | undefined
    let request: ModelRequest = call.request
    try {
      for (;;) {
        request = this.#request(input, tools, final ? 'none' : choice)
        step = new ToolStep({ offer, number: ++this.#turns, sources: this.#sources, newCallId: () => `call_${this.#room.newId(24)}` })
        for await (const events of this.#next(this.#stepCall(request))) {
          const shown = step.take(events)
          if (shown.length > 0) yield shown
        }
        this.#account(step, request)
        if (final || step.calls.length === 0) break
        const transcript = [...input, ...step.items()]
        const finished = yield* runTools(step.calls, {
          call,
          step: this.#turns,
          budget: budget - this.#requested,
          timeLeftMs: this.#room.limits.wallMs - (call.clock.monotonic() - startedAt),
          parallel: this.#room.limits.parallel,
          transcript,
          deferred: offer.deferred,
          newId: this.#room.newId,
          steps: this.#steps,
          ask: (inner, signal, options) => askModel(this.#inner(), call, inner, signal, options, this.#room.options.costOf),
        })
        this.#settle(finished)
        if (step.callerCalls > 0 || finished.some(({ result }) => result.handBack !== undefined)) break
        input = [
          ...transcript,
          ...finished.map(({ call: { callId }, result }) => ({ type: 'function_call_output' as const, call_id: callId, output: result.output })),
        ]
        tools = reveal(tools, offer, finished)
        choice = relax(choice, offer)
        this.#stopped = stopReason(
          call.request,
          {
            steps: this.#turns,
            calls: this.#requested,
            called: this.#called,
            tokens: this.#usage.totalTokens + this.#toolTokens,
            cost: this.#cost.total,
            reason: step.end?.reason ?? 'stop',
            nativeReason: step.end?.nativeReason,
            elapsedMs: call.clock.monotonic() - startedAt,
            repeats: this.#repeats.worst,
          },
          this.#room.limits,
        )
        final = this.#stopped !== undefined
        step = undefined
      }
      this.#complete = true
      yield [this.#end(step, final)]
    } finally {
      if (!this.#complete) this.#broken(step, request)
      this.#trace()
    }
  }

  #offer(): Offer {
    const { options, belt } = this.#room
    const { request } = this.#call
    const catalog = options.catalog()
    const names = [request.model, ...(request.models ?? [])].filter((name) => name !== undefined)
    if (names.length === 0) names.push(options.defaults().model ?? '')
    return offerTools(request, { belt, endpoints: names.flatMap((name) => catalog.find(name)?.endpoints ?? []), nested: this.#nested })
  }

  /** The request of one turn. Tools stay in the list of the last turn, forbidden, so that the cached prompt and the history stay valid. */
  #request(input: readonly InputItem[], tools: readonly Tool[], choice: ToolChoice | undefined): ModelRequest {
    const { tools: _, tool_choice: __, ...rest } = this.#call.request
    const served = this.#call.trace.served
    const obeys = served === undefined || served.endpoint.supports.has('tool_choice')
    if (tools.length === 0 || (choice === 'none' && !obeys)) return { ...rest, input }
    return { ...rest, input, tools, ...(choice === undefined ? {} : { tool_choice: choice }) }
  }

  #stepCall(request: ModelRequest): Call {
    const { served } = this.#call.trace
    return { ...this.#call, request, ...(served === undefined ? {} : { preferredEndpoint: served.endpoint.id }) }
  }

  /** The same layer for model calls of tools, without agents. */
  #inner(): Handler {
    return (call) => (wantsTools(call.request, this.#room.belt) ? new ToolLoop(this.#room, this.#next, call, true).run() : this.#next(call))
  }

  #account(step: ToolStep, request: ModelRequest): void {
    const usage = step.end?.usage ?? estimate(step, request)
    this.#add(usage)
  }

  #add(usage: Usage): void {
    const served = this.#call.trace.served
    this.#usage = this.#turns === 1 ? usage : addUsage(this.#usage, usage)
    if (served === undefined) return
    const cost = this.#room.options.costOf(usage, served.endpoint.pricing)
    this.#cost = this.#turns === 1 ? cost : addCost(this.#cost, cost)
  }

  #settle(finished: readonly FinishedCall[]): void {
    for (const { call, result, executed } of finished) {
      const { offered, name } = call
      this.#requested++
      for (const known of [name, offered.tool.name, offered.type]) this.#called.add(known)
      if (!executed) continue
      if (result.error === undefined) this.#executed++
      this.#perTool[offered.tool.name] = (this.#perTool[offered.tool.name] ?? 0) + 1
      for (const [counter, n] of Object.entries(result.usage ?? {})) this.#counts[counter] = (this.#counts[counter] ?? 0) + n
      this.#repeats.add(name, call.arguments, typeof result.output === 'string' ? result.output : JSON.stringify(result.output))
      this.#toolTokens += result.tokens ?? 0
      this.#cost = withExtra(this.#cost, offered.tool.name, result.cost ?? 0)
      this.#sources.add(result.sources ?? [])
    }
  }

  #usageSoFar(): Usage {
    if (this.#requested === 0) return this.#usage
    const own = createUsage({ serverToolUse: { tool_calls_requested: this.#requested, tool_calls_executed: this.#executed, ...this.#counts } })
    return addUsage(this.#usage, own)
  }

  #end(step: ToolStep, final: boolean): ModelEvent {
    this.#call.trace.cost = this.#cost
    const { end } = step
    const reason = end?.reason ?? 'stop'
    return {
      type: 'response-end',
      // A call the model was not allowed any more is nothing the caller could answer.
      reason: final && reason === 'tool_calls' && step.callerCalls === 0 ? 'stop' : reason,
      usage: this.#usageSoFar(),
      ...(end?.nativeReason === undefined ? {} : { nativeReason: end.nativeReason }),
      ...(end?.serviceTier === undefined ? {} : { serviceTier: end.serviceTier }),
    }
  }

  /** Money and tokens of an answer that broke: what earlier turns used, and an estimate of the one that was being written. */
  #broken(step: ToolStep | undefined, request: ModelRequest): void {
    if (step !== undefined && step.end === undefined && step.chars > 0) this.#add(estimate(step, request))
    if (this.#turns === 1 && step?.end === undefined) return
    this.#call.trace.spent = this.#usageSoFar()
    this.#call.trace.cost = this.#cost
  }

  #trace(): void {
    if (this.#requested === 0 && this.#steps.length === 0) return
    const { trace } = this.#call
    trace.steps = [...(trace.steps ?? []), ...this.#steps]
    const failed = this.#steps.filter(({ errorType }) => errorType !== undefined).length
    const extras = this.#cost.extras ?? {}
    const spent = Object.keys(this.#perTool).reduce((sum, tool) => sum + (extras[tool] ?? 0), 0)
    trace.pipeline.push({
      type: 'server_tools',
      name: 'server_tools',
      summary: `${this.#requested} ${this.#requested === 1 ? 'call' : 'calls'} in ${this.#turns} ${this.#turns === 1 ? 'turn' : 'turns'}${this.#stopped === undefined ? '' : `, stopped by ${this.#stopped}`}`,
      data: {
        turns: this.#turns,
        tool_calls_requested: this.#requested,
        tool_calls_executed: this.#executed,
        tools: this.#perTool,
        ...(failed === 0 ? {} : { tool_calls_failed: failed }),
        ...(this.#stopped === undefined ? {} : { stopped_by: this.#stopped }),
      },
      cost_usd: spent,
    })
  }
}

const CHARS_PER_TOKEN = 4

/** What a turn has probably used, when nobody says. */
function estimate(step: ToolStep, request: ModelRequest): Usage {
  return createUsage({ inputTokens: estimateRequest(request).inputTokens, outputTokens: Math.ceil(step.chars / CHARS_PER_TOKEN), estimated: true })
}

/** Functions a search has found join the end of the list: what stands before them stays cached. */
function reveal(tools: readonly Tool[], offer: Offer, finished: readonly FinishedCall[]): readonly Tool[] {
  const names = new Set(finished.flatMap(({ result }) => result.reveal ?? []))
  if (names.size === 0) return tools
  const found = offer.deferred.filter(
    (tool) => names.has(tool.name) && !tools.some((known) => known.type === 'function' && known['name'] === tool.name),
  )
  return [...tools, ...found.map((tool) => ({ ...tool, defer_loading: undefined }))]
}

/** A forced server tool has been called: forcing it again would never end. */
function relax(choice: ToolChoice | undefined, offer: Offer): ToolChoice | undefined {
  if (choice === 'required') return 'auto'
  if (typeof choice !== 'object') return choice
  if (choice.type === 'function') return offer.byFunction.has(String((choice as { readonly name?: unknown }).name)) ? 'auto' : choice
  return choice.type === 'allowed_tools' && (choice as { readonly mode?: unknown }).mode === 'required' ? { ...choice, mode: 'auto' } : choice
}
