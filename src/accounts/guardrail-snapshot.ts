import { setImmediate as turn } from 'node:timers/promises'
import type { Authenticator } from '../core/account.ts'
import type { Owner } from '../core/call.ts'
import { GatewayError } from '../core/error.ts'
import type { AppliedGuardrail, ConfiguredGuardrail, GuardrailAssignment, Guardrails, StoredGuardrail } from '../core/guardrail.ts'
import type { Store } from '../core/store.ts'
import type { Clock } from '../lib/clock.ts'
import { uuidFromId } from '../lib/derived-id.ts'
import type { LastKnownGood } from './known-file.ts'
import type { KnownGuardrails } from './last-known-good.ts'
import { createRememberedCopy, UNKNOWN_RETRY_MS, type CopyStart } from './remembered-copy.ts'

export interface GuardrailSnapshotOptions {
  readonly store: { readonly version: Store['version']; readonly guardrails: Pick<Store['guardrails'], 'list' | 'assignments'> }
  readonly authenticator: Pick<Authenticator, 'workspace'>
  readonly clock: Clock
  /** The guardrails of the configuration, and whether calls are served while the stored ones are unknown. */
  readonly config: () => { readonly rules: readonly ConfiguredGuardrail[]; readonly whenUnknown: 'allow' | 'refuse' }
  /** For a start without the database: what was forbidden stays forbidden. */
  readonly lastKnownGood?: LastKnownGood<KnownGuardrails>
  readonly pollMs?: number
}

/** Guardrails in memory, for the hot path. They follow the database like the API keys do, and stay in force when it is unavailable. */
export interface GuardrailSnapshot extends Guardrails {
  /** Reads the store and then follows it. Rejects if it cannot be read, but continues to follow it. */
  start(start?: CopyStart): Promise<void>
  refresh(): Promise<void>
  close(): Promise<void>
}

/** The id of the guardrail that applies to all calls of a workspace; it is the same before and after it is stored. */
export const defaultGuardrailId = (workspaceId: string): string => uuidFromId(`default guardrail of ${workspaceId}`)

export function createGuardrailSnapshot(options: GuardrailSnapshotOptions): GuardrailSnapshot {
  const { store } = options
  let byId = new Map<string, StoredGuardrail>()
  let byKey = new Map<string, GuardrailAssignment>()
  let known = false
  /** Compiled once per owner: the snapshot of keys creates new owner objects whenever keys or workspaces change. */
  let applied = new WeakMap<Owner, readonly AppliedGuardrail[]>()
  let appliedFor: readonly ConfiguredGuardrail[] | undefined
  /** Counts the changes of the configured guardrails. */
  let configRevision = 0

  /** Keeps the same object while nothing in it changes, so that what was compiled for it stays in use. */
  const unchangedOrNew = (now: StoredGuardrail): StoredGuardrail => {
    const before = byId.get(now.id)
    return before !== undefined && JSON.stringify(before) === JSON.stringify(now) ? before : now
  }

  async function load(): Promise<KnownGuardrails> {
    const { guardrails, assignments } = await readWhole(store.guardrails)
    const kept: StoredGuardrail[] = []
    // Compared in steps, as they are read: calls are served meanwhile.
    for (const [n, guardrail] of guardrails.entries()) {
      if (n > 0 && n % COMPARED_AT_ONCE === 0) await turn()
      kept.push(unchangedOrNew(guardrail))
    }
    return { guardrails: kept, assignments }
  }

  function install({ guardrails, assignments }: KnownGuardrails): undefined {
    byId = new Map(guardrails.map((guardrail) => [guardrail.id, guardrail]))
    byKey = new Map(assignments.map((assignment) => [assignment.keyHash, assignment]))
    applied = new WeakMap()
    known = true
  }

  const copy = createRememberedCopy<KnownGuardrails>({
    version: () => store.version(),
    load,
    install,
    lastKnownGood: options.lastKnownGood,
    clock: options.clock,
    pollMs: options.pollMs,
  })

  function compile(owner: Owner, configured: readonly ConfiguredGuardrail[]): readonly AppliedGuardrail[] {
    const list: AppliedGuardrail[] = []
    for (const guardrail of configured) {
      if (!concerns(guardrail, owner, options.authenticator)) continue
      list.push({
        id: uuidFromId(`guardrail ${guardrail.name} of the configuration`),
        name: guardrail.name,
        scope: 'configuration',
        rules: guardrail.rules,
        revision: configRevision,
      })
    }
    const ofWorkspace = byId.get(defaultGuardrailId(owner.workspaceId))
    if (ofWorkspace !== undefined) list.push(toApplied(ofWorkspace, 'workspace'))
    const assignment = byKey.get(owner.keyHash)
    const ofKey = byId.get(assignment?.guardrailId ?? '')
    if (ofKey !== undefined) list.push(toApplied(ofKey, 'api-key', assignment?.createdAt))
    return list
  }

  return {
    of(owner) {
      const { rules, whenUnknown } = options.config()
      if (!known && whenUnknown === 'refuse') throw unknownYet()
      if (appliedFor !== rules) {
        applied = new WeakMap()
        appliedFor = rules
        configRevision++
      }
      let list = applied.get(owner)
      if (list === undefined) {
        list = compile(owner, rules)
        applied.set(owner, list)
      }
      return list.length === 0 ? undefined : list
    },
    start: (start) => copy.start(start),
    refresh: () => copy.refresh(),
    close: () => copy.close(),
  }
}

const COMPARED_AT_ONCE = 1_000

/** How often it is read again, while somebody removes guardrails of which he has just taken the keys away. */
const READ_AGAIN = 2

/**
 * Assignments are read in steps, while others change them. A key under a guardrail that was read too early to be there would have none, so guardrails are
 * read last, and all of it again if one is gone by then.
 */
async function readWhole(from: GuardrailSnapshotOptions['store']['guardrails']): Promise<KnownGuardrails> {
  for (let again = 0; ; again++) {
    const assignments = await from.assignments()
    const guardrails = await from.list()
    const ids = new Set(guardrails.map(({ id }) => id))
    if (again === READ_AGAIN || assignments.every(({ guardrailId }) => ids.has(guardrailId))) return { guardrails, assignments }
  }
}

function toApplied(stored: StoredGuardrail, scope: AppliedGuardrail['scope'], since = 0): AppliedGuardrail {
  const { id, name, rules, createdAt, updatedAt } = stored
  return { id, name, scope, rules, revision: Math.max(createdAt, updatedAt ?? 0, since) }
}

function concerns({ workspaces, keys }: ConfiguredGuardrail, owner: Owner, authenticator: Pick<Authenticator, 'workspace'>): boolean {
  if (keys !== undefined && !keys.includes(owner.keyName) && !keys.includes(owner.keyHash)) return false
  if (workspaces === undefined || workspaces.includes(owner.workspaceId)) return true
  const slug = authenticator.workspace(owner.workspaceId)?.slug
  return slug !== undefined && workspaces.includes(slug)
}

const unknownYet = (): GatewayError =>
  new GatewayError('provider_overloaded', 'The guardrails cannot be read at the moment; try again', {
    retryAfterMs: UNKNOWN_RETRY_MS,
    failover: 'never',
  })
