import { inspect } from 'node:util'

/** A string that does not show itself: in logs, JSON, templates and crash dumps it reads `[redacted]`. */
export class Secret {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
  }
  /** The value itself; call it only where bytes leave for the party the secret belongs to. */
  reveal(): string {
    return this.#value
  }
  toString(): string {
    return '[redacted]'
  }
  toJSON(): string {
    return '[redacted]'
  }
  [inspect.custom](): string {
    return '[redacted]'
  }
}
