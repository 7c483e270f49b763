import { z } from 'zod'
import type { DestinationStatusView, DestinationView } from '../../core/destination-account.ts'
import { GatewayError } from '../../core/error.ts'
import type { JsonObject } from '../../core/item.ts'
import type { DeadLetter } from '../../core/outbox.ts'
import { limitField, offsetField } from './request-input.ts'
import { asStored } from './uuid-spelling.ts'

/** Shapes of the destinations API on the wire. `config` and filter rules are validated behind it, by type. */

const config = z.custom<JsonObject>((value) => typeof value === 'object' && value !== null && !Array.isArray(value), 'an object is expected')

/** The region of this gateway. Newer clients know destinations for some regions only; here all traffic belongs to this one. */
export const REGION = 'global'
const regions = z
  .array(z.enum(['global', 'europe', 'eu', 'us']))
  .min(1)
  .refine((all) => all.includes(REGION), `this gateway serves the region ${REGION}; a destination without it would receive nothing`)
  .nullable()

const changeable = {
  regions,
  name: z.string(),
  config,
  enabled: z.boolean(),
  privacy_mode: z.boolean(),
  sampling_rate: z.number(),
  api_key_hashes: z.array(z.string().min(1).max(256)).min(1, 'null or at least one hash is expected').nullable(),
  filter_rules: z.unknown(),
  broadcast_generation_cost: z.boolean(),
  broadcast_generation_identity: z.boolean(),
  broadcast_generation_request_context: z.boolean(),
}

export const createSchema = z.strictObject({
  ...z.object(changeable).partial().shape,
  type: z.string(),
  name: changeable.name,
  config: changeable.config,
  workspace_id: z.uuid().optional(),
})
/** A destination may be written back as it was read: read-only fields are ignored, or must not differ. */
export const updateSchema = z
  .strictObject({ ...changeable, type: z.string(), workspace_id: z.string(), id: z.unknown(), created_at: z.unknown(), updated_at: z.unknown() })
  .partial()
export const pageSchema = z.object({
  offset: offsetField,
  limit: limitField,
  workspace_id: z.uuid().optional(),
})
/** A page of something that belongs to one destination, whose workspace is known. */
export const lettersPageSchema = pageSchema.omit({ workspace_id: true })
export const lettersSchema = z.strictObject({ ids: z.array(z.string().min(1).max(64)).min(1).max(1_000).optional() }).nullish()

export const readCreate = (body: unknown) => {
  const { type, workspace_id, name, config: settings, ...rest } = parse(createSchema, body)
  return { type, workspaceId: workspace_id, name, config: settings, ...toCommon(rest) }
}

export const readUpdate = (body: unknown) => {
  const { name, config: settings, type, workspace_id: workspaceId, ...rest } = parse(updateSchema, body)
  return {
    fixed: { ...(type === undefined ? {} : { type }), ...(workspaceId === undefined ? {} : { workspaceId: asStored(workspaceId) }) },
    change: { ...(name === undefined ? {} : { name }), ...(settings === undefined ? {} : { config: settings }), ...toCommon(rest) },
  }
}

export const readPage = (query: unknown): { readonly offset: number; readonly limit: number; readonly workspaceId: string | undefined } => {
  const { offset, limit, workspace_id } = parse(pageSchema, query)
  return { offset, limit, workspaceId: workspace_id }
}

export const readLettersPage = (query: unknown): { readonly offset: number; readonly limit: number } => parse(lettersPageSchema, query)

/** Ids of dead letters; undefined: all. */
export const readLetters = (body: unknown): readonly string[] | undefined => parse(lettersSchema, body)?.ids

type Common = Omit<z.output<typeof createSchema>, 'name' | 'config' | 'type' | 'workspace_id'>

function toCommon(body: Common) {
  const { broadcast_generation_cost: cost, broadcast_generation_identity: identity, broadcast_generation_request_context: requestContext } = body
  return {
    enabled: body.enabled,
    privacyMode: body.privacy_mode,
    samplingRate: body.sampling_rate,
    apiKeyHashes: body.api_key_hashes,
    filterRules: body.filter_rules,
    broadcast: { cost, identity, requestContext },
  }
}

/** The contract's `ObservabilityDestination`. */
export function presentDestination(view: DestinationView): JsonObject {
  return {
    id: view.id,
    workspace_id: view.workspaceId,
    name: view.name,
    type: view.type,
    enabled: view.enabled,
    config: view.config,
    api_key_hashes: view.apiKeyHashes,
    filter_rules: view.filterRules,
    regions: [REGION],
    sampling_rate: view.samplingRate,
    privacy_mode: view.privacyMode,
    broadcast_generation_cost: view.broadcast.cost,
    broadcast_generation_identity: view.broadcast.identity,
    broadcast_generation_request_context: view.broadcast.requestContext,
    created_at: new Date(view.createdAt).toISOString(),
    updated_at: new Date(view.updatedAt).toISOString(),
  }
}

export function presentStatus(status: DestinationStatusView, now: number): JsonObject {
  const { health, oldestAt } = status
  const time = (at: number | undefined): string | null => (at === undefined ? null : new Date(at).toISOString())
  return {
    enabled: status.enabled,
    paused: status.paused,
    queued: status.queued,
    queued_bytes: status.queuedBytes,
    oldest_age_seconds: oldestAt === undefined ? null : Math.max(0, Math.round((now - oldestAt) / 1000)),
    delivered: status.delivered,
    rejected: status.rejected,
    dropped: status.dropped,
    bodies_dropped: status.bodiesDropped ?? 0,
    dead: status.dead,
    breaker: health?.breaker ?? 'closed',
    retry_at: time(health?.until),
    last_success_at: time(health?.lastSuccessAt),
    last_error_at: time(health?.lastErrorAt),
    last_status: health?.lastStatus ?? null,
    last_error: health?.lastError ?? null,
  }
}

export function presentLetter(letter: DeadLetter): JsonObject {
  return {
    id: letter.id,
    generation_id: letter.generationId,
    reason: letter.reason,
    status: letter.status,
    error: letter.error,
    attempts: letter.attempts,
    entered_at: new Date(letter.enteredAt).toISOString(),
    died_at: new Date(letter.diedAt).toISOString(),
  }
}

function parse<T>(schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const [issue] = result.error.issues
  const unknown = issue?.code === 'unrecognized_keys' ? String(issue.keys[0]).slice(0, 60) : undefined
  const path = [...(issue?.path ?? []), ...(unknown === undefined ? [] : [unknown])].map(String).join('.')
  throw wrong(path, unknown === undefined ? (issue?.message ?? 'is not valid').slice(0, 400) : 'is not known')
}

const wrong = (path: string, message: string): GatewayError =>
  new GatewayError('invalid_request', path === '' ? `The body: ${message}` : `${path}: ${message}`, path === '' ? {} : { path })
