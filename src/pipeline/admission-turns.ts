import type { Call } from '../core/call.ts'
import { abortReason } from './abort-reason.ts'

/** The admissions of one call go one after another, as each counts what those before it were granted; and none comes once the call is over. */
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

  /** The call is over. What a tool left behind has under way would hold money for good if it came after `settle`, which waits for it. */
  end(settle: () => void): void {
    this.#over = true
    if (this.#last === undefined) settle()
    else void this.#last.then(settle)
  }
}
