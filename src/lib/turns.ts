/** What long work in pieces needs of the world around it. */
export interface World {
  /** Milliseconds, from any beginning. */
  readonly now: () => number
  /** Lets others have their turn. */
  readonly rest: () => Promise<void>
}

/** How long one piece of work keeps all others waiting. A single step may take longer. */
const TURN_MS = 10

/** The time a piece of work takes from others, in small portions. */
export class Turns {
  readonly #world: World
  readonly #maxBusyMs: number
  #began: number
  #busy = 0

  /** `maxBusyMs`: all it may take of the process's time. */
  constructor(world: World, maxBusyMs: number) {
    this.#world = world
    this.#maxBusyMs = maxBusyMs
    this.#began = world.now()
  }

  /** Whether others should have their turn now. */
  get due(): boolean {
    return this.#world.now() - this.#began >= TURN_MS
  }

  /** It has had all the time it may have. */
  get exhausted(): boolean {
    return this.#busy >= this.#maxBusyMs
  }

  async rest(): Promise<void> {
    this.#busy += this.#world.now() - this.#began
    await this.#world.rest()
    this.#began = this.#world.now()
  }
}
