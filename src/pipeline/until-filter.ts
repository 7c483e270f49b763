import { isGatewayError, type GatewayError } from '../core/error.ts'
import type { ModelEvent } from '../core/event.ts'
import type { ToolStep } from './tool-step.ts'

/**
 * The events of one turn. `spoken`: the caller has words of turns before it. Where a filter then stops this one before its first, the answer is not
 * taken back but ends there, as it does when a filter cuts it in the middle of a turn.
 */
export async function* untilFilter(
  turn: AsyncIterable<readonly ModelEvent[]>,
  step: ToolStep,
  spoken: boolean,
): AsyncGenerator<readonly ModelEvent[], void> {
  try {
    yield* turn
  } catch (error) {
    if (!spoken || step.spoke || step.chars > 0 || step.calls.length > 0 || !isFilter(error)) throw error
    step.endByFilter(error.details.providerCode)
  }
}

const isFilter = (error: unknown): error is GatewayError =>
  isGatewayError(error) && error.details.source === 'provider' && (error.errorType === 'content_policy_violation' || error.errorType === 'refusal')
