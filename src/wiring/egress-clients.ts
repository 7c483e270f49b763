import { createEgress, type Egress, type EgressOptions } from '../lib/egress.ts'

/**
 * HTTP clients that differ in whether they may reach the private network, which a reload may change. Each is made once and serves all later
 * configurations, so reloads leave nothing behind and calls under way keep theirs.
 */
export class EgressClients {
  readonly #options: Omit<EgressOptions, 'allowPrivate'>
  readonly #open = new Map<boolean, Egress>()

  constructor(options: Omit<EgressOptions, 'allowPrivate'>) {
    this.#options = options
  }

  get(allowPrivate: boolean): Egress {
    let egress = this.#open.get(allowPrivate)
    if (egress === undefined) this.#open.set(allowPrivate, (egress = createEgress({ ...this.#options, allowPrivate })))
    return egress
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.values()].map((egress) => egress.close()))
  }
}
