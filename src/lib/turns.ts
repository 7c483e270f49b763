/** What long work in pieces needs from its environment. */
export interface World {
  /** Milliseconds from an arbitrary start. */
  readonly now: () => number
  /** Lets other work run. */
  readonly rest: () => Promise<void>
}

/** How long one piece of work may keep other work waiting, in milliseconds. A single step may take longer. */
const TURN_MS = 10

/** Divides long work into short turns, and measures the time that it takes from other work. */
export class Turns {
  readonly #world: World
  readonly #maxBusyMs: number
  #began: number
  #busy = 0

  /** `maxBusyMs`: the most time that the work may use in total, in milliseconds. */
  constructor(world: World, maxBusyMs: number) {
    this.#world = world
    this.#maxBusyMs = maxBusyMs
    this.#began = world.now()
  }

  /** Whether other work should run now. */
  get due(): boolean {
    return this.#world.now() - this.#began >= TURN_MS
  }

  /** Whether the work has used all of its time. */
  get exhausted(): boolean {
    return this.#busy >= this.#maxBusyMs
  }

  async rest(): Promise<void> {
    this.#busy += this.#world.now() - this.#began
    await this.#world.rest()
    this.#began = this.#world.now()
  }
}
