import type { JsonObject } from './item.ts'
import type { BroadcastGroups, DeadLetter, DeliveryStatus, DestinationRecord } from './outbox.ts'

/** A destination as its owner may read it: every secret in `config` is masked, and defaults are filled in. */
export type DestinationView = Omit<DestinationRecord, 'revision'>

/** The input for a new destination. Absent fields take their defaults. */
export interface NewDestination {
  readonly workspaceId: string
  readonly type: string
  readonly name: string
  readonly config: JsonObject
  readonly enabled?: boolean | undefined
  readonly apiKeyHashes?: readonly string[] | null | undefined
  /** Unvalidated input; it is validated here. */
  readonly filterRules?: unknown
  readonly samplingRate?: number | undefined
  readonly privacyMode?: boolean | undefined
  readonly broadcast?: Partial<{ readonly [G in keyof BroadcastGroups]: boolean | undefined }>
}

/** Only the given fields change. `config` is merged key by key: null removes a key, a mask keeps the stored secret. */
export type DestinationChange = Partial<Omit<NewDestination, 'workspaceId' | 'type'>> & { readonly paused?: boolean }

export interface TestStep {
  readonly name: string
  readonly ok: boolean
  readonly status: number
  readonly latencyMs: number
  readonly message?: string
}

/** The result of a connection test or a sample delivery. If a step failed, it is the last one. */
export interface TestResult {
  readonly ok: boolean
  readonly steps: readonly TestStep[]
}

export interface DestinationStatusView extends DeliveryStatus {
  readonly enabled: boolean
  readonly paused: boolean
}

/**
 * Management of destinations. `scope` limits everything to one workspace, as if other destinations did not exist (`not_found`). Throws
 * `invalid_request` with the path of the invalid field, and `conflict` for too many destinations of a type and for lost races.
 */
export interface DestinationAccounts {
  create(destination: NewDestination): Promise<DestinationView>
  list(page: {
    readonly workspaceId: string
    readonly offset: number
    readonly limit: number
  }): Promise<{ readonly destinations: readonly DestinationView[]; readonly total: number }>
  get(id: string, scope?: string): Promise<DestinationView>
  update(id: string, change: DestinationChange, scope?: string): Promise<DestinationView>
  /** Erases the secrets and cancels queued deliveries. */
  remove(id: string, scope?: string): Promise<void>
  /** Tests whether the platform answers and accepts the credentials. Nothing is recorded. */
  test(id: string, scope?: string): Promise<TestResult>
  /** Sends a sample generation, labelled as a sample, without filters and queue. */
  sendTest(id: string, scope?: string): Promise<TestResult>
  status(id: string, scope?: string): Promise<DestinationStatusView>
  deadLetters(
    id: string,
    page: { readonly offset: number; readonly limit: number },
    scope?: string,
  ): Promise<{ readonly letters: readonly DeadLetter[]; readonly total: number }>
  /** Replays the given dead letters, or all if no ids are given. Returns how many. */
  replay(id: string, letters: readonly string[] | undefined, scope?: string): Promise<number>
  purge(id: string, letters: readonly string[] | undefined, scope?: string): Promise<number>
}
