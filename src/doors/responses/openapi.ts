import { z } from 'zod'
import { STREAM_FAILURES } from '../../core/call.ts'
import { errorEnvelope, gatewayMetadata, responseResource, usage } from './openapi-answer.ts'
import { responsesRequest } from './schema.ts'
import type { Branch, Schema } from './schema-combinators.ts'
import { inputItem, itemReference, ITEMS, otherItem } from './schema-items.ts'
import { debug, imageConfig, metadata, prompt, promptCacheOptions, reasoning, stopServerToolsWhen, textOptions, trace } from './schema-options.ts'
import { CONTENT_PARTS } from './schema-parts.ts'
import { PLUGINS, providerPreferences } from './schema-routing.ts'
import { cacheControl } from './schema-shared.ts'
import { otherTool, toolChoice, TOOLS } from './schema-tools.ts'

type JsonSchema = { readonly [keyword: string]: unknown }

export interface OpenApiParts {
  readonly paths: { readonly [path: string]: unknown }
  readonly components: { readonly schemas: { readonly [name: string]: JsonSchema } }
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

/** `web_search_call` and the like as a component name: `WebSearchCall`. */
function pascal(name: string): string {
  return name.replaceAll(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}

function ref(name: string): string {
  return `#/components/schemas/${name}`
}

function components(): OpenApiParts['components'] {
  const registry = z.registry<{ id: string }>()
  const add = (id: string, schema: Schema): void => void registry.add(schema, { id })
  const addAll = (branches: readonly Branch[], suffix: string): void => {
    for (const [name, schema] of branches) add(pascal(name) + suffix, schema)
  }
  add('ResponsesRequest', responsesRequest)
  add('InputItem', inputItem)
  addAll(ITEMS, 'Item')
  add('ItemReference', itemReference)
  add('OtherItem', otherItem)
  addAll(CONTENT_PARTS, 'Part')
  addAll(TOOLS, 'Tool')
  add('OtherTool', otherTool)
  add('ToolChoice', toolChoice)
  addAll(PLUGINS, 'Plugin')
  const named = {
    reasoning,
    textOptions,
    metadata,
    trace,
    prompt,
    promptCacheOptions,
    imageConfig,
    debug,
    cacheControl,
    providerPreferences,
    stopServerToolsWhen,
  }
  for (const [name, schema] of Object.entries(named)) add(pascal(name), schema)
  add('Response', responseResource)
  add('Usage', usage)
  add('GatewayMetadata', gatewayMetadata)
  add('Error', errorEnvelope)
  const { schemas } = z.toJSONSchema(registry, { uri: ref, io: 'input', unrepresentable: 'any' })
  return { schemas: Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, strip(schema)])) }
}

/** OpenAPI names the dialect once for the document and finds components by their place. */
function strip(schema: JsonSchema): JsonSchema {
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => keyword !== '$schema' && keyword !== '$id'))
}

function errorResponse(description: string): unknown {
  return { description, content: { 'application/json': { schema: { $ref: ref('Error') } } } }
}

function operation(): unknown {
  const metadataHeader = {
    name: 'X-Gateway-Experimental-Metadata',
    in: 'header',
    description: '"enabled" adds gateway_metadata to the answer.',
    schema: { type: 'string', enum: ['enabled', 'disabled'] },
  }
  const sessionHeader = {
    name: 'x-session-id',
    in: 'header',
    description: 'The same as session_id in the body, which wins.',
    schema: { type: 'string', maxLength: 256 },
  }
  const streamFailureHeader = {
    name: 'X-Gateway-Stream-Failure',
    in: 'header',
    description:
      'What becomes of an answer that breaks after its first words: "fail" reports it, "continue" has the next endpoint go on with it, ' +
      '"buffer" holds it back until it is whole. Default: routing.stream_failure of the operator.',
    schema: { type: 'string', enum: STREAM_FAILURES },
  }
  const keepAliveHeader = {
    name: 'X-Gateway-Keep-Alive',
    in: 'header',
    description:
      'What a silent stream carries every ten seconds or so: a "comment" (default), or an "event" of type keepalive, for clients that take ' +
      'comments for silence. The first one comes behind response.created, which then names the model that was asked for.',
    schema: { type: 'string', enum: ['comment', 'event'] },
  }
  const errorEventHeader = {
    name: 'X-Gateway-Error-Event',
    in: 'header',
    description:
      '"on": a stream that fails says so in an event of type error before response.failed, which some clients pass over. ' +
      'Default: responses.error_event of the operator.',
    schema: { type: 'string', enum: ['on', 'off'] },
  }
  return {
    operationId: 'createResponses',
    summary: 'Create a response',
    tags: ['Responses'],
    security: [{ bearer: [] }],
    'x-key': 'inference',
    parameters: [metadataHeader, sessionHeader, streamFailureHeader, keepAliveHeader, errorEventHeader],
    requestBody: { required: true, content: { 'application/json': { schema: { $ref: ref('ResponsesRequest') } } } },
    responses: {
      200: {
        description: 'The response; with "stream": true its events, the last of which carries it.',
        content: {
          'application/json': { schema: { $ref: ref('Response') } },
          'text/event-stream': { schema: { type: 'string', description: 'Events of the Responses API, then "data: [DONE]".' } },
        },
      },
      ...Object.fromEntries(STATUSES.map(([status, when]) => [status, errorResponse(when)])),
    },
  }
}

let built: OpenApiParts | undefined

/** Paths and schemas of this door for an OpenAPI 3.1 document; built once. The document around it declares the security scheme `bearer`. */
export function responsesOpenApi(): OpenApiParts {
  built ??= { paths: { '/api/v1/responses': { post: operation() } }, components: components() }
  return built
}
