/**
 * Writes docs/reference/destinations.md from the destination types: settings with defaults and secrets, limits, and the tables that warehouses need.
 *
 *   node scripts/gen-destinations.ts            writes the page
 *   node scripts/gen-destinations.ts --check    fails if the page differs from what would be written
 */
import { pathToFileURL } from 'node:url'
import { z } from 'zod'
import { DESTINATION_DEFAULTS, type Destination } from '../src/core/destination.ts'
import { bigqueryTable, clickhouseTable, snowflakeTable } from '../src/destinations/shared/warehouse-ddl.ts'
import { DESTINATIONS } from '../src/destinations/index.ts'
import { cell, presetOf, publish, valuesOf, type Field } from './reference-page.ts'

const HEAD = `# Destinations

<!-- Written by scripts/gen-destinations.ts; do not edit. -->

This page describes \`config\` of \`POST /api/v1/observability/destinations\` for every \`type\`. Unknown keys are refused. Secrets are stored encrypted and shown masked.
Every type also accepts \`headers\`, a map of additional headers. Their values are secrets. A header that the type sets itself takes precedence.

How deliveries are batched, retried and bounded is the same for all types; the line after the settings says what differs. Sizes are of one
request before compression.

* A generation older than its type's age limit becomes a dead letter, because the platform would silently drop it.
* A generation larger than a request is shortened until it fits, its longest texts first; it then has \`content_truncated\`. Of thousands of short messages the newest are kept, with the answer. Names and tags are shortened, too, and last the largest of the parameters and of the caller's own metadata are removed.

| type | address |
|---|---|
| \`bigquery\`, \`newrelic\`, \`opik\`, \`snowflake\` | the vendor's; the operator can change it with \`destinations.base_urls\` in \`signalbox.yaml\` |
| \`nats\` | only what \`destinations.base_urls\` says; \`http:\` and \`nats:\` are plain, \`https:\` and \`tls:\` encrypted |
| \`file\` | below \`exports/<workspace>\` in the data directory; workspaces never share a file |
| all others | from their config |

\`destinations.base_urls\` with other schemes or unknown types is refused at the start.

Two fields that the hosted service sends are left out:

* \`rawRequest\` in \`gen_ai.completion\`: the request is in \`gen_ai.prompt\` and \`gen_ai.request.*\`. A copy in each of the three attributes of the answer would nearly double most spans.
* PostHog's \`$ai_base_url\`: generations do not store the address they were sent to, which may be in the operator's own network.

With \`destinations.privacy_locked: true\` every destination is in privacy mode, and a request for anything else is refused with 403.
`

const TABLES: { readonly [type: string]: string } = {
  bigquery: bigqueryTable('observability', 'gateway_traces'),
  clickhouse: clickhouseTable('GATEWAY_TRACES'),
  snowflake: snowflakeTable('GATEWAY_TRACES'),
}

/** The page as text, with types sorted by name. */
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
${table === undefined ? '' : `\nCreate the table like this. Columns that your table lacks are left out.\n\n\`\`\`sql\n${table}\n\`\`\`\n`}`
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
