import type { FixedKeys } from '../core/config.ts'
import { GatewayError, isGatewayError } from '../core/error.ts'
import { DEFAULT_WORKSPACE_ID, type ApiKey, type KeyKind, type Store } from '../core/store.ts'
import type { Clock } from '../lib/clock.ts'
import { randomId, type IdSource } from '../lib/id.ts'
import type { Secret } from '../lib/secret.ts'
import { generateKey, hashKey, labelOf } from './api-key.ts'
import { secretsOf } from '../core/api-key.ts'

export interface BootstrapOptions {
  readonly store: Pick<Store, 'keys' | 'workspaces' | 'facts'>
  readonly fixedKeys: Pick<FixedKeys, 'apiKey' | 'managementKey'>
  readonly clock: Clock
  readonly ids?: IdSource
  /** Called as soon as a generated key is in force, so that it is not lost if the database fails a moment later. */
  readonly onGenerated: (generated: GeneratedKey) => void
}

/** A key made at the first start. It can be read only here. */
export interface GeneratedKey {
  readonly key: ApiKey
  readonly secret: Secret
}

const VARIABLES: { readonly [K in KeyKind]: string } = { inference: 'SIGNALBOX_API_KEY', management: 'SIGNALBOX_MANAGEMENT_KEY' }
const GENERATED_NAMES: { readonly [K in KeyKind]: string } = { inference: 'first key', management: 'first management key' }
const MAX_FIXED_CHARS = 512

/**
 * The keys that the environment names, in the form in which they are stored. Needs no database. Throws GatewayError `invalid_request`, which never
 * quotes a key.
 */
export function environmentKeys({ apiKey, managementKey }: Pick<FixedKeys, 'apiKey' | 'managementKey'>, clock: Clock): readonly ApiKey[] {
  const keys: ApiKey[] = []
  if (apiKey) keys.push(environmentKey('inference', apiKey, clock.now()))
  if (managementKey) keys.push(environmentKey('management', managementKey, clock.now()))
  if (keys.length === 2 && keys[0]?.hash === keys[1]?.hash) {
    throw new GatewayError('invalid_request', `${VARIABLES.inference} and ${VARIABLES.management} must differ: a key has one kind`, {
      path: VARIABLES.management,
    })
  }
  return keys
}

function environmentKey(kind: KeyKind, secret: Secret, now: number): ApiKey {
  const text = secret.reveal()
  if (!/^[\x21-\x7e]+$/.test(text) || text.length > MAX_FIXED_CHARS) {
    const message = `${VARIABLES[kind]} must be 1 to ${MAX_FIXED_CHARS} visible ASCII characters without spaces`
    throw new GatewayError('invalid_request', message, { path: VARIABLES[kind] })
  }
  return newKey(kind, secret, VARIABLES[kind], 'environment', now)
}

function newKey(kind: KeyKind, secret: Secret, name: string, origin: NonNullable<ApiKey['origin']>, now: number): ApiKey {
  return {
    hash: hashKey(secret.reveal()),
    kind,
    workspaceId: DEFAULT_WORKSPACE_ID,
    name,
    label: labelOf(secret),
    disabled: false,
    createdAt: now,
    updatedAt: now,
    expiresAt: null,
    revokedAt: null,
    creatorUserId: null,
    origin,
    settings: {},
  }
}

/**
 * Brings the store's first keys in line with the environment: keys that it names exist, and keys that it named earlier are revoked. If it names none,
 * one is generated, once in the life of the database. Idempotent, and safe when several processes start together. Returns warnings: sentences for the
 * operator.
 */
export async function bootstrapKeys({ store, fixedKeys, clock, ids = randomId, onGenerated }: BootstrapOptions): Promise<readonly string[]> {
  const wanted = environmentKeys(fixedKeys, clock)
  await store.workspaces.default()
  const warnings: string[] = []
  for (const kind of ['inference', 'management'] as const) {
    const named = wanted.find((key) => key.kind === kind)
    if (named) warnings.push(...(await ensureNamed(store, named, clock)))
    await revokeEarlier(store, kind, named?.hash, clock)
    const made = named ? undefined : await generateOnce(store, kind, clock, ids)
    if (made) onGenerated(made)
  }
  return warnings
}

async function ensureNamed(store: BootstrapOptions['store'], named: ApiKey, clock: Clock): Promise<readonly string[]> {
  let existing = (await store.keys.get(named.hash)) ?? (await rotatedInto(store, named.hash))
  if (!existing) {
    const inserted = await insertUnlessThere(store, named)
    existing = inserted ? named : await store.keys.get(named.hash)
  }
  if (!existing) return []
  const variable = VARIABLES[named.kind]
  if (existing.kind !== named.kind) {
    throw new GatewayError('invalid_request', `${variable} names the ${existing.kind} key "${existing.name}": a key has one kind; set another`, {
      path: variable,
    })
  }
  if (existing.revokedAt === null) {
    const endsAt = secretsOf(existing).find(({ hash }) => hash === named.hash)?.endsAt ?? null
    return endsAt === null ? [] : [`${variable} names an earlier secret of the key "${existing.name}", which was rotated: set the new one`]
  }
  // If an earlier change of the variable revoked the key, naming it again restores it. If a person revoked it, it stays revoked.
  if (existing.origin !== 'environment')
    return [`${variable} names a key that was revoked on ${new Date(existing.revokedAt).toISOString()}; it stays revoked: set another`]
  await store.keys.update(existing.hash, { revokedAt: null, updatedAt: clock.now() })
  return []
}

/** The key with this secret, if it is not the first one it had. A new key of the same secret would have none of its limits. */
async function rotatedInto(store: BootstrapOptions['store'], secretHash: string): Promise<ApiKey | undefined> {
  return (await store.keys.list()).find((key) => key.secrets?.some(({ hash }) => hash === secretHash))
}

async function revokeEarlier(store: BootstrapOptions['store'], kind: KeyKind, named: string | undefined, clock: Clock): Promise<void> {
  for (const key of await store.keys.list({ origin: 'environment' })) {
    if (key.kind !== kind || key.revokedAt !== null || key.hash === named) continue
    await store.keys.update(key.hash, { revokedAt: clock.now(), updatedAt: clock.now() })
  }
}

async function generateOnce(store: BootstrapOptions['store'], kind: KeyKind, clock: Clock, ids: IdSource) {
  const fact = `generated-key:${kind}`
  if ((await store.facts.get(fact)) !== undefined) return undefined
  const ofKind = (await store.keys.list()).filter((key) => key.kind === kind)
  if (ofKind.some((key) => key.origin !== 'generated' && key.revokedAt === null)) return undefined
  const secret = generateKey(kind, ids)
  const key = newKey(kind, secret, GENERATED_NAMES[kind], 'generated', clock.now())
  await store.keys.insert(key)
  const won = await store.facts.replace(fact, undefined, key.hash)
  // A generated key without the claim is useless, because nobody has seen it: another process won, or an earlier start died before it could print the
  // key.
  for (const orphan of won ? ofKind.filter(({ origin }) => origin === 'generated') : [key]) await store.keys.remove(orphan.hash)
  return won ? { key, secret } : undefined
}

async function insertUnlessThere(store: BootstrapOptions['store'], key: ApiKey): Promise<boolean> {
  try {
    await store.keys.insert(key)
    return true
  } catch (error) {
    if (isGatewayError(error) && error.errorType === 'conflict') return false
    throw error
  }
}
