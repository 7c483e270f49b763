interface OpenCall {
  readonly id: string
  isOpen: boolean
}

/** Calls in order; each is looked at once, however many there are. */
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

/** Calls that wait for their results. Many clients of this format send no ids, so names and order decide which result belongs to which call. */
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

  /** Registers a call and returns its id. */
  call(id: string | null | undefined, name: string): string {
    const call = { id: id || this.#next(), isOpen: true }
    this.#all.add(call)
    queueIn(this.#byId, call.id).add(call)
    queueIn(this.#byName, name).add(call)
    return call.id
  }

  /** The id of the call that a result belongs to. */
  result(id: string | null | undefined, name: string | null | undefined): string {
    const call = (id ? this.#byId.get(id)?.first : undefined) ?? (name ? this.#byName.get(name) : this.#all)?.first
    // A later step repairs results without a call.
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
