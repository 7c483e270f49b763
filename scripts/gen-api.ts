/**
 * Writes docs/reference/api.md from the OpenAPI document that a gateway serves: every route, its key and its fields.
 *
 *   node scripts/gen-api.ts            writes the page
 *   node scripts/gen-api.ts --check    fails if the page differs from what would be written
 */
import { pathToFileURL } from 'node:url'
import { startGateway } from '../src/testing/start-gateway.ts'
import { cell, publish } from './reference-page.ts'

interface Schema {
  readonly $ref?: string
  readonly properties?: { readonly [name: string]: Schema }
  readonly anyOf?: readonly Schema[]
  readonly required?: readonly string[]
}

interface Operation {
  readonly summary: string
  readonly tags: readonly string[]
  readonly 'x-key': string
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required?: boolean }[]
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: Schema } } }
}

/** The part of the document that the page needs. */
export interface ApiDocument {
  readonly tags: readonly { readonly name: string }[]
  readonly paths: { readonly [path: string]: { readonly [method: string]: Operation } }
  readonly components: { readonly schemas: { readonly [name: string]: Schema } }
}

const HEAD = `# API

<!-- Written by scripts/gen-api.ts; do not edit. -->

This page lists every route. \`GET /openapi.json\` of a running gateway describes each with its fields, answers and statuses. The guides to [destinations](../guides/destinations.md), [workspaces](../guides/workspaces.md), [guardrails](../guides/guardrails.md) and
[presets](../guides/presets.md), and the reference of [limits](limits.md), explain what they are for.

Send the key as \`Authorization: Bearer ...\`. The column *key* says which one a route needs: **inference** (calls models), **management** (manages), \`any\` (either) or \`none\`. A key does not see what belongs to another workspace (404), except for management keys of the default workspace.
Fields in **bold** are required. An error is \`{"error": {"code", "message", "metadata": {"error_type", "source", ...}}}\`.
`

/** Routes without a table of fields: every client library knows the fields, or they are those of the first route. */
const FIELDS_ELSEWHERE: ReadonlySet<string> = new Set([
  'POST /api/v1/responses',
  'POST /api/v1/route/explain',
  'POST /api/v1/presets/{slug}/responses',
])

/** The page as text, by tag. */
export function apiPage(document: ApiDocument): string {
  const routes = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ route: `${method.toUpperCase()} ${path}`, operation })),
  )
  const sections = document.tags.map(({ name }) => {
    const rows = routes.filter(({ operation }) => operation.tags[0] === name).map(({ route, operation }) => row(route, operation, document))
    return `## ${name}\n\n| route | key | | fields |\n|---|---|---|---|\n${rows.join('\n')}\n`
  })
  return `${HEAD}\n${sections.join('\n')}`
}

function row(route: string, operation: Operation, document: ApiDocument): string {
  const fields = FIELDS_ELSEWHERE.has(route) ? 'those of the Responses API' : fieldsOf(operation, document)
  return `| \`${route}\` | ${operation['x-key']} | ${cell(operation.summary)} | ${fields} |`
}

function fieldsOf({ parameters = [], requestBody }: Operation, document: ApiDocument): string {
  const shown = (name: string, required: boolean): string => (required ? `**\`${name}\`**` : `\`${name}\``)
  const query = parameters.filter((one) => one.in === 'query').map(({ name, required }) => shown(name, required === true))
  const body = requestBody === undefined ? undefined : resolve(requestBody.content['application/json'].schema, document)
  const inBody = Object.keys(body?.properties ?? {}).map((name) => shown(name, body?.required?.includes(name) === true))
  return [query.length === 0 ? '' : `query: ${query.join(', ')}`, inBody.join(', ')].filter((part) => part !== '').join('; ')
}

/** The object type behind a reference, or among alternatives. */
function resolve(schema: Schema, document: ApiDocument): Schema {
  if (schema.$ref !== undefined) return resolve(document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}, document)
  if (schema.properties !== undefined) return schema
  return schema.anyOf?.map((one) => resolve(one, document)).find(({ properties }) => properties !== undefined) ?? {}
}

/** The document that a gateway of these sources serves. */
export async function servedDocument(): Promise<ApiDocument> {
  const gateway = await startGateway()
  try {
    return (await (await fetch(`${gateway.url}/openapi.json`)).json()) as ApiDocument
  } finally {
    await gateway.close()
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  publish('docs/reference/api.md', apiPage(await servedDocument()), import.meta.filename)
