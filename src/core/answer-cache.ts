import type { ModelEvent } from './event.ts'
import type { Strategy } from './strategy.ts'

/** What a caller wants of answers that were kept. */
export interface CacheWish {
  /** How long the answer to this call is kept, milliseconds. */
  readonly ttlMs: number
  /** A kept answer is not wanted: one is made anew, and takes its place. */
  readonly fresh: boolean
}

/** What came of that wish. */
export type CacheReport =
  | { readonly status: 'miss'; readonly ttlMs: number }
  /** `ttlMs`: what is left. `sourceId`: the generation that made the answer. */
  | { readonly status: 'hit'; readonly ttlMs: number; readonly ageMs: number; readonly sourceId: string }

/** An answer as its model gave it, free of any wire format, to be told again. */
export interface KeptAnswer {
  /** The generation that made it. */
  readonly sourceId: string
  /** Who served it: slug of the model, id of the endpoint. */
  readonly model: string
  readonly endpointId: string
  /** How its models were chosen. */
  readonly strategy: Strategy
  readonly keptAt: number
  readonly expiresAt: number
  readonly events: readonly ModelEvent[]
}

/** A kept answer as `Store` holds it. Reading it takes the secret key, and the digest of the request. */
export interface StoredAnswer {
  readonly key: string
  readonly workspaceId: string
  readonly sealed: string
  readonly expiresAt: number
}

export interface AnswerStore {
  /** The envelope of one that has not expired. */
  find(key: string, now: number): Promise<string | undefined>
  /** Takes the place of the one before. Throws GatewayError `not_found` when the workspace does not exist. */
  keep(answer: StoredAnswer): Promise<void>
  /** Deletes what has expired and then, the first to expire first, until those left are no larger than `maxBytes`. Resolves with how many. */
  trim(now: number, maxBytes: number): Promise<number>
}

/** Answers of earlier calls. Neither side ever fails a call: what cannot be read is not there, and what cannot be kept is not. */
export interface AnswerCache {
  /** False: nothing is kept here, and nobody is told about the cache. */
  readonly enabled: () => boolean
  find(key: string): Promise<KeptAnswer | undefined>
  keep(key: string, workspaceId: string, answer: KeptAnswer): Promise<void>
}
