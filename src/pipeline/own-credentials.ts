import type { OwnKey, OwnKeys } from '../core/account.ts'
import type { Owner } from '../core/call.ts'
import type { Endpoint } from '../core/endpoint.ts'
import { isNamed } from '../core/endpoint-names.ts'
import type { Credential } from '../core/provider.ts'
import type { OwnKeyUse } from '../router/rank.ts'

/** The caller's own provider keys, as one call may use them. */
export interface OwnCredentials {
  /** How they serve an endpoint: before the gateway's credentials, after them, or not at all. */
  readonly use: (endpoint: Endpoint) => OwnKeyUse | undefined
  /** Those that may serve an endpoint, in the order to try them. */
  readonly of: (endpoint: Endpoint) => readonly Credential[]
}

interface Usable extends Credential {
  readonly provider: string
  readonly isFallback: boolean
  readonly allowedModels: OwnKey['allowedModels']
}

/** The workspace's keys that this caller may use. Undefined if there are none: one lookup, for nearly every call. */
export function ownCredentialsOf(keys: OwnKeys, owner: Owner): OwnCredentials | undefined {
  const all = keys.of(owner.workspaceId)
  if (all === undefined) return undefined
  const usable: Usable[] = all.filter(
    ({ allowedKeyHashes, allowedUserIds }) =>
      (allowedKeyHashes === null || allowedKeyHashes.has(owner.keyHash)) &&
      (allowedUserIds === null || (owner.userId !== undefined && allowedUserIds.has(owner.userId))),
  )
  if (usable.length === 0) return undefined
  const serves = (key: Usable, endpoint: Endpoint): boolean =>
    // An in-process upstream needs no keys, and where the operator pays anyway a caller's key would only hide that.
    key.provider === endpoint.provider &&
    (key.allowedModels === null || isNamed(endpoint, key.allowedModels)) &&
    endpoint.connection.transport === undefined &&
    endpoint.connection.operatorPays !== true
  return {
    use(endpoint) {
      let found: OwnKeyUse | undefined
      for (const key of usable) {
        if (!serves(key, endpoint)) continue
        if (!key.isFallback) return 'first'
        found = 'last'
      }
      return found
    },
    of(endpoint) {
      const serving = usable.filter((key) => serves(key, endpoint))
      return serving.every(({ isFallback }) => !isFallback)
        ? serving
        : [...serving.filter(({ isFallback }) => !isFallback), ...serving.filter(({ isFallback }) => isFallback)]
    },
  }
}
