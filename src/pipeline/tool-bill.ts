import type { CallTrace } from '../core/call.ts'
import { addCost, NO_COST } from '../core/cost.ts'
import type { Cost } from '../core/generation.ts'
import type { ModelRequest } from '../core/request.ts'
import { createUsage, mendEstimate, type Usage } from '../core/usage.ts'
import { likelyPrompt } from '../router/estimate.ts'
import { payTool } from './answer-cost.ts'
import { CHARS_PER_TOKEN, likelyOutput, type Amount } from './written.ts'

/** What a model call has cost so far, whether it is running, ended or broke. */
export interface Spent {
  readonly cost: Cost
  readonly tokens: number
}

/** Undefined: nothing limits the caller's spending. */
export type Admission = (usd: number) => Promise<void> | undefined

/**
 * What one call of a tool costs: its own price and the model calls it makes. It can be read at any time, so nothing is forgotten of tools that fail,
 * run too long, or are left behind by a caller who has gone.
 */
export class ToolBill {
  readonly #modelCalls: (() => Spent)[] = []
  readonly #trace: CallTrace
  readonly #admit: Admission | undefined
  #price = 0
  #held = 0
  /** The expected price of what is being bought. */
  #asked = 0
  #over = false

  /** `admit` is asked before something is bought. Absent: there is enough money. */
  constructor(trace: CallTrace, admit?: Admission) {
    this.#trace = trace
    this.#admit = admit
  }

  /** The tool asks a model. */
  ask(soFar: () => Spent): void {
    this.#modelCalls.push(soFar)
  }

  /** Holds this much of the caller's remaining money until the real price is known. Throws GatewayError if less is left. */
  async afford(usd: number): Promise<void> {
    const admitted = this.#admit?.(usd)
    if (admitted !== undefined) {
      await admitted
      this.#held += usd
    }
    // The tool was given up meanwhile.
    if (this.#over) this.release()
    else this.#asked += usd
  }

  /** The caller has left. What is being bought was ordered, and its price is no longer going to be known. */
  leave(): void {
    this.pay(this.#asked)
  }

  /** Frees what was held and not spent. */
  release(): void {
    payTool(this.#trace, -this.#held)
    this.#held = 0
    this.#asked = 0
  }

  /** The real price of what was bought. */
  pay(usd: number): void {
    this.#price += usd
    payTool(this.#trace, usd)
    this.release()
  }

  /** The tool has ended, and costs this besides. */
  end(usd: number): void {
    this.#over = true
    this.pay(usd)
  }

  get spent(): Spent {
    const modelCalls = this.#modelCalls.map((soFar) => soFar())
    return {
      cost: modelCalls.reduce((sum, { cost }) => addCost(sum, cost), { ...NO_COST, total: this.#price }),
      tokens: modelCalls.reduce((sum, { tokens }) => sum + tokens, 0),
    }
  }
}

/** The likely usage of an answer in which this much was written, and of what nobody has read of it, if no usage is reported. */
function estimatedUsage(
  request: ModelRequest,
  written: Amount,
  { served, undeliveredTokens: unread = 0, undeliveredPictures: unseen = 0 }: CallTrace,
): Usage {
  const { chars, pictures } = written
  const { outputTokens, imageOutputTokens } = likelyOutput({ chars, pictures: pictures + unseen }, served?.endpoint)
  return createUsage({ ...likelyPrompt(request, served?.dropped), outputTokens: outputTokens + unread, imageOutputTokens, estimated: true })
}

/** The same for an answer whose upstream has counted a part of it. */
export const likelyUsage = (request: ModelRequest, written: Amount, trace: CallTrace): Usage =>
  mendEstimate(estimatedUsage(request, written, trace), trace.served?.counted)

/** The same for the output alone. */
export const writtenUsage = (chars: number): Usage => createUsage({ outputTokens: Math.ceil(chars / CHARS_PER_TOKEN), estimated: true })
