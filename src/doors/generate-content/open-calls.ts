interface OpenCall {
  readonly id: string
  isOpen: boolean
}

/** Calls in their order; looks at each once, however many there are. */
class Queue {
  readonly #calls: OpenCall[] = []
  #head = 0

  add(call: OpenCall): void {
    this.#calls.push(call)
  }

  /** The first that is open. */
  get first(): OpenCall | undefined {
    while (this.#head < this.#calls.length && !this.#calls[this.#head]!.isOpen) this.#head++
    return this.#calls[this.#head]
  }
}

/** Calls that wait for their results. Many clients of this format send no ids: names tell what belongs together, and the order. */
export class OpenCalls {
  readonly #all = new Queue()
  readonly #byId = new Map<string, Queue>()
  readonly #byName = new Map<string, Queue>()
  readonly #used: ReadonlySet<string>
  #count = 0

  /** `used`: the ids that callers have written, which no other call may get. */
  constructor(used: ReadonlySet<string>) {
    this.#used = used
  }

  /** The id of a call. */
  call(id: string | null | undefined, name: string): string {
    const call = { id: id || this.#next(), isOpen: true }
    this.#all.add(call)
    queueIn(this.#byId, call.id).add(call)
    queueIn(this.#byName, name).add(call)
    return call.id
  }

  /** The id of the call a result is of. */
  result(id: string | null | undefined, name: string | null | undefined): string {
    const call = (id ? this.#byId.get(id)?.first : undefined) ?? (name ? this.#byName.get(name) : this.#all)?.first
    // One that nobody called for is mended behind the doors.
    if (call === undefined) return id || this.#next()
    call.isOpen = false
    return call.id
  }

  #next(): string {
    let id
    do id = `call_${this.#count++}`
    while (this.#used.has(id))
    return id
  }
}

function queueIn(queues: Map<string, Queue>, key: string): Queue {
  let queue = queues.get(key)
  if (queue === undefined) queues.set(key, (queue = new Queue()))
  return queue
}
