import type { InProcessTransport, SignableRequest } from '../core/provider.ts'
import { HttpFailure, type Exchange, type ResponseHead } from '../lib/http-client.ts'

/** An upstream that runs in this process, seen as an exchange, so that the same limits, framing and abort rules apply. */
export function exchangeInProcess(transport: InProcessTransport, request: SignableRequest): Exchange {
  const abort = new AbortController()
  let ended = false
  let failure: HttpFailure | undefined
  let cancelled: (failure: HttpFailure) => void = () => undefined
  const whenCancelled = new Promise<never>((_resolve, reject) => {
    cancelled = reject
  })
  whenCancelled.catch(() => undefined)
  const answer = transport(request, abort.signal)
  answer.catch(() => undefined)
  let body: AsyncIterator<Buffer> | undefined
  const rethrow = (error: unknown): never => {
    failure ??= error instanceof HttpFailure ? error : new HttpFailure('reset', 'the connection ended early', true, error)
    throw failure
  }
  return {
    head: Promise.race([answer, whenCancelled]).then(({ status, headers }): ResponseHead => ({ status, headers }), rethrow),
    async read() {
      if (failure !== undefined) throw failure
      if (ended) return undefined
      try {
        body ??= (await answer).body[Symbol.asyncIterator]()
        const next = await Promise.race([body.next(), whenCancelled])
        if (next.done !== true) return [next.value]
        ended = true
        return undefined
      } catch (error) {
        return rethrow(error)
      }
    },
    cancel() {
      if (ended || failure !== undefined) return
      failure = new HttpFailure('cancelled', 'cancelled', true)
      cancelled(failure)
      abort.abort(failure)
      void body?.return?.().catch(() => undefined)
    },
    get ended() {
      return ended
    },
  }
}
