import { z } from 'zod'
import type { Destination } from '../../core/destination.ts'
import { createSchema, lettersPageSchema, lettersSchema, pageSchema, REGION, updateSchema } from './destination-shapes.ts'
import { deletedAnswer } from './request-input.ts'
import { component, SECRET_KEY_CHANGED, type RouteDoc } from './route-doc.ts'

type Kind = Pick<Destination, 'type' | 'name' | 'settings' | 'secrets'>

/** What the routes need for their documentation, from rooms they do not import. */
export interface DestinationTypes {
  readonly types: ReadonlyMap<string, Kind>
  readonly filterRules: z.ZodType
}

type Docs = ReturnType<typeof describeRoutes>

const described = new WeakMap<DestinationTypes['types'], Docs>()

/** `/api/v1/observability/destinations` as documented, with the types that exist. */
export function destinationDocs(known: DestinationTypes): Docs {
  const docs = described.get(known.types) ?? describeRoutes(known)
  described.set(known.types, docs)
  return docs
}

const tag = 'Destinations'
const idParam = { id: z.string() }
const time = z.iso.datetime()

const testAnswer = z.object({
  data: component(
    'DestinationTest',
    z.object({
      ok: z.boolean(),
      steps: z.array(z.object({ name: z.string(), ok: z.boolean(), status: z.int(), latency_ms: z.number(), message: z.string().optional() })),
    }),
  ),
})
const statusAnswer = z.object({
  data: component(
    'DestinationStatus',
    z.object({
      enabled: z.boolean(),
      paused: z.boolean(),
      queued: z.int(),
      queued_bytes: z.int(),
      oldest_age_seconds: z.int().nullable(),
      delivered: z.int(),
      rejected: z.int(),
      dropped: z.int(),
      bodies_dropped: z.int(),
      dead: z.int().describe('Dead letters: what could not be delivered.'),
      breaker: z.string(),
      retry_at: time.nullable(),
      last_success_at: time.nullable(),
      last_error_at: time.nullable(),
      last_status: z.int().nullable(),
      last_error: z.string().nullable().describe('The failure at last_error_at. It is over if last_success_at is later.'),
    }),
  ),
})
const lettersAnswer = z.object({
  data: z.array(
    component(
      'DeadLetter',
      z.object({
        id: z.string(),
        generation_id: z.string(),
        reason: z.string(),
        status: z.int().nullable(),
        error: z.string().nullable(),
        attempts: z.int(),
        entered_at: time,
        died_at: time,
      }),
    ),
  ),
  total_count: z.int(),
})

const operations = {
  test: {
    id: 'testObservabilityDestination',
    tag,
    summary: 'Test the connection, with an empty span or event if the platform has no other way; no generation is recorded',
    answer: testAnswer,
  },
  sendTest: { id: 'sendTestToObservabilityDestination', tag, summary: 'Deliver a sample generation, labelled as one', answer: testAnswer },
  status: { id: 'getObservabilityDestinationStatus', tag, summary: 'Read the state of its deliveries', answer: statusAnswer },
  pause: { id: 'pauseObservabilityDestination', tag, summary: 'Stop sending; deliveries wait', answer: statusAnswer },
  resume: { id: 'resumeObservabilityDestination', tag, summary: 'Resume sending', answer: statusAnswer },
  letters: { id: 'listObservabilityDeadLetters', tag, summary: 'List dead letters', query: lettersPageSchema, answer: lettersAnswer },
  replay: {
    id: 'replayObservabilityDeadLetters',
    tag,
    summary: 'Queue dead letters again, all of them unless ids are given',
    body: lettersSchema,
    bodyOptional: true,
    answer: z.object({ replayed: z.int() }),
  },
  purge: {
    id: 'purgeObservabilityDeadLetters',
    tag,
    summary: 'Delete dead letters, all of them unless ids are given',
    body: lettersSchema,
    bodyOptional: true,
    answer: z.object({ purged: z.int() }),
  },
} satisfies { readonly [name: string]: RouteDoc }

function describeRoutes({ types, filterRules }: DestinationTypes) {
  const all = [...types.values()]
  const names = all.map(({ type }) => type) as [string, ...string[]]
  const settings = all.map((one) => component(`${pascal(one.type)}Settings`, writable(one))) as [z.ZodType, z.ZodType]
  const rules = component('DestinationFilterRules', filterRules)
  const config = z.union(settings).describe('The settings of the type.')
  const filter_rules = rules.nullable().optional()
  const create = component(
    'CreateObservabilityDestinationRequest',
    z.strictObject({ ...createSchema.shape, type: z.enum(names), config, filter_rules }),
  )
  const update = component(
    'UpdateObservabilityDestinationRequest',
    z.strictObject({
      ...updateSchema.shape,
      config: z.record(z.string(), z.unknown()).optional().describe('Merged key by key: null removes a setting, any mask keeps the stored secret.'),
      filter_rules,
    }),
  )
  const answer = z.object({ data: component('ObservabilityDestination', destinationOf(all, rules)) })
  const page = z.object({ data: z.array(answer.shape.data), total_count: z.int() })
  return {
    ...operations,
    create: {
      id: 'createObservabilityDestination',
      tag,
      summary: 'Forward generations to a platform',
      body: create,
      status: 201,
      answer,
      errors: { 409: 'There are five of this type already.', ...SECRET_KEY_CHANGED },
    },
    list: { id: 'listObservabilityDestinations', tag, summary: 'List destinations', query: pageSchema, answer: page },
    get: { id: 'getObservabilityDestination', tag, summary: 'Read a destination, secrets masked', params: z.object(idParam), answer },
    update: {
      id: 'updateObservabilityDestination',
      tag,
      summary: 'Change the given fields',
      params: z.object(idParam),
      body: update,
      answer,
      errors: { 409: 'Someone else changed it at the same time.', ...SECRET_KEY_CHANGED },
    },
    remove: {
      id: 'deleteObservabilityDestination',
      tag,
      summary: 'Delete a destination with its secrets and its queue',
      params: z.object(idParam),
      answer: deletedAnswer,
    },
  } satisfies { readonly [name: string]: RouteDoc }
}

function destinationOf(types: readonly Kind[], rules: z.ZodType): z.ZodType {
  const common = {
    id: z.string(),
    workspace_id: z.string(),
    name: z.string(),
    enabled: z.boolean(),
    api_key_hashes: z.array(z.string()).nullable(),
    filter_rules: rules.nullable(),
    regions: z.array(z.literal(REGION)),
    sampling_rate: z.number(),
    privacy_mode: z.boolean(),
    broadcast_generation_cost: z.boolean(),
    broadcast_generation_identity: z.boolean(),
    broadcast_generation_request_context: z.boolean(),
    created_at: time,
    updated_at: time,
  }
  const kinds = types.map((one) =>
    component(`Observability${pascal(one.type)}Destination`, z.object({ ...common, type: z.literal(one.type), config: readable(one) })),
  )
  return z.discriminatedUnion('type', kinds as [(typeof kinds)[number], ...typeof kinds])
}

/** Settings as they are written: whose they are, and which are never readable again, so that a form can be built from them. */
function writable({ type, name, settings, secrets }: Kind): z.ZodType {
  const whose = { title: name, 'x-type': type }
  if (!(settings instanceof z.ZodObject)) return settings.meta(whose)
  const shape: { readonly [key: string]: z.ZodType } = settings.shape
  const marked = Object.entries(shape).map(([key, schema]): [string, z.ZodType] => {
    if (secrets.includes(key)) return [key, schema.meta(CONCEALED)]
    return [key, secrets.includes(`${key}.*`) ? withConcealedValues(schema) : schema]
  })
  return z.strictObject(Object.fromEntries(marked)).meta(whose)
}

const CONCEALED = { format: 'password', writeOnly: true }

/** A map whose values are secrets, unlike its keys. */
function withConcealedValues(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodOptional) return withConcealedValues(schema.unwrap() as z.ZodType).optional()
  if (!(schema instanceof z.ZodRecord)) return schema
  const { keyType, valueType, description = '' } = schema as z.ZodRecord<z.core.$ZodRecordKey, z.ZodType>
  return z.record(keyType, valueType.meta(CONCEALED)).describe(description)
}

/** Settings as they are read: a masked secret need not match the pattern of a secret. */
function readable({ settings, secrets }: Kind): z.ZodType {
  if (!(settings instanceof z.ZodObject)) return settings
  const masked = (schema: z.ZodType): z.ZodType => {
    const text = z.string().describe('Masked.')
    return schema.safeParse(undefined).success ? text.optional() : text
  }
  const shape: { readonly [key: string]: z.ZodType } = settings.shape
  return z.object(Object.fromEntries(Object.entries(shape).map(([key, schema]) => [key, secrets.includes(key) ? masked(schema) : schema])))
}

/** `otel-collector` as the name of a component: `OtelCollector`. */
const pascal = (name: string): string => name.replaceAll(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, letter: string) => letter.toUpperCase())
