import { z } from 'zod'
import { STREAM_FAILURES } from '../../core/call.ts'
import type { Schema } from '../responses/schema-combinators.ts'

type JsonSchema = { readonly [keyword: string]: unknown }

export interface OpenApiParts {
  readonly paths: { readonly [path: string]: unknown }
  readonly components: { readonly schemas: { readonly [name: string]: JsonSchema } }
}

/** A front door's description for the reference. */
export interface DoorDescription {
  readonly path: string
  readonly id: string
  readonly summary: string
  readonly tag: string
  /** Names of schema components. */
  readonly request: string
  readonly answer: string
  /** Default: `Error`. */
  readonly error?: string
  /** The description of the stream. Default: the door has none. */
  readonly stream?: string
  readonly headers: readonly object[]
  readonly schemas: readonly (readonly [name: string, schema: Schema])[]
}

const STATUSES: readonly (readonly [status: number, when: string])[] = [
  [400, 'The request is malformed, out of range, or too long for the model.'],
  [401, 'The key is missing, unknown, revoked or expired.'],
  [402, 'The limit of the key is used up.'],
  [403, 'The key may not do this, a guardrail refused, or the budget of the workspace is reached.'],
  [404, 'No such model, or no endpoint is left after the preferences.'],
  [408, 'The body came too slowly, or no endpoint answered in time.'],
  [413, 'The body is larger than the limit.'],
  [422, 'The request is well-formed but cannot be met, for example a forced tool that is not offered.'],
  [429, 'A limit of the gateway, or every upstream answered 429.'],
  [500, 'A fault of the gateway.'],
  [502, 'The upstream failed.'],
  [503, 'The upstream is overloaded, or none is healthy.'],
]

export const ref = (name: string): string => `#/components/schemas/${name}`

const metadataHeader = {
  name: 'X-Gateway-Experimental-Metadata',
  in: 'header',
  description: '"enabled" adds gateway_metadata to the answer.',
  schema: { type: 'string', enum: ['enabled', 'disabled'] },
}
const sessionHeader = {
  name: 'x-session-id',
  in: 'header',
  description: 'The same as session_id in the body, which takes precedence.',
  schema: { type: 'string', maxLength: 256 },
}
const addedMetadataHeader = {
  name: 'X-Gateway-Metadata',
  in: 'header',
  description: 'A JSON object: additional pairs for metadata, for programs that can only set headers. The pairs of the body take precedence.',
  schema: { type: 'string' },
}
const streamFailureHeader = {
  name: 'X-Gateway-Stream-Failure',
  in: 'header',
  description:
    'What happens to an answer that breaks after it has begun: "fail" reports an error, "continue" lets the next endpoint continue it, ' +
    '"buffer" holds the answer back until it is complete. Default: routing.stream_failure of the configuration.',
  schema: { type: 'string', enum: STREAM_FAILURES },
}
const keepAliveHeader = {
  name: 'X-Gateway-Keep-Alive',
  in: 'header',
  description:
    'What a silent stream sends about every ten seconds: a "comment" (default), or an "event" of type keepalive, for clients that ignore ' +
    'comments. The first one comes after response.created, which then names the requested model. ' +
    'Streams of generateContent send an event with an empty part by default.',
  schema: { type: 'string', enum: ['comment', 'event'] },
}
const errorEventHeader = {
  name: 'X-Gateway-Error-Event',
  in: 'header',
  description:
    '"on": a stream that fails has an error event before the last one (response.failed, or a chunk with choices and error), ' +
    'which some clients ignore. Default: responses.error_event of the configuration.',
  schema: { type: 'string', enum: ['on', 'off'] },
}

const errorCodeHeader = {
  name: 'X-Gateway-Error-Code',
  in: 'header',
  description:
    '"word": error.code of a refusal before the first byte is a word as in response.failed ' +
    '(context_length_exceeded, rate_limit_exceeded, invalid_prompt, ...) instead of the status, for clients that expect it there.',
  schema: { type: 'string', enum: ['status', 'word'] },
}

/** For every call. */
export const callHeaders = [metadataHeader, sessionHeader, addedMetadataHeader]
/** For answers that may be streams. */
export const streamHeaders = [streamFailureHeader, keepAliveHeader]
/** For formats whose clients look for failures in places of their own. */
export const failureHeaders = [errorEventHeader, errorCodeHeader]

/** For answers that can be cached. */
export const cacheHeaders = [
  {
    name: 'X-Gateway-Cache',
    in: 'header',
    description:
      '"true": an answer stored for the same request of the same key is returned again at no cost; otherwise the answer is stored. "false": never, even if ' +
      'a preset asks for it. The answer has X-Gateway-Cache-Status (HIT or MISS), -TTL, -Age and -Source-Id.',
    schema: { type: 'string', enum: ['true', 'false'] },
  },
  {
    name: 'X-Gateway-Cache-TTL',
    in: 'header',
    description: 'Seconds for which the answer is stored. Default: 300, or that of the preset.',
    schema: { type: 'integer', minimum: 1, maximum: 86_400 },
  },
  {
    name: 'X-Gateway-Cache-Clear',
    in: 'header',
    description: '"true": a new answer replaces the stored one.',
    schema: { type: 'string', enum: ['true', 'false'] },
  },
]

function errorResponse(description: string, schema: string): unknown {
  return { description, content: { 'application/json': { schema: { $ref: ref(schema) } } } }
}

function operationOf({ id, summary, tag, request, answer, error = 'Error', stream, headers }: DoorDescription): unknown {
  return {
    operationId: id,
    summary,
    tags: [tag],
    security: [{ bearer: [] }],
    'x-key': 'inference',
    parameters: headers,
    requestBody: { required: true, content: { 'application/json': { schema: { $ref: ref(request) } } } },
    responses: {
      200: {
        description: stream === undefined ? 'The answer.' : 'The answer; with "stream": true its events, the last of which ends it.',
        content: {
          'application/json': { schema: { $ref: ref(answer) } },
          ...(stream === undefined ? {} : { 'text/event-stream': { schema: { type: 'string', description: stream } } }),
        },
      },
      ...Object.fromEntries(STATUSES.map(([status, when]) => [status, errorResponse(when, error)])),
    },
  }
}

/** Paths and schemas of these doors for an OpenAPI 3.1 document. The document itself declares the security scheme `bearer`. */
export function describeDoors(doors: readonly DoorDescription[]): OpenApiParts {
  const registry = z.registry<{ id: string }>()
  for (const { schemas } of doors) for (const [id, schema] of schemas) registry.add(schema, { id })
  const { schemas } = z.toJSONSchema(registry, { uri: ref, io: 'input', unrepresentable: 'any' })
  return {
    paths: Object.fromEntries(doors.map((door) => [door.path, { post: operationOf(door) }])),
    components: { schemas: Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, strip(schema)])) },
  }
}

/** OpenAPI declares the JSON Schema dialect once for the document and identifies components by their place. */
function strip(schema: JsonSchema): JsonSchema {
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => keyword !== '$schema' && keyword !== '$id'))
}
