interface Turn<Call> {
  readonly number: number
  readonly calls: Call[]
  /** How many of its calls have been taken. */
  taken: number
}

/**
 * Calls that wait for their output, by id. Ids are not always unique: some servers restart them with every turn, some give parallel calls the same
 * one. An output belongs to the latest turn that waits for its id, and within it to the first call.
 */
export class OpenCalls<Call> {
  /** By id, the turns with waiting calls, latest last, so that a search stays short even if one id is repeated a hundred thousand times. */
  readonly #waiting = new Map<string, Turn<Call>[]>()
  #turn = 0

  add(id: string, call: Call): void {
    let turns = this.#waiting.get(id)
    if (turns === undefined) this.#waiting.set(id, (turns = []))
    const last = turns.at(-1)
    if (last?.number === this.#turn) last.calls.push(call)
    else turns.push({ number: this.#turn, calls: [call], taken: 0 })
  }

  /** Somebody other than the model spoke: later calls belong to another turn. */
  endTurn(): void {
    this.#turn++
  }

  take(id: string): Call | undefined {
    const turns = this.#waiting.get(id)
    const last = turns?.at(-1)
    if (turns === undefined || last === undefined) return undefined
    const call = last.calls[last.taken++]
    if (last.taken === last.calls.length) turns.pop()
    return call
  }

  /** Calls without an answer. */
  get left(): Call[] {
    return [...this.#waiting.values()].flatMap((turns) => turns.flatMap(({ calls, taken }) => calls.slice(taken)))
  }
}
