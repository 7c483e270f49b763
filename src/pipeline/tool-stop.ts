import type { FinishReason } from '../core/event.ts'
import { ownName } from '../core/own-names.ts'
import { MAX_TOOL_CALLS, type ModelRequest } from '../core/request.ts'

/** The state of a loop after the tools of a turn have run. */
export interface LoopState {
  /** Turns of the model whose tools have run. */
  readonly steps: number
  /** Calls of server tools that were run or refused, in all turns. */
  readonly calls: number
  /** All names of the tools called so far: function names, types, bare names. */
  readonly called: ReadonlySet<string>
  readonly tokens: number
  /** USD. */
  readonly cost: number
  readonly reason: FinishReason
  readonly nativeReason: string | undefined
  readonly elapsedMs: number
  /** In how many consecutive turns the same call has given the same result. */
  readonly repeats: number
}

export type StopReason =
  | 'max_tool_calls'
  | 'step_count_is'
  | 'has_tool_call'
  | 'max_tokens_used'
  | 'max_cost'
  | 'finish_reason_is'
  | 'repeated_call'
  | 'wall_time'
  | 'step_limit'

export interface LoopLimits {
  /** Milliseconds for all turns and tools together. */
  readonly wallMs: number
  /** Tool calls that run at the same time. */
  readonly parallel: number
}

export const DEFAULT_LOOP_LIMITS: LoopLimits = { wallMs: 10 * 60_000, parallel: 4 }

/** How often in a row a provider may pause in the middle of its own tools and be asked to continue. */
export const MAX_PAUSES = 10
/** Turns of a loop whose caller has replaced the budget by conditions that never fire. */
const MAX_STEPS = 100
/** The same call with the same result this often in a row is a loop without progress. */
const MAX_REPEATS = 3

/** Calls the request may spend; Infinity if conditions replace the budget. */
export function callBudget(request: ModelRequest): number {
  if (hasConditions(request)) return Infinity
  return Math.max(0, Math.min(request.max_tool_calls ?? MAX_TOOL_CALLS, MAX_TOOL_CALLS))
}

function hasConditions(request: ModelRequest): boolean {
  return request.stop_server_tools_when !== undefined && request.stop_server_tools_when.length > 0
}

/** The first reason to end the loop, checked after the tools of a turn have run; undefined if the model goes on with its tools. */
export function stopReason(request: ModelRequest, state: LoopState, limits: LoopLimits): StopReason | undefined {
  for (const condition of request.stop_server_tools_when ?? []) if (holds(condition, state)) return condition.type as StopReason
  if (state.calls >= callBudget(request)) return 'max_tool_calls'
  if (state.repeats >= MAX_REPEATS) return 'repeated_call'
  if (state.elapsedMs >= limits.wallMs) return 'wall_time'
  return state.steps >= MAX_STEPS ? 'step_limit' : undefined
}

type Condition = NonNullable<ModelRequest['stop_server_tools_when']>[number]

function holds(condition: Condition, state: LoopState): boolean {
  switch (condition.type) {
    case 'step_count_is':
      return state.steps >= Number(condition['step_count'])
    case 'has_tool_call': {
      const name = String(condition['tool_name'])
      return state.called.has(name) || state.called.has(ownName(name) ?? name)
    }
    case 'max_tokens_used':
      return state.tokens > Number(condition['max_tokens'])
    case 'max_cost':
      return state.cost > Number(condition['max_cost_in_dollars'])
    case 'finish_reason_is':
      return state.reason === condition['reason'] || state.nativeReason === condition['reason']
    default:
      return false
  }
}

/**
 * Counts consecutive turns whose results repeat an earlier one of the same call: polling that changes is fine, standing still is not. If something
 * was learned in between it is no repetition: tests that are run again after each change may pass again.
 */
export class RepeatDetector {
  readonly #seen = new Map<string, { readonly output: string; readonly times: number; readonly turn: number }>()
  /** The last two turns in which a call was new or had a new result. */
  #news: readonly [number, number] = [-1, -1]
  #worst = 0

  /** Two equal calls in one turn are no repetition: neither had a result when they were made. */
  add(name: string, args: string, output: string, turn: number): void {
    const key = `${name}\u0000${args}`
    const seen = this.#seen.get(key)
    const isSame = seen !== undefined && seen.output === output
    if (isSame && seen.turn === turn) return
    const times = isSame && !this.#learned(seen.turn, turn) ? seen.times + 1 : 1
    if (!isSame && this.#news[1] !== turn) this.#news = [this.#news[1], turn]
    this.#seen.set(key, { output, times, turn })
    this.#worst = Math.max(this.#worst, times)
  }

  /** Whether a turn between the two brought anything new. */
  #learned(after: number, before: number): boolean {
    return this.#news.some((turn) => turn > after && turn < before)
  }

  get worst(): number {
    return this.#worst
  }
}
