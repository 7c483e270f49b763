import type { Call, Handler, Layer, Owner, Visibility } from '../core/call.ts'
import { servedModel } from '../core/endpoint-names.ts'
import type { Catalog, Endpoint, Pricing } from '../core/endpoint.ts'
import { GatewayError } from '../core/error.ts'
import type { ModelEvent } from '../core/event.ts'
import type { ServerTool } from '../core/extension.ts'
import type { ToolSource } from '../core/tool-source.ts'
import type { Cost } from '../core/generation.ts'
import type { FunctionTool, InputItem, OutputItem, Tool, ToolChoice } from '../core/item.ts'
import type { ModelRequest } from '../core/request.ts'
import type { Usage } from '../core/usage.ts'
import type { IdSource } from '../lib/id.ts'
import { modelNames, type RoutingDefaults } from '../router/plan.ts'
import { routedModels } from './call-route.ts'
import { fillIn, isLeftToCaller, outputOf } from './finished-calls.ts'
import type { Limits } from './limits.ts'
import { withCallersPath, withOwnTools } from './input-tools.ts'
import { askModel } from './tool-ask.ts'
import type { Offer } from './offered-tool.ts'
import { createToolRegistry, wantsTools, type ToolRegistry } from './tool-registry.ts'
import { allowFound, isLeftOut, relaxChoice } from './tool-choice.ts'
import { LoopLedger } from './tool-ledger.ts'
import { offerTools } from './tool-offer.ts'
import { runTools, type FinishedCall } from './tool-run.ts'
import { callBudget, DEFAULT_LOOP_LIMITS, MAX_PAUSES, stopReason, type LoopLimits, type StopReason } from './tool-stop.ts'
import { openSources, type OpenScene } from './tool-source.ts'
import { runnerOf, ToolStep, type PendingCall } from './tool-step.ts'
import { replayConversation } from './tool-suspension.ts'
import { unknownTool } from './unknown-tool.ts'
import { withoutPictures } from './unseen-pictures.ts'
import { untilWordless } from './until-wordless.ts'

export interface ToolLoopOptions {
  /** The gateway's tools; if there are none, the layer does nothing. */
  readonly tools?: () => readonly ServerTool[]
  /** Entries that stand for other servers' functions. Read again whenever `tools` returns another list. */
  readonly toolSources?: () => readonly ToolSource[]
  readonly toolLimits?: () => Partial<LoopLimits>
  readonly catalog: () => Catalog
  readonly defaults: (owner: Owner) => RoutingDefaults
  readonly costOf: (usage: Usage, pricing: Pricing) => Cost
  readonly newId: IdSource
  /** Throws when the caller may have no more of an answer that is under way. Absent: it may. */
  readonly mayGoOn?: (owner: Owner) => void
  /** Whether a call may buy something at this price. Absent: it may. */
  readonly beforePurchase?: Limits['beforePurchase']
}

/** Tools and limits as they are when a call begins. */
interface Room {
  readonly options: ToolLoopOptions
  readonly registry: ToolRegistry
  readonly limits: LoopLimits
  readonly newId: IdSource
}

/**
 * Runs server tools between turns of the model, within one answer. A call without such tools pays one look at its list of tools. Each turn passes
 * through the layers below by itself, and may fail over as long as nothing of that turn was shown.
 */
export function toolLoopLayer(options: ToolLoopOptions): Layer {
  let tools: readonly ServerTool[] | undefined
  let registry = createToolRegistry([])
  return (next) => (call) => {
    const current = options.tools?.() ?? []
    if (current !== tools) {
      tools = current
      registry = createToolRegistry(current, options.toolSources?.())
    }
    const request = withOwnTools(call.request, registry)
    if (!wantsTools(request, registry)) return next(call)
    const room = { options, registry, limits: { ...DEFAULT_LOOP_LIMITS, ...options.toolLimits?.() }, newId: options.newId }
    if (request === call.request) return new ToolLoop(room, next, call, false).run()
    return inPlace(new ToolLoop(room, next, { ...call, request }, false).run(), call.request, registry)
  }
}

/** If tools were moved here from the input, errors about them are told with their place there. */
async function* inPlace(answer: ReturnType<Handler>, request: ModelRequest, registry: ToolRegistry): ReturnType<Handler> {
  try {
    yield* answer
  } catch (error) {
    throw withCallersPath(error, request, registry)
  }
}

class ToolLoop {
  readonly #room: Room
  readonly #next: Handler
  readonly #call: Call
  readonly #nested: boolean
  readonly #ledger: LoopLedger
  #stopped: StopReason | undefined
  #complete = false

  constructor(room: Room, next: Handler, call: Call, nested: boolean) {
    this.#room = room
    this.#next = next
    this.#call = { ...call, catalogAtStart: call.catalogAtStart ?? room.options.catalog() }
    this.#nested = nested
    this.#ledger = new LoopLedger(call, room.options.costOf)
  }

  async *run(): AsyncGenerator<readonly ModelEvent[], void> {
    const call = this.#call
    const ledger = this.#ledger
    const planned = this.#offer()
    const opened = planned.pending.length === 0 ? { offer: planned, events: [] } : await openSources(planned, this.#opening())
    const { offer } = opened
    const unknown = unknownTool(offer, call.request)
    // Calls that the gateway runs are shown when they run, after the turn.
    const visibilityOf = (item: OutputItem): Visibility =>
      runnerOf(item, { offer, unknown }) === undefined ? (call.visibilityOf?.(item) ?? 'written') : 'hidden'
    const budget = callBudget(call.request)
    const replayed = replayConversation(call.request.input, offer, this.#room.registry)
    // What was opened is told with the model's first content: until then a failure is an HTTP error.
    let { input } = replayed
    let unsent = opened.events
    let { tools, choice } = offer
    // An endpoint that cannot be told, or does not obey, calls all the same; calls that the caller forbids are not run.
    const forbidden = choice === 'none'
    let final = budget === 0 || forbidden
    let step: ToolStep | undefined
    let request: ModelRequest = call.request
    try {
      if (replayed.due.length > 0) {
        const filled = yield* this.#runDue(replayed.due, unsent, input, offer, budget)
        if (filled === undefined) return
        input = filled
        unsent = []
        final = this.#mustStop(undefined) || forbidden
      }
      for (;;) {
        request = this.#request(input, tools, final ? 'none' : choice)
        step = new ToolStep({ offer, unknown, number: ++ledger.turns, sources: ledger.sources, newCallId: () => `call_${this.#room.newId(24)}` })
        for await (const events of untilWordless(this.#turn(request, visibilityOf), step, ledger)) {
          const shown = step.take(events)
          if (shown.length === 0) continue
          yield unsent.length > 0 ? [...unsent, ...shown] : shown
          unsent = []
        }
        ledger.account(step, request)
        if (step.paused && this.#goesOn(step)) {
          // The turn before was paused: it continues with what it has said, and may choose freely.
          input = [...input, ...step.items()]
          choice = relaxChoice(choice, offer, call.request.tool_choice)
          step = undefined
          continue
        }
        if (step.calls.length === 0 || (final && !step.mute)) break
        if (final) {
          tools = this.#disarm(request)
          continue
        }
        const transcript = [...input, ...step.items()]
        const finished = yield* this.#runCalls(step.calls, transcript, offer, budget)
        if (step.callerCalls > 0 || finished.some(isLeftToCaller)) break
        input = [...transcript, ...finished.map(outputOf)]
        const found = foundBy(finished, tools, offer)
        tools = [...tools, ...found]
        choice = allowFound(relaxChoice(choice, offer, call.request.tool_choice), found)
        final = this.#mustStop(step)
        step = undefined
      }
      this.#complete = true
      yield [...unsent, ledger.end(step, final)]
    } finally {
      if (!this.#complete) ledger.broken(step, request)
      ledger.trace(this.#stopped)
    }
  }

  /** Runs what must be done before the first turn. Returns the conversation with it; undefined if that waits for the caller, which ends the answer. */
  async *#runDue(
    due: readonly PendingCall[],
    unsent: readonly ModelEvent[],
    input: readonly InputItem[],
    offer: Offer,
    budget: number,
  ): AsyncGenerator<readonly ModelEvent[], readonly InputItem[] | undefined> {
    if (unsent.length > 0) yield unsent
    const finished = yield* this.#runCalls(due, input, offer, budget)
    if (!finished.some(isLeftToCaller)) return fillIn(input, finished)
    this.#complete = true
    yield [this.#ledger.end(undefined, false)]
    return undefined
  }

  #opening(): OpenScene {
    return { call: this.#call, newId: this.#room.newId, steps: this.#ledger.steps }
  }

  async *#runCalls(
    calls: readonly PendingCall[],
    transcript: readonly InputItem[],
    offer: Offer,
    budget: number,
  ): AsyncGenerator<readonly ModelEvent[], readonly FinishedCall[]> {
    const { limits, newId, options } = this.#room
    const ledger = this.#ledger
    options.mayGoOn?.(this.#call.owner)
    const finished = yield* runTools(calls, {
      call: this.#call,
      step: ledger.turns,
      budget: budget - ledger.requested,
      timeLeftMs: () => limits.wallMs - ledger.elapsedMs,
      // Calls that the caller approved one by one are allowed, and those that only go on.
      forbids: ({ offered, grant, resumed }) =>
        (grant ?? resumed) === undefined && offer.byFunction.get(offered.functionName) === offered && isLeftOut(offered, offer.choice),
      parallel: limits.parallel,
      transcript,
      deferred: offer.deferred,
      newId,
      steps: ledger.steps,
      bill: (call) => ledger.open(call, (usd) => options.beforePurchase?.(this.#call, usd)),
      ask: (inner, signal, terms, bill) => askModel(this.#inner(), this.#call, inner, signal, { ...terms, costOf: options.costOf, bill }),
    })
    ledger.settle(finished)
    return this.#sees() ? finished : withoutPictures(finished)
  }

  /** Whether the model sees pictures: at the endpoint that serves, or at any the call may go to; before the first turn, of the model asked first. */
  #sees(): boolean {
    const { served, candidates, rejected } = this.#call.trace
    const [first = []] = this.#models()
    if (served === undefined) return first.some(({ inputModalities }) => inputModalities.has('image'))
    const model = servedModel(served.endpoint)
    const others = candidates.filter((endpoint) => servedModel(endpoint) === model && !rejected.has(endpoint.id))
    return [served.endpoint, ...others].some(({ inputModalities }) => inputModalities.has('image'))
  }

  /** The endpoints of each model that may be asked, in order. */
  #models(): readonly (readonly Endpoint[])[] {
    const { options } = this.#room
    const names = modelNames(this.#call.request, options.defaults(this.#call.owner))
    return routedModels(names, options.catalog(), this.#call.catalogAtStart).map(({ endpoints }) => endpoints)
  }

  #mustStop(step: ToolStep | undefined): boolean {
    this.#stopped = stopReason(this.#call.request, this.#ledger.state(step), this.#room.limits)
    return this.#stopped !== undefined
  }

  /** Whether a provider that paused in the middle of its own tools is asked to continue. */
  #goesOn(step: ToolStep): boolean {
    if (this.#ledger.pauses === MAX_PAUSES || this.#mustStop(step)) return false
    this.#ledger.pauses++
    return true
  }

  #offer(): Offer {
    return offerTools(this.#call.request, { registry: this.#room.registry, endpoints: this.#models().flat(), nested: this.#nested })
  }

  /** The request of one turn. In the last turn the tools stay listed but forbidden, so that the cached prompt and the history stay valid. */
  #request(input: readonly InputItem[], tools: readonly Tool[], choice: ToolChoice | undefined): ModelRequest {
    const { tools: _, tool_choice: __, ...rest } = this.#call.request
    const served = this.#call.trace.served
    const obeys = served === undefined || served.endpoint.supports.has('tool_choice')
    if (tools.length === 0 || (choice === 'none' && !obeys)) return { ...rest, input }
    return { ...rest, input, tools, ...(choice === undefined ? {} : { tool_choice: choice }) }
  }

  /** The tools for repeating a last turn that was spent on forbidden calls alone: none. A model that only calls even then answers nothing. */
  #disarm({ tools }: ModelRequest): readonly Tool[] {
    if (tools !== undefined) return []
    const providerName = this.#call.trace.served?.endpoint.providerName ?? 'The provider'
    const message = `${providerName} sent an empty answer: nothing but calls of tools it was not given`
    throw new GatewayError('provider_unavailable', message, { source: 'provider', providerName })
  }

  #turn(request: ModelRequest, visibilityOf: (item: OutputItem) => Visibility) {
    // The caller was let in for the first one a moment ago; by the next minutes may have passed.
    if (this.#ledger.turns > 1 || this.#nested) this.#room.options.mayGoOn?.(this.#call.owner)
    const { served, attempts } = this.#call.trace
    const events = this.#next({ ...this.#call, request, visibilityOf, ...(served === undefined ? {} : { preferredEndpoint: served.endpoint.id }) })
    return { events, attempts }
  }

  /** The same layer for model calls of tools, without agents. */
  #inner(): Handler {
    return (call) => (wantsTools(call.request, this.#room.registry) ? new ToolLoop(this.#room, this.#next, call, true).run() : this.#next(call))
  }
}

/** Functions that a search found, appended to the list: what stands before them stays cached. */
function foundBy(finished: readonly FinishedCall[], tools: readonly Tool[], offer: Offer): readonly FunctionTool[] {
  const names = new Set(finished.flatMap(({ result }) => result.reveal ?? []))
  if (names.size === 0) return []
  const found = offer.deferred.filter(
    (tool) => names.has(tool.name) && !tools.some((known) => known.type === 'function' && known['name'] === tool.name),
  )
  return found.map((tool) => ({ ...tool, defer_loading: undefined }))
}
