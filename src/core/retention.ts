/** What grows with every call and is given up by age. */
export const RETAINED = ['generations', 'content', 'activity', 'spend', 'deleted_destinations', 'answers'] as const
export type Retained = (typeof RETAINED)[number]

export interface Expired {
  readonly deleted: number
  /** There may be more: call again. */
  readonly more: boolean
}

/** The store as whoever keeps it within its bounds sees it. */
export interface RetentionStore {
  /**
   * Deletes some of what is older than `before` (milliseconds), about `limit` rows in one transaction, without reading them. Generations that
   * wait for a delivery, or died and may be replayed, stay; money of periods that run does, too. Answers have a time of their own: those
   * go whose time was over by then.
   */
  expire(what: Retained, before: number, limit: number): Promise<Expired>
  /** Runs the work unless another process is at it; false then. SQLite's processes take turns by themselves. */
  exclusively(work: () => Promise<void>): Promise<boolean>
}

/** What one round did. */
export interface RetentionReport {
  readonly at: number
  readonly durationMs: number
  readonly deleted: { readonly [What in Retained]: number }
  /** Ended before everything was deleted; the next round goes on. */
  readonly unfinished: boolean
}
