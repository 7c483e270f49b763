interface OpenCall {
  readonly id: string
  readonly name: string
}

/** Calls that wait for their results. Many clients of this format send no ids: names tell what belongs together, and the order. */
export class OpenCalls {
  readonly #open: OpenCall[] = []
  readonly #used: ReadonlySet<string>
  #count = 0

  /** `used`: the ids that callers have written, which no other call may get. */
  constructor(used: ReadonlySet<string>) {
    this.#used = used
  }

  /** The id of a call. */
  call(id: string | null | undefined, name: string): string {
    const own = id || this.#next()
    this.#open.push({ id: own, name })
    return own
  }

  /** The id of the call a result is of. */
  result(id: string | null | undefined, name: string | null | undefined): string {
    const at = this.#indexOf(id, name)
    // One that nobody called for is mended behind the doors.
    return at < 0 ? id || this.#next() : this.#open.splice(at, 1)[0]!.id
  }

  #indexOf(id: string | null | undefined, name: string | null | undefined): number {
    const byId = id ? this.#open.findIndex((call) => call.id === id) : -1
    if (byId >= 0) return byId
    const byName = name ? this.#open.findIndex((call) => call.name === name) : 0
    return this.#open.length === 0 ? -1 : byName
  }

  #next(): string {
    let id
    do id = `call_${this.#count++}`
    while (this.#used.has(id))
    return id
  }
}
