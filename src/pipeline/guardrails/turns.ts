/** What a scan needs of the world around it. */
export interface World {
  /** Milliseconds, from any beginning. */
  readonly now: () => number
  /** Lets others have their turn. */
  readonly rest: () => Promise<void>
}

/** How long one call keeps all others waiting. A single step may take longer. */
const TURN_MS = 10
/** Of the process's time, for one call. The largest body takes about 5 s of it where only built-in filters read it. */
const MAX_BUSY_MS = 10_000

/** The time a call takes from others, in small portions. */
export class Turns {
  readonly #world: World
  #began: number
  #busy = 0

  constructor(world: World) {
    this.#world = world
    this.#began = world.now()
  }

  /** Whether others should have their turn now. */
  get due(): boolean {
    return this.#world.now() - this.#began >= TURN_MS
  }

  /** The call has had all the time it may have. */
  get exhausted(): boolean {
    return this.#busy >= MAX_BUSY_MS
  }

  async rest(): Promise<void> {
    this.#busy += this.#world.now() - this.#began
    await this.#world.rest()
    this.#began = this.#world.now()
  }
}
