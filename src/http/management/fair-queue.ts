import { GatewayError } from '../../core/error.ts'

export interface FairQueueLimits {
  /** Requests under way, of all workspaces together. */
  readonly atOnce: number
  /** The same of one workspace. */
  readonly ofOne: number
  /** Requests of one workspace that wait for their turn. */
  readonly waiting: number
}

/** A request for stored data holds one of the process's eight connections to the database. Two remain for recording calls and reading revoked keys. */
const LIMITS: FairQueueLimits = { atOnce: 6, ofOne: 3, waiting: 1_000 }

interface Workspace {
  running: number
  readonly queue: (() => void)[]
}

/**
 * Lets requests for stored data begin so that a workspace that sends thousands at once delays only its own. Waiting workspaces are served in rotation,
 * one request each.
 */
export class FairQueue {
  readonly #limits: FairQueueLimits
  /** Workspaces with requests under way or waiting. */
  readonly #workspaces = new Map<string, Workspace>()
  #running = 0

  constructor(limits: FairQueueLimits = LIMITS) {
    this.#limits = limits
  }

  get size(): number {
    return this.#workspaces.size
  }

  /** Undefined: the request may begin at once. Throws `rate_limit_exceeded`. Each request that has begun must `leave`. */
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
      // It moves behind all others.
      this.#workspaces.delete(id)
      this.#workspaces.set(id, workspace)
      return
    }
  }
}
