import type { Call } from '../core/call.ts'
import { abortReason } from './abort-reason.ts'

/** Admits the attempts of one call one after another, as each counts what the earlier ones were granted, and none once the call is over. */
export class AdmissionTurns {
  #last: Promise<unknown> | undefined
  #over = false

  run<T>({ signal }: Pick<Call, 'signal'>, admit: () => Promise<T>): Promise<T> {
    const admitted = (this.#last ?? Promise.resolve()).then(() => {
      if (this.#over) throw abortReason(signal)
      return admit()
    })
    const ended: Promise<unknown> = admitted
      .catch(() => undefined)
      .then(() => {
        if (this.#last === ended) this.#last = undefined
      })
    this.#last = ended
    return admitted
  }

  /**
   * Ends the call. A tool that was left behind may have an admission under way; booked after `settle` it would hold money for good, so `settle` waits
   * for it.
   */
  end(settle: () => void): void {
    this.#over = true
    if (this.#last === undefined) settle()
    else void this.#last.then(settle)
  }
}
