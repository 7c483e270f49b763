import { randomUUID } from 'node:crypto'
import { ZodObject, type ZodError, type ZodType } from 'zod'
import type { Encryption } from '../core/account.ts'
import type { Destination } from '../core/destination.ts'
import type { DestinationAccounts, DestinationChange, DestinationView, NewDestination, TestResult } from '../core/destination-account.ts'
import { fullMasks, maskConfig, mergeConfig, unknownMask } from '../core/destination-config.ts'
import { GatewayError, isGatewayError } from '../core/error.ts'
import type { JsonObject } from '../core/item.ts'
import type { DestinationPatch, DestinationRecord, DestinationStore, FilterRules, Outbox, StoredDestination } from '../core/outbox.ts'
import type { WorkspaceStore } from '../core/store.ts'
import { closest, insteadOf } from '../lib/closest.ts'
import type { Clock } from '../lib/clock.ts'
import { countCharacters } from '../lib/count-characters.ts'
import { openDestination, sealConfig, withSecrets } from './destination-secrets.ts'

/** Destinations of one type in one workspace. */
const MAX_PER_TYPE = 5
const MAX_NAME_CHARS = 256
const MAX_KEY_HASHES = 1_000
const MIN_SAMPLING_RATE = 0.0001
/** How often a change is retried because another change of the same destination came first. */
const MAX_RACES = 20

export interface DestinationAccountsOptions {
  readonly store: DestinationStore
  readonly workspaces: Pick<WorkspaceStore, 'get'>
  readonly outbox: Pick<Outbox, 'status' | 'deadLetters' | 'replay' | 'purge'>
  readonly encryption: Encryption
  readonly types: ReadonlyMap<string, Destination>
  readonly filterRules: ZodType<FilterRules>
  readonly clock: Clock
  readonly newId?: () => string
  readonly test: (destination: DestinationRecord) => Promise<TestResult>
  readonly sendTest: (destination: DestinationRecord) => Promise<TestResult>
  /** The operator's setting: every destination is in privacy mode, and nobody may change that. */
  readonly privacyLocked?: boolean
  /** Called after every change, so that copies can be refreshed. */
  readonly onChange?: () => void
}

/** The rules for destinations: what may be written and read, and by whom. */
export function createDestinationAccounts(options: DestinationAccountsOptions): DestinationAccounts {
  const { store, outbox, encryption, types, clock, newId = randomUUID, privacyLocked = false, onChange = () => undefined } = options

  const need = async (id: string, scope: string | undefined): Promise<StoredDestination> => {
    const stored = hasNull(id) ? undefined : await store.get(id, scope)
    if (stored === undefined) throw notFound()
    return stored
  }
  const typeOf = (name: string): Destination => findType(types, name)
  const view = (opened: Opened): DestinationView => toView(opened, types.get(opened.destination.type), privacyLocked)
  const open = (stored: StoredDestination): Opened => openAsFarAsPossible(encryption, stored)
  const checkFilter = (rules: unknown): FilterRules | null =>
    rules === null || rules === undefined ? null : checked(options.filterRules, rules, 'filter_rules')

  const create = async (wanted: NewDestination): Promise<DestinationView> => {
    const type = typeOf(wanted.type)
    checkFields(wanted, privacyLocked)
    const config = checkConfig(type, wanted.config)
    if (hasNull(wanted.workspaceId)) throw invalid('workspace_id', NO_NULL)
    if ((await options.workspaces.get(wanted.workspaceId)) === undefined) throw invalid('workspace_id', 'there is no such workspace')
    const id = newId()
    const now = clock.now()
    const stored: StoredDestination = {
      id,
      workspaceId: wanted.workspaceId,
      type: type.type,
      name: wanted.name,
      enabled: wanted.enabled ?? true,
      paused: false,
      ...sealConfig(encryption, { id, type: type.type }, config, type.secrets),
      apiKeyHashes: wanted.apiKeyHashes ?? null,
      filterRules: checkFilter(wanted.filterRules),
      samplingRate: wanted.samplingRate ?? 1,
      privacyMode: wanted.privacyMode ?? privacyLocked,
      broadcast: mergeBroadcast({ cost: false, identity: false, requestContext: false }, wanted.broadcast ?? {}),
      revision: 1,
      createdAt: now,
      updatedAt: now,
    }
    await store.insert(stored, MAX_PER_TYPE)
    onChange()
    return view(open(stored))
  }

  const toPatch = (before: DestinationRecord, change: DestinationChange): DestinationPatch => ({
    ...(change.name === undefined ? {} : { name: change.name }),
    ...(change.enabled === undefined ? {} : { enabled: change.enabled }),
    ...(change.paused === undefined ? {} : { paused: change.paused }),
    ...(change.apiKeyHashes === undefined ? {} : { apiKeyHashes: change.apiKeyHashes }),
    ...(change.filterRules === undefined ? {} : { filterRules: checkFilter(change.filterRules) }),
    ...(change.samplingRate === undefined ? {} : { samplingRate: change.samplingRate }),
    ...(change.privacyMode === undefined ? {} : { privacyMode: change.privacyMode }),
    ...(change.broadcast === undefined ? {} : { broadcast: mergeBroadcast(before.broadcast, change.broadcast) }),
    ...(change.config === undefined ? {} : newConfig(before, change.config)),
    updatedAt: Math.max(clock.now(), before.updatedAt),
  })

  const newConfig = (before: DestinationRecord, patch: JsonObject): Pick<StoredDestination, 'config' | 'sealed'> => {
    const type = typeOf(before.type)
    return sealConfig(encryption, before, checkConfig(type, patch, before.config), type.secrets)
  }

  const update = async (id: string, change: DestinationChange, scope?: string): Promise<DestinationView> => {
    checkFields(change, privacyLocked)
    const updated = await againWhenRaced(async () => {
      const stored = await need(id, scope)
      return store.update(id, stored.workspaceId, toPatch(open(stored).destination, change), stored.revision)
    })
    if (updated === undefined) throw notFound()
    onChange()
    return view(open(updated))
  }

  return {
    create,
    update,
    list: async (page) => {
      const { destinations, total } = await store.list(page)
      return { destinations: destinations.map((stored) => view(open(stored))), total }
    },
    get: async (id, scope) => view(open(await need(id, scope))),
    remove: async (id, scope) => {
      const { workspaceId } = await need(id, scope)
      if (!(await store.remove(id, workspaceId))) throw notFound()
      onChange()
    },
    test: async (id, scope) => options.test(openDestination(encryption, await need(id, scope))),
    sendTest: async (id, scope) => options.sendTest(openDestination(encryption, await need(id, scope))),
    status: async (id, scope) => {
      const { enabled, paused } = await need(id, scope)
      return { ...(await outbox.status(id)), enabled, paused }
    },
    deadLetters: async (id, page, scope) => {
      await need(id, scope)
      return outbox.deadLetters(id, page)
    },
    replay: async (id, letters, scope) => {
      await need(id, scope)
      return outbox.replay(id, clock.now(), letters)
    },
    purge: async (id, letters, scope) => {
      await need(id, scope)
      return outbox.purge(id, letters)
    },
  }
}

/**
 * A change that came first has altered the fields that it names. This one is then applied to the result, and alters only the fields that it names
 * itself.
 */
async function againWhenRaced<T>(change: () => Promise<T>): Promise<T> {
  for (let left = MAX_RACES; ; left--) {
    try {
      return await change()
    } catch (error) {
      if (left === 0 || !isGatewayError(error) || error.errorType !== 'conflict') throw error
    }
  }
}

function findType(types: DestinationAccountsOptions['types'], name: string): Destination {
  const type = types.get(name)
  if (type === undefined)
    throw invalid('type', `${JSON.stringify(name.slice(0, 60))} is no destination type; there are ${[...types.keys()].join(', ')}`)
  return type
}

interface Opened {
  readonly destination: DestinationRecord
  /** Its secrets are damaged: it can be shown, changed and deleted, and works again once its owner sends them anew. */
  readonly isDamaged: boolean
}

/** An unreadable destination must not hide the others. A wrong secret key is not damage, because a restart with the right one resolves it. */
function openAsFarAsPossible(encryption: Encryption, stored: StoredDestination): Opened {
  try {
    return { destination: openDestination(encryption, stored), isDamaged: false }
  } catch (error) {
    if (isGatewayError(error) && error.errorType === 'precondition_failed') throw error
    return { destination: withSecrets(stored, {}), isDamaged: true }
  }
}

/** If this build lacks the type, nothing is safe to show, because its list of secrets is missing too. */
function toView({ destination, isDamaged }: Opened, type: Destination | undefined, privacyLocked: boolean): DestinationView {
  const { revision: _revision, ...rest } = destination
  const config = type === undefined ? {} : { ...maskConfig(rest.config, type.secrets), ...(isDamaged ? fullMasks(type.secrets) : {}) }
  return { ...rest, privacyMode: privacyLocked || rest.privacyMode, config }
}

/** Only existing keys of the group are changed. */
function mergeBroadcast(before: DestinationRecord['broadcast'], change: NonNullable<DestinationChange['broadcast']>): DestinationRecord['broadcast'] {
  return {
    cost: change.cost ?? before.cost,
    identity: change.identity ?? before.identity,
    requestContext: change.requestContext ?? before.requestContext,
  }
}

function checkFields({ name, apiKeyHashes, samplingRate, privacyMode }: DestinationChange, privacyLocked: boolean): void {
  if (privacyLocked && privacyMode === false) throw new GatewayError('permission_denied', 'Privacy settings are locked')
  if (name !== undefined && (name.trim() === '' || countCharacters(name) > MAX_NAME_CHARS))
    throw invalid('name', `1 to ${MAX_NAME_CHARS} characters are expected`)
  if (name !== undefined && hasNull(name)) throw invalid('name', NO_NULL)
  if (apiKeyHashes?.length === 0) throw invalid('api_key_hashes', 'null or at least one hash is expected')
  if (apiKeyHashes && apiKeyHashes.length > MAX_KEY_HASHES) throw invalid('api_key_hashes', `at most ${MAX_KEY_HASHES} hashes are expected`)
  if (samplingRate !== undefined && !(samplingRate >= MIN_SAMPLING_RATE && samplingRate <= 1)) {
    throw invalid('sampling_rate', `a number from ${MIN_SAMPLING_RATE} to 1 is expected`)
  }
}

/** The configuration to store, complete with defaults: what was sent, merged over what is stored. */
function checkConfig({ settings, secrets }: Destination, sent: JsonObject, stored?: JsonObject): JsonObject {
  const mask = unknownMask(stored ?? {}, sent, secrets)
  if (mask !== undefined)
    throw invalid(`config.${mask.slice(0, 200)}`, 'is the mask of a secret, and none is stored here that it could stand for; send the secret itself')
  return checked(settings, stored === undefined ? sent : mergeConfig(stored, sent, secrets), 'config') as JsonObject
}

function checked<T>(schema: ZodType<T>, value: unknown, where: string): T {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const { path, message } = firstFault(schema, result.error, value)
  throw invalid([where, ...path].join('.'), message)
}

const MAX_MESSAGE_CHARS = 400

interface Fault {
  readonly path: readonly string[]
  readonly message: string
}

/** Path and reason of the first fault. Messages of schemas name what is expected, never what was sent; keys are not secret. */
function firstFault(schema: ZodType, { issues }: ZodError, sent: unknown): Fault {
  const issue = issues[0]
  if (issue === undefined) return { path: [], message: 'is not valid' }
  const misspelt = misspeltKey(schema, issues)
  if (misspelt !== undefined) return misspelt
  const found = issue.path.reduce<unknown>((at, step) => (at as { readonly [key: PropertyKey]: unknown } | null | undefined)?.[step], sent)
  const message = found === undefined && issue.path.length > 0 ? 'missing' : issue.message.slice(0, MAX_MESSAGE_CHARS)
  return { path: issue.path.map((part) => String(part).slice(0, 60)), message }
}

/** A key that is almost a known one: the likely reason why that one is missing. */
function misspeltKey(schema: ZodType, issues: ZodError['issues']): Fault | undefined {
  const known = schema instanceof ZodObject ? Object.keys(schema.shape) : []
  const keys = issues.flatMap((issue) => (issue.code === 'unrecognized_keys' && issue.path.length === 0 ? issue.keys : []))
  const key = keys.find((one) => one.length <= 60 && closest(one, known) !== undefined)
  return key === undefined ? undefined : { path: [key], message: `unknown; ${insteadOf(key, known)}` }
}

/** PostgreSQL's text columns do not accept it. */
const hasNull = (text: string): boolean => text.includes('\0')
const NO_NULL = 'may not contain the character U+0000'

const invalid = (path: string, message: string): GatewayError => new GatewayError('invalid_request', `${path}: ${message}`, { path })
const notFound = (): GatewayError => new GatewayError('not_found', 'There is no such destination')
