import { cacheHeaders, callHeaders, failureHeaders, streamHeaders, type DoorDescription } from '../shared/describe-doors.ts'
import { errorEnvelope, gatewayMetadata, responseResource, usage } from './openapi-answer.ts'
import { responsesRequest } from './schema.ts'
import type { Branch, Schema } from './schema-combinators.ts'
import { inputItem, itemReference, ITEMS, otherItem } from './schema-items.ts'
import { debug, imageConfig, metadata, prompt, promptCacheOptions, reasoning, stopServerToolsWhen, textOptions, trace } from './schema-options.ts'
import { CONTENT_PARTS } from './schema-parts.ts'
import { PLUGINS, providerPreferences } from './schema-routing.ts'
import { cacheControl } from './schema-shared.ts'
import { otherTool, toolChoice, TOOLS } from './schema-tools.ts'

/** `web_search_call` and the like as a component name: `WebSearchCall`. */
function pascal(name: string): string {
  return name.replaceAll(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}

function components(): DoorDescription['schemas'] {
  const schemas: [name: string, schema: Schema][] = []
  const add = (name: string, schema: Schema): void => void schemas.push([name, schema])
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
  return schemas
}

let built: DoorDescription | undefined

/** Request and answer of `POST /api/v1/responses`; built once. */
export function describeResponses(): DoorDescription {
  built ??= {
    path: '/api/v1/responses',
    id: 'createResponses',
    summary: 'Create a response',
    tag: 'Responses',
    request: 'ResponsesRequest',
    answer: 'Response',
    stream: 'Events of the Responses API, then "data: [DONE]".',
    headers: [...callHeaders, ...streamHeaders, ...failureHeaders, ...cacheHeaders],
    schemas: components(),
  }
  return built
}
