import type { AttemptRecord, Call } from '../core/call.ts'
import { addCost, NO_COST, roundUsd, withExtra } from '../core/cost.ts'
import type { Pricing } from '../core/endpoint.ts'
import type { ModelEvent } from '../core/event.ts'
import type { Cost, GenerationStep, PipelineStage } from '../core/generation.ts'
import type { ModelRequest } from '../core/request.ts'
import { addUsage, createUsage, ZERO_USAGE, type Usage } from '../core/usage.ts'
import { answerCost, attemptCost } from './answer-cost.ts'
import { likelyUsage, ToolBill, type Admission } from './tool-bill.ts'
import { SourceBook } from './tool-citations.ts'
import type { FinishedCall } from './tool-run.ts'
import type { PendingCall, ToolStep } from './tool-step.ts'
import { RepeatDetector, type LoopState, type StopReason } from './tool-stop.ts'

/** What one loop has done and used so far: turns, calls, tokens, money, and what its tools have found. */
export class LoopLedger {
  /** Executions, in the order they started. */
  readonly steps: GenerationStep[] = []
  readonly sources = new SourceBook()
  /** Turns of the model, the current one included. */
  turns = 0
  /** Calls that were run or refused. */
  requested = 0
  /** Turns that the provider paused in the middle of its own tools, and that were continued. */
  pauses = 0
  /** An earlier turn has said something to the caller. */
  spoke = false
  readonly #call: Call
  readonly #costOf: (usage: Usage, pricing: Pricing) => Cost
  readonly #startedAt: number
  readonly #repeats = new RepeatDetector()
  readonly #called = new Set<string>()
  readonly #perTool: Record<string, number> = {}
  readonly #counts: Record<string, number> = {}
  /** Calls whose results the loop has not received yet. */
  readonly #open = new Map<PendingCall, ToolBill>()
  #usage: Usage = ZERO_USAGE
  #cost: Cost = NO_COST
  #toolTokens = 0
  #toolUsd = 0
  #executed = 0
  #failed = 0

  constructor(call: Call, costOf: (usage: Usage, pricing: Pricing) => Cost) {
    this.#call = call
    this.#costOf = costOf
    this.#startedAt = call.clock.monotonic()
  }

  get elapsedMs(): number {
    return this.#call.clock.monotonic() - this.#startedAt
  }

  /** A turn of the model is over. One that failed before its first content is not estimated: it costs what its provider has counted. */
  account(step: ToolStep, request: ModelRequest): void {
    this.spoke ||= step.spoke
    const { counting } = step
    if (!step.wordless) this.#add(step.end?.usage ?? likelyUsage(request, step.written, this.#call.trace))
    else if (counting?.counted !== undefined) this.#addTo(counting.counted, attemptCost(this.#costOf, counting.counted, counting), counting)
  }

  /** A call begins: its cost counts from now on, whatever becomes of it. */
  open(call: PendingCall, admit?: Admission): ToolBill {
    const bill = new ToolBill(this.#call.trace, admit)
    this.#open.set(call, bill)
    return bill
  }

  /** Tools have run, or were refused. */
  settle(finished: readonly FinishedCall[]): void {
    this.#payAll()
    for (const { call, result, executed } of finished) {
      const { offered, name } = call
      this.requested++
      for (const known of [name, offered.tool.name, offered.type, ...(offered.tool.knownAs ?? [])]) this.#called.add(known)
      // A call that is refused each time makes no progress, either.
      const { output } = result
      this.#repeats.add(name, call.arguments, typeof output === 'string' ? output : JSON.stringify(output), this.turns)
      if (!executed) continue
      if (result.error === undefined) this.#executed++
      else this.#failed++
      this.#perTool[offered.tool.name] = (this.#perTool[offered.tool.name] ?? 0) + 1
      for (const [counter, n] of Object.entries(result.usage ?? {})) this.#counts[counter] = (this.#counts[counter] ?? 0) + n
      this.sources.add(result.sources ?? [])
    }
  }

  /** The state after the tools of a turn, or after those that were due before the first turn. */
  state(step: ToolStep | undefined): LoopState {
    return {
      steps: this.turns,
      calls: this.requested,
      called: this.#called,
      tokens: this.#usage.totalTokens + this.#toolTokens,
      cost: this.#cost.total,
      reason: step === undefined ? 'tool_calls' : (step.end?.reason ?? 'stop'),
      nativeReason: step?.end?.nativeReason,
      elapsedMs: this.elapsedMs,
      repeats: this.#repeats.worst,
    }
  }

  /** The end of the answer, with the usage of all turns; without any turn if calls of an earlier answer wait for the caller again. */
  end(step: ToolStep | undefined, final: boolean): ModelEvent {
    this.#call.trace.cost = this.#cost
    if (step === undefined) return { type: 'response-end', reason: 'tool_calls', usage: this.#usageSoFar() }
    const { end } = step
    const reason = end?.reason ?? 'stop'
    return {
      type: 'response-end',
      // A call that the model was not allowed to make is nothing the caller could answer.
      reason: final && reason === 'tool_calls' && step.callerCalls === 0 ? 'stop' : reason,
      usage: this.#usageSoFar(),
      ...(end?.nativeReason === undefined ? {} : { nativeReason: end.nativeReason }),
      ...(end?.stopped === undefined ? {} : { stopped: end.stopped }),
      ...(end?.serviceTier === undefined ? {} : { serviceTier: end.serviceTier }),
    }
  }

  /** Cost and tokens of an answer that broke: those of earlier turns, and an estimate for the one that was being written. */
  broken(step: ToolStep | undefined, request: ModelRequest): void {
    // Content need not be text: vendors search, and models draw, call, and think in secret, before they say anything. It may be held back when the
    // caller leaves, too.
    if (step !== undefined && step.end === undefined && (step.worked || this.#call.trace.undeliveredTokens !== undefined))
      this.#add(likelyUsage(request, step.written, this.#call.trace))
    // What ran before the first turn has cost something, too.
    if (this.turns === 1 && this.requested === 0 && step?.end === undefined) return
    this.#payAll()
    this.#call.trace.spentUsage = this.#usageSoFar()
    this.#call.trace.cost = this.#cost
    if (this.turns === 0) this.#call.trace.extrasCost = this.#cost
  }

  /** Notes in the call's trace what was done. */
  trace(stopped: StopReason | undefined): void {
    if (this.requested === 0 && this.steps.length === 0) return
    const { trace } = this.#call
    trace.steps = [...(trace.steps ?? []), ...this.steps]
    trace.pipeline.push(this.#stage(stopped))
  }

  #payAll(): void {
    for (const [{ offered }, bill] of this.#open) {
      const { cost, tokens } = bill.spent
      this.#toolTokens += tokens
      this.#toolUsd += cost.total
      this.#cost = withExtra(this.#cost, offered.tool.name, cost.total, cost.byok, cost.source)
    }
    this.#open.clear()
    this.#tell()
  }

  /** If this call was made for a tool, its cost may be asked before it has ended. */
  #tell(): void {
    if (this.#call.trace.parent !== undefined) this.#call.trace.cost = this.#cost
  }

  #stage(stopped: StopReason | undefined): PipelineStage {
    const ending = stopped === undefined ? '' : `, stopped by ${stopped}`
    return {
      type: 'server_tools',
      name: 'server_tools',
      summary: `${this.requested} ${this.requested === 1 ? 'call' : 'calls'} in ${this.turns} ${this.turns === 1 ? 'turn' : 'turns'}${ending}`,
      data: {
        turns: this.turns,
        tool_calls_requested: this.requested,
        tool_calls_executed: this.#executed,
        tools: this.#perTool,
        ...(this.#failed === 0 ? {} : { tool_calls_failed: this.#failed }),
        ...(stopped === undefined ? {} : { stopped_by: stopped }),
      },
      cost_usd: roundUsd(this.#toolUsd),
    }
  }

  #add(usage: Usage): void {
    const { trace } = this.#call
    const { served } = trace
    // If several endpoints wrote it, each is priced already.
    this.#addTo(usage, served && answerCost(this.#costOf, usage, trace), trace.answerCost === undefined ? served : undefined)
  }

  /** `attempt`: whose cost it is, if it is that of a single attempt. */
  #addTo(usage: Usage, cost: Cost | undefined, attempt: AttemptRecord | undefined): void {
    const isFirst = this.turns === 1 && this.requested === 0
    this.#usage = isFirst ? usage : addUsage(this.#usage, usage)
    if (cost === undefined) return
    if (attempt !== undefined) attempt.costUsd = cost.total
    this.#cost = isFirst ? cost : addCost(this.#cost, cost)
    this.#tell()
  }

  #usageSoFar(): Usage {
    if (this.requested === 0) return this.#usage
    const own = createUsage({ serverToolUse: { tool_calls_requested: this.requested, tool_calls_executed: this.#executed, ...this.#counts } })
    return addUsage(this.#usage, own)
  }
}
