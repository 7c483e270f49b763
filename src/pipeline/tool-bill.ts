import type { CallTrace } from '../core/call.ts'
import { addCost, NO_COST } from '../core/cost.ts'
import type { Cost } from '../core/generation.ts'
import type { ModelRequest } from '../core/request.ts'
import { createUsage, type Usage } from '../core/usage.ts'
import { estimateRequest } from '../router/estimate.ts'
import { payTool } from './answer-cost.ts'

/** What a model call has come to by now, whether it goes on, has ended or broke. */
export interface Spent {
  readonly cost: Cost
  readonly tokens: number
}

/**
 * What one call of a tool costs: its own price and the model calls it makes. It can be read at any time, so that nothing is forgotten of
 * tools that fail, run too long, or are left behind by a caller who has gone.
 */
export class ToolBill {
  readonly #asked: (() => Spent)[] = []
  readonly #trace: CallTrace
  #price = 0

  constructor(trace: CallTrace) {
    this.#trace = trace
  }

  /** The tool asks a model. */
  ask(soFar: () => Spent): void {
    this.#asked.push(soFar)
  }

  /** The tool says what it costs besides. */
  price(usd: number): void {
    this.#price = usd
    payTool(this.#trace, usd)
  }

  get spent(): Spent {
    const asked = this.#asked.map((soFar) => soFar())
    return {
      cost: asked.reduce((sum, { cost }) => addCost(sum, cost), { ...NO_COST, total: this.#price }),
      tokens: asked.reduce((sum, { tokens }) => sum + tokens, 0),
    }
  }
}

const CHARS_PER_TOKEN = 4

/** What an answer of so many characters, and so many tokens that nobody has read, has probably used, when nobody says. */
export function estimatedUsage(request: ModelRequest, chars: number, unread = 0): Usage {
  const outputTokens = Math.ceil(chars / CHARS_PER_TOKEN) + unread
  return createUsage({ inputTokens: estimateRequest(request).inputTokens, outputTokens, estimated: true })
}
