import type { ModelEvent } from './event.ts'
import type { Strategy } from './strategy.ts'

/** How a caller wants to use the answer cache. */
export interface CachePreferences {
  /** How long to keep the answer to this call, in milliseconds. */
  readonly ttlMs: number
  /** Ignore a kept answer: a new one is generated and replaces it. */
  readonly fresh: boolean
}

/** The result of the cache lookup. */
export type CacheReport =
  | { readonly status: 'miss'; readonly ttlMs: number }
  /** `ttlMs`: the remaining time. `sourceId`: the generation that produced the answer. */
  | { readonly status: 'hit'; readonly ttlMs: number; readonly ageMs: number; readonly sourceId: string }

/** A model's answer, independent of any wire format, that can be replayed. */
export interface KeptAnswer {
  /** The generation that produced it. */
  readonly sourceId: string
  /** The slug of the model and the id of the endpoint that served it. */
  readonly model: string
  readonly endpointId: string
  /** How the models of that call were chosen. */
  readonly strategy: Strategy
  readonly keptAt: number
  readonly expiresAt: number
  readonly events: readonly ModelEvent[]
}

/** A kept answer as `Store` holds it. Reading it requires the secret key and the digest of the request. */
export interface StoredAnswer {
  readonly key: string
  readonly workspaceId: string
  readonly sealed: string
  readonly expiresAt: number
}

export interface AnswerStore {
  /** The envelope of an answer that has not expired. */
  find(key: string, now: number): Promise<string | undefined>
  /** Replaces an earlier answer with the same key. Throws GatewayError `not_found` if the workspace does not exist. */
  keep(answer: StoredAnswer): Promise<void>
  /** Deletes expired answers, and then those that expire first, until the rest is no larger than `maxBytes`. Resolves with the number deleted. */
  trim(now: number, maxBytes: number): Promise<number>
}

/** Answers of earlier calls. Neither method ever fails a call: an answer that cannot be read counts as absent, and one that cannot be kept is not kept. */
export interface AnswerCache {
  /** False: no answers are kept here, and callers see nothing of the cache. */
  readonly enabled: () => boolean
  find(key: string): Promise<KeptAnswer | undefined>
  keep(key: string, workspaceId: string, answer: KeptAnswer): Promise<void>
}
