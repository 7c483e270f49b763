/**
 * Writes docs/reference/destinations.md from the types themselves: settings with defaults and secrets, limits, and the tables warehouses need.
 *
 *   node scripts/gen-destinations.ts            writes the page
 *   node scripts/gen-destinations.ts --check    fails when the page is not what would be written
 */
import { pathToFileURL } from 'node:url'
import { z } from 'zod'
import { DESTINATION_DEFAULTS, type Destination } from '../src/core/destination.ts'
import { bigqueryTable, clickhouseTable, snowflakeTable } from '../src/destinations/shared/warehouse-ddl.ts'
import { DESTINATIONS } from '../src/destinations/index.ts'
import { cell, presetOf, publish, valuesOf, type Field } from './reference-page.ts'

const HEAD = `# Destinations

<!-- Written by scripts/gen-destinations.ts; do not edit. -->

\`config\` of \`POST /api/v1/observability/destinations\` for every \`type\`. Unknown keys are refused. Secrets are stored encrypted and shown masked.
Every type also takes \`headers\`, a map of more headers for its requests; their values are secrets, and a header the type sets itself wins.

How deliveries are batched, retried and bounded is the same for all types; the line after the settings says what differs. Sizes are of one
request before compression. A generation older than its type's age limit becomes a dead letter: the platform would drop it without a word.
One that is larger than a request may be is shortened, its longest texts first, until it fits; the gateway's facts then hold \`content_truncated\`.
Names and tags are shortened too, and of the caller's own metadata the largest entries go last of all.

Types without an address in their config lead to the vendor's own; an operator sends them elsewhere with \`destinations.base_urls\` in
\`signalbox.yaml\`: \`bigquery\`, \`newrelic\`, \`opik\`, \`snowflake\`. \`nats\` goes only where the operator says (\`http:\` or \`nats:\` is plain, \`https:\` or
\`tls:\` is encrypted). Addresses of other schemes, and of types that do not exist, are refused at the start. \`file\` writes only below
\`exports/<workspace>\` in the data directory: workspaces never share a file.

Two fields the public service's payloads have are left out. \`rawRequest\` in \`gen_ai.completion\`: the request is in \`gen_ai.prompt\` and
\`gen_ai.request.*\`; a copy of it in each of the three attributes that hold the answer would make most spans nearly twice as large. PostHog's
\`$ai_base_url\`: a generation does not keep the address it was sent to, which may be one of the operator's own network.

With \`destinations.privacy_locked: true\` every destination is in privacy mode, and a request that asks for anything else gets 403.
`

const TABLES: { readonly [type: string]: string } = {
  bigquery: bigqueryTable('observability', 'gateway_traces'),
  clickhouse: clickhouseTable('GATEWAY_TRACES'),
  snowflake: snowflakeTable('GATEWAY_TRACES'),
}

/** The page as text. Types by name. */
export function destinationsPage(types: Iterable<Destination> = DESTINATIONS.values()): string {
  const sorted = [...types].sort((a, b) => a.type.localeCompare(b.type))
  const index = sorted.map(({ type, name }) => `| [\`${type}\`](#${anchor(type, name)}) | ${name} |`).join('\n')
  return `${HEAD}\n| type | platform |\n|---|---|\n${index}\n\n${sorted.map(section).join('\n')}`
}

const title = (type: string, name: string): string => `${name} (\`${type}\`)`
const anchor = (type: string, name: string): string =>
  title(type, name)
    .toLowerCase()
    .replace(/[^a-z0-9 -]/g, '')
    .replaceAll(' ', '-')

function section(destination: Destination): string {
  const schema = z.toJSONSchema(destination.settings, { io: 'input', unrepresentable: 'any' }) as Field
  const rows = Object.entries(schema.properties ?? {})
    .filter(([name]) => name !== 'headers')
    .map(([name, field]) => settingRow(name, field, schema.required?.includes(name) === true, destination.secrets.includes(name)))
  const table = TABLES[destination.type]
  return `## ${title(destination.type, destination.name)}

| setting | | default | |
|---|---|---|---|
${rows.join('\n')}

${limitsLine(destination)}
${table === undefined ? '' : `\nThe table; columns it lacks are left out.\n\n\`\`\`sql\n${table}\n\`\`\`\n`}`
}

function settingRow(name: string, field: Field, required: boolean, secret: boolean): string {
  const notes = [required ? 'required' : '', secret ? 'secret' : ''].filter((note) => note !== '').join(', ')
  return `| \`${name}\` | ${notes} | ${cell(presetOf(field))} | ${cell(`${field.description ?? ''}${valuesOf(field.enum)}`)} |`
}

function limitsLine({ limits }: Destination): string {
  const hours = (limits.maxAgeMs ?? DESTINATION_DEFAULTS.maxAgeMs) / 3_600_000
  const time = hours >= 48 ? `${hours / 24} days` : hours >= 1 ? `${hours} h` : `${Math.round(hours * 60)} min`
  const age = limits.maxAgeMs === undefined ? `waiting no longer than ${time}` : `no older than ${time}`
  const values = limits.valueChars === undefined ? '' : `; values of at most ${limits.valueChars.toLocaleString('en')} characters`
  const linger = (limits.lingerMs ?? DESTINATION_DEFAULTS.lingerMs) / 1_000
  return `At most ${limits.records} generations and ${(limits.bytes / 1e6).toLocaleString('en')} MB at a time, after at most ${linger} s; ${age}${values}.`
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) publish('docs/reference/destinations.md', destinationsPage(), import.meta.filename)
