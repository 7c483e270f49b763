import type { AttemptRecord } from '../core/call.ts'
import { isGatewayError, type GatewayError } from '../core/error.ts'
import type { FinishReason, ModelEvent } from '../core/event.ts'
import type { ToolStep } from './tool-step.ts'

/** What the turns before this one have done. */
interface Before {
  /** The caller has text from them. */
  readonly spoke: boolean
  /** Calls of tools that were run or refused. */
  readonly requested: number
  /** Turns the provider paused in the middle of its own tools. */
  readonly pauses: number
}

/** One turn of the model. */
interface Turn {
  readonly events: AsyncIterable<readonly ModelEvent[]>
  /** All attempts of the call, those of this turn last. */
  readonly attempts: readonly AttemptRecord[]
}

/**
 * The events of one turn. If it fails before its first content, and turns before it have given the caller something, the answer is not withdrawn but
 * ends there: a filter may stop it between turns as it does within one, and a model may have nothing to add to what its tools did. What its provider
 * has counted for it is paid like the turns before.
 */
export async function* untilWordless({ events, attempts }: Turn, step: ToolStep, before: Before): AsyncGenerator<readonly ModelEvent[], void> {
  const tried = attempts.length
  try {
    yield* events
  } catch (error) {
    const reason = endOf(error, before)
    if (reason === undefined || step.begun) throw error
    const counting = attempts.slice(tried).findLast(({ counted }) => counted !== undefined)
    step.endWithoutWords(reason, (error as GatewayError).details.providerCode, counting)
  }
}

function endOf(error: unknown, { spoke, requested, pauses }: Before): FinishReason | undefined {
  if (!isGatewayError(error) || error.details.source !== 'provider') return undefined
  if (error.details.wordless === true) return requested + pauses > 0 ? 'stop' : undefined
  return spoke && (error.errorType === 'content_policy_violation' || error.errorType === 'refusal') ? 'content_filter' : undefined
}
