import { randomUUID } from 'node:crypto'
import { GatewayError } from '../core/error.ts'
import type { GuardrailAccounts, GuardrailDraft, GuardrailPatch, GuardrailRules, StoredGuardrail } from '../core/guardrail.ts'
import { NONE_REVOKED, type Store, type Workspace } from '../core/store.ts'
import type { Clock } from '../lib/clock.ts'
import { defined } from '../lib/defined.ts'
import { defaultGuardrailId } from './guardrail-snapshot.ts'

export interface GuardrailAccountsOptions {
  readonly store: Pick<Store, 'guardrails'> & {
    readonly keys: Pick<Store['keys'], 'list'>
    readonly workspaces: Pick<Store['workspaces'], 'get' | 'list'>
  }
  readonly clock: Clock
  readonly newId?: () => string
  /** Awaited after every change, before the change is answered. */
  readonly onChange?: () => Promise<void>
}

/** The limit for one workspace, because all guardrails are in memory. */
const MAX_GUARDRAILS = 200

export function createGuardrailAccounts(options: GuardrailAccountsOptions): GuardrailAccounts {
  const { store, clock, newId = randomUUID, onChange = () => Promise.resolve() } = options

  /** The stored guardrail, or the default of a workspace if it was never changed. */
  const need = async (id: string, scope: string | undefined): Promise<{ readonly guardrail: StoredGuardrail; readonly isStored: boolean }> => {
    const stored = await store.guardrails.get(id)
    const guardrail = stored ?? (await untouchedDefault(id))
    if (guardrail === undefined || (scope !== undefined && guardrail.workspaceId !== scope)) throw notFound()
    return { guardrail, isStored: stored !== undefined }
  }
  /** A default can be deleted at any time and still exists, in its unchanged form. */
  const unlessStored = async ({ id, workspaceId }: StoredGuardrail): Promise<StoredGuardrail | undefined> => {
    const workspace = id === defaultGuardrailId(workspaceId) ? await store.workspaces.get(workspaceId) : undefined
    return workspace && defaultOf(workspace)
  }
  const untouchedDefault = async (id: string): Promise<StoredGuardrail | undefined> => {
    const workspace = (await store.workspaces.list()).find((one) => defaultGuardrailId(one.id) === id)
    return workspace && defaultOf(workspace)
  }

  return {
    async list(workspaceId) {
      const stored = await store.guardrails.list({ workspaceId })
      const id = defaultGuardrailId(workspaceId)
      const others = stored.filter((one) => one.id !== id)
      const first = stored.find((one) => one.id === id)
      if (first !== undefined) return [first, ...others]
      const workspace = await store.workspaces.get(workspaceId)
      return workspace === undefined ? others : [defaultOf(workspace), ...others]
    },
    get: async (id, scope) => (await need(id, scope)).guardrail,
    async create(draft) {
      if ((await store.workspaces.get(draft.workspaceId)) === undefined) throw new GatewayError('not_found', 'There is no such workspace')
      if ((await store.guardrails.list({ workspaceId: draft.workspaceId })).length >= MAX_GUARDRAILS)
        throw new GatewayError('invalid_request', `The workspace has ${MAX_GUARDRAILS} guardrails already, and may not have more`)
      const guardrail = toGuardrail(newId(), draft, clock.now())
      await store.guardrails.insert(guardrail)
      await onChange()
      return guardrail
    },
    async update(id, { name, description, rules }, scope) {
      const { guardrail } = await need(id, scope)
      const change = (before: StoredGuardrail): GuardrailPatch => {
        const merged = rules === undefined ? undefined : mergeRules(before.rules, rules)
        return defined({ name, description, rules: merged, updatedAt: Math.max(clock.now(), before.updatedAt ?? before.createdAt) })
      }
      const changed = await store.guardrails.modify(id, change, await unlessStored(guardrail))
      if (changed === undefined) throw notFound()
      await onChange()
      return changed
    },
    async remove(id, scope) {
      const { isStored } = await need(id, scope)
      if (isStored) await store.guardrails.remove(id)
      await onChange()
    },
    async assignments(scope, guardrailId) {
      if (guardrailId !== undefined) await need(guardrailId, scope)
      const all = await store.guardrails.assignments(guardrailId === undefined ? {} : { guardrailId })
      if (scope === undefined || guardrailId !== undefined) return all
      const own = new Set((await store.guardrails.list({ workspaceId: scope })).map(({ id }) => id))
      return all.filter((one) => own.has(one.guardrailId))
    },
    async assign(id, keyHashes, by, scope) {
      const { guardrail } = await need(id, scope)
      // A workspace may have tens of thousands of other keys.
      const known = new Set(
        (await store.keys.list({ hashes: keyHashes, revokedSince: NONE_REVOKED }))
          .filter(({ workspaceId, revokedAt }) => workspaceId === guardrail.workspaceId && revokedAt === null)
          .map(({ hash }) => hash),
      )
      const foreign = keyHashes.find((hash) => !known.has(hash))
      if (foreign !== undefined)
        throw new GatewayError('invalid_request', `key_hashes: ${foreign.slice(0, 64)} is no key of the guardrail's workspace`, {
          path: 'key_hashes',
        })
      const hashes = [...new Set(keyHashes)]
      const made = hashes.map((keyHash) => ({ id: newId(), guardrailId: id, keyHash, assignedBy: by, createdAt: clock.now() }))
      await store.guardrails.assign(made, await unlessStored(guardrail))
      await onChange()
      return hashes.length
    },
    async unassign(id, keyHashes, scope) {
      await need(id, scope)
      const count = await store.guardrails.unassign(id, keyHashes)
      await onChange()
      return count
    },
  }
}

const notFound = (): GatewayError => new GatewayError('not_found', 'There is no such guardrail')

const defaultOf = ({ id, createdAt }: Workspace): StoredGuardrail => ({
  id: defaultGuardrailId(id),
  workspaceId: id,
  name: `Workspace ${id} Default`,
  description: null,
  rules: {},
  createdAt,
  updatedAt: null,
})

const toGuardrail = (id: string, { workspaceId, name, description, rules }: GuardrailDraft, createdAt: number): StoredGuardrail => ({
  id,
  workspaceId,
  name,
  description: description ?? null,
  rules: mergeRules({}, rules),
  createdAt,
  updatedAt: null,
})

/** Merged field by field; lists are replaced as a whole, null removes a field. */
function mergeRules(before: GuardrailRules, change: GuardrailRules): GuardrailRules {
  return Object.fromEntries(Object.entries({ ...before, ...defined(change) }).filter(([, value]) => value !== null))
}
