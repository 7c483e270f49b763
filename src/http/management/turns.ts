import { GatewayError } from '../../core/error.ts'

export interface TurnLimits {
  /** Requests under way, of all workspaces together. */
  readonly atOnce: number
  /** The same of one workspace. */
  readonly ofOne: number
  /** Requests of one workspace that wait for their turn. */
  readonly waiting: number
}

/**
 * What reads and changes stored data holds a connection to the database, of which there are eight in a process: two are left to those who record
 * what was served and who look for revoked keys.
 */
const LIMITS: TurnLimits = { atOnce: 6, ofOne: 3, waiting: 1_000 }

interface Workspace {
  running: number
  readonly queue: (() => void)[]
}

/**
 * Requests for stored data take turns: whoever sends thousands at once waits for his own, and for nobody else's. Workspaces that wait are served one
 * after the other, whatever each of them wants.
 */
export class Turns {
  readonly #limits: TurnLimits
  /** Those who have something under way or waiting. */
  readonly #workspaces = new Map<string, Workspace>()
  #running = 0

  constructor(limits: TurnLimits = LIMITS) {
    this.#limits = limits
  }

  get size(): number {
    return this.#workspaces.size
  }

  /** Undefined: it may begin at once. Throws `rate_limit_exceeded`. Whoever has begun has to leave. */
  enter(id: string): Promise<void> | undefined {
    let workspace = this.#workspaces.get(id)
    if (workspace === undefined) this.#workspaces.set(id, (workspace = { running: 0, queue: [] }))
    if (this.#mayBegin(workspace)) {
      this.#begin(workspace)
      return undefined
    }
    const { queue } = workspace
    if (queue.length >= this.#limits.waiting)
      throw new GatewayError('rate_limit_exceeded', `${queue.length} requests of this workspace wait for their turn already`, { retryAfterMs: 1_000 })
    return new Promise((resolve) => queue.push(resolve))
  }

  leave(id: string): void {
    const workspace = this.#workspaces.get(id)!
    workspace.running--
    this.#running--
    if (workspace.running === 0 && workspace.queue.length === 0) this.#workspaces.delete(id)
    this.#next()
  }

  #mayBegin({ running }: Workspace): boolean {
    return this.#running < this.#limits.atOnce && running < this.#limits.ofOne
  }

  #begin(workspace: Workspace): void {
    workspace.running++
    this.#running++
  }

  #next(): void {
    if (this.#running >= this.#limits.atOnce) return
    for (const [id, workspace] of this.#workspaces) {
      if (workspace.queue.length === 0 || !this.#mayBegin(workspace)) continue
      this.#begin(workspace)
      workspace.queue.shift()!()
      // Behind all others.
      this.#workspaces.delete(id)
      this.#workspaces.set(id, workspace)
      return
    }
  }
}
