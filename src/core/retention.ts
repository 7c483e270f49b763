/** Data that grows with every call and is deleted by age. */
export const RETAINED = ['generations', 'content', 'activity', 'spend', 'deleted_destinations', 'answers'] as const
export type Retained = (typeof RETAINED)[number]

export interface Expired {
  readonly deleted: number
  /** There may be more to delete: call again. */
  readonly more: boolean
}

/** The store as seen by the component that deletes expired data. */
export interface RetentionStore {
  /**
   * Deletes some of the data older than `before` (milliseconds), about `limit` rows in one transaction, without reading them. Generations that wait
   * for a delivery, or have dead letters that may be replayed, are kept. Spending of current periods is kept, too. Cached answers have their own
   * expiry time and are deleted if it is before `before`.
   */
  expire(what: Retained, before: number, limit: number): Promise<Expired>
  /** Runs the work, unless another process is doing the same; then returns false. Processes with SQLite take turns anyway. */
  exclusively(work: () => Promise<void>): Promise<boolean>
}

/** The result of one round. */
export interface RetentionReport {
  readonly at: number
  readonly durationMs: number
  readonly deleted: { readonly [What in Retained]: number }
  /** The round ended before everything was deleted; the next one continues. */
  readonly unfinished: boolean
}
