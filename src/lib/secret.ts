import { inspect } from 'node:util'

/** A string that hides its value: in logs, JSON, templates and crash dumps it reads `[redacted]`. */
export class Secret {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
  }
  /** The value itself. Call this only where bytes are sent to the party that the secret belongs to. */
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
