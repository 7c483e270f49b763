import type { AttemptRecord, Call } from '../core/call.ts'
import type { GatewayError } from '../core/error.ts'
import type { ModelEvent } from '../core/event.ts'
import type { InputItem } from '../core/item.ts'
import type { Outcome } from './attempt-outcome.ts'
import type { Route } from './call-route.ts'
import { timesPrice } from './tier-price.ts'

/**
 * Turns of a call that a model ended without content because it has nothing to add to the results of tools, the caller's or the gateway's. Vendors
 * document this, and that asking again does not help. Another endpoint may have something to say; if none does, the first of these turns is the
 * answer. After a user's message, and within a broken answer, an empty turn is no answer.
 */
export class WordlessTurns {
  readonly #call: Call
  readonly #route: Route
  readonly #records: AttemptRecord[] = []
  #answer: readonly ModelEvent[] | undefined

  constructor(call: Call, route: Route) {
    this.#call = call
    this.#route = route
  }

  /** The failure of an attempt, unchanged if it is no such turn; otherwise it leads to another endpoint. */
  notice(error: GatewayError, { record, held }: Outcome): GatewayError {
    if (error.details.wordless !== true || record === undefined || !this.#mayBeSilent()) return error
    this.#records.push(record)
    const { providerCode: nativeReason } = error.details
    const usage = record.counted && timesPrice(record.counted, record.tierFactor ?? 1)
    this.#answer ??= [
      ...held.flat().filter(({ type }) => type === 'response-start'),
      { type: 'response-end', reason: 'stop', ...(nativeReason === undefined ? {} : { nativeReason }), ...(usage === undefined ? {} : { usage }) },
    ]
    return error.with({ failover: 'next' })
  }

  /** Such a turn says nothing against its endpoint. */
  isOf({ record }: Outcome): boolean {
    return record !== undefined && this.#records.includes(record)
  }

  /** The answer, when there is nobody left to ask. Throws `final` if there is none. */
  insteadOf(final: unknown): readonly ModelEvent[] {
    const [record] = this.#records
    if (this.#answer === undefined || record === undefined || this.#call.signal.aborted) throw final
    delete record.counted
    delete record.error
    this.#call.trace.served = record
    return this.#answer
  }

  #mayBeSilent(): boolean {
    const { request, continuation } = this.#route
    return continuation?.original === undefined && followsResults(request.input)
  }
}

/** Whether results of tools follow the model's last item. */
function followsResults(input: readonly InputItem[]): boolean {
  const isResult = ({ type }: InputItem): boolean => type.endsWith('_output')
  const isCallers = (item: InputItem): boolean => isResult(item) || (item.type === 'message' && item['role'] !== 'assistant')
  return input.slice(input.findLastIndex((item) => !isCallers(item)) + 1).some(isResult)
}
