import type { CreateObservabilityDestinationRequest, ObservabilityDestination, UpdateObservabilityDestinationRequest } from '../../api/schema.ts'
import { draftOf, NO_RULES, rulesOf, type RulesDraft } from './filter-rules.ts'
import type { Field } from './schema-fields.ts'
import { configChanges, filled, isSame, valuesOf, type Json, type Problems, type Values } from './values.ts'

/** A destination as edited, and the bodies of the calls that store it. */

export const BROADCASTS = ['broadcast_generation_cost', 'broadcast_generation_identity', 'broadcast_generation_request_context'] as const
export type Broadcast = (typeof BROADCASTS)[number]

export interface Draft {
  readonly name: string
  /** Undefined: the key's own workspace. */
  readonly workspace: string | undefined
  readonly enabled: boolean
  /** Percent of the sessions, as typed. */
  readonly sampling: string
  readonly privacy: boolean
  /** Empty: calls of every key. */
  readonly keys: readonly string[]
  readonly broadcasts: { readonly [flag in Broadcast]: boolean }
  readonly rules: RulesDraft
  /** The settings specific to the type. */
  readonly values: Values
}

export const emptyDraft = (fields: readonly Field[]): Draft => ({
  name: '',
  workspace: undefined,
  enabled: true,
  sampling: '100',
  privacy: false,
  keys: [],
  broadcasts: { broadcast_generation_cost: false, broadcast_generation_identity: false, broadcast_generation_request_context: false },
  rules: NO_RULES,
  values: valuesOf(fields),
})

export const draftOfDestination = (destination: ObservabilityDestination, fields: readonly Field[]): Draft => ({
  name: destination.name,
  workspace: destination.workspace_id,
  enabled: destination.enabled,
  sampling: percentOf(destination.sampling_rate),
  privacy: destination.privacy_mode,
  keys: destination.api_key_hashes ?? [],
  broadcasts: {
    broadcast_generation_cost: destination.broadcast_generation_cost,
    broadcast_generation_identity: destination.broadcast_generation_identity,
    broadcast_generation_request_context: destination.broadcast_generation_request_context,
  },
  rules: draftOf(destination.filter_rules),
  values: valuesOf(fields, configOf(destination)),
})

const configOf = ({ config }: ObservabilityDestination): Json => config

/** A share as percent, without rounding errors: 0.07 is `7`. */
export const percentOf = (rate: number): string => String(Number((rate * 100).toFixed(8)))
const rateOf = (percent: string): number => (percent.trim() === '' ? Number.NaN : Number((Number(percent) / 100).toFixed(10)))

/** The fields that differ. */
function others(was: Common, now: Common): Partial<Common> {
  const before: Json = { ...was }
  return Object.fromEntries(Object.entries(now).filter(([name, value]) => !isSame(before[name], value)))
}

interface Common {
  readonly name: string
  readonly enabled: boolean
  readonly sampling_rate: number
  readonly privacy_mode: boolean
  readonly api_key_hashes: readonly string[] | null
  readonly filter_rules: ReturnType<typeof rulesOf>
}

const commonOf = ({ name, enabled, sampling, privacy, keys, broadcasts, rules }: Draft): Common & Draft['broadcasts'] => ({
  name: name.trim(),
  enabled,
  sampling_rate: rateOf(sampling),
  privacy_mode: privacy,
  api_key_hashes: keys.length === 0 ? null : keys,
  filter_rules: rulesOf(rules),
  ...broadcasts,
})

function problemsOf({ name, sampling_rate }: Common): Problems {
  return {
    ...(name === '' ? { name: 'is needed' } : {}),
    ...(Number.isFinite(sampling_rate) ? {} : { sampling_rate: 'is not a number' }),
  }
}

/** `body` may be sent if there are no problems. */
export interface Ready<Body> {
  readonly body: Body
  readonly problems: Problems
}

/** Omits what was not chosen, so that the gateway decides: such a setting may be locked. */
export function createBody(type: string, draft: Draft, fields: readonly Field[]): Ready<CreateObservabilityDestinationRequest> {
  const common = commonOf(draft)
  const { config, problems } = filled(fields, draft.values)
  const workspace = draft.workspace === undefined ? {} : { workspace_id: draft.workspace }
  const body = { type, name: common.name, config, ...workspace, ...others(commonOf(emptyDraft(fields)), common) }
  // Types and settings come from the gateway's own document, and a newer gateway has more of them than these types.
  return { body: body as unknown as CreateObservabilityDestinationRequest, problems: { ...problemsOf(common), ...problems } }
}

/** Only what differs; an empty body if nothing does. `latest`: as last read, since others may have changed it while the form was open. */
export function updateBody(
  before: ObservabilityDestination,
  draft: Draft,
  fields: readonly Field[],
  latest: ObservabilityDestination = before,
): Ready<UpdateObservabilityDestinationRequest> {
  const common = commonOf(draft)
  const stored = configOf(before)
  const { config, problems } = filled(fields, draft.values, stored)
  // The form must not remove settings that it has no field for.
  const known = new Set(fields.map(({ name }) => name))
  const beforeConfig = Object.fromEntries(Object.entries(stored).filter(([name]) => known.has(name)))
  // After a save, the list may not have been read again yet.
  const now = configOf(latest.updated_at > before.updated_at ? latest : before)
  const change = configChanges(beforeConfig, config, now)
  const body = {
    ...others(commonOf(draftOfDestination(before, fields)), common),
    ...(change === undefined ? {} : { config: change }),
  }
  return { body, problems: { ...problemsOf(common), ...problems } }
}
