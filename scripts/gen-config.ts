/**
 * Writes docs/reference/configuration.md from the schema of the configuration file: every key with its type, default and meaning.
 *
 *   node scripts/gen-config.ts            writes the page
 *   node scripts/gen-config.ts --check    fails if the page differs from what would be written
 */
import { pathToFileURL } from 'node:url'
import { OVERRIDES } from '../src/config/load.ts'
import { configJsonSchema } from '../src/config/schema.ts'
import { READ_AT_START } from '../src/config/watch.ts'
import { cell, presetOf, publish, valuesOf, type Field } from './reference-page.ts'

interface Node extends Field {
  readonly anyOf?: readonly Node[]
  readonly const?: string
  readonly 'x-type'?: string
  readonly items?: Node
  readonly properties?: { readonly [name: string]: Node }
  readonly additionalProperties?: Node | boolean
}

/** A key of the configuration file, for the page and its test. */
export interface Key {
  readonly path: string
  readonly type: string
  readonly preset: string
  readonly required: boolean
  readonly description: string
}

const HEAD = `# Configuration

<!-- Written by scripts/gen-config.ts; do not edit. -->

Everything has a default, so you need no configuration file. Signalbox reads the first of \`signalbox.yaml\`, \`signalbox.yml\` and \`signalbox.json\` that exists in the working directory, or the file that \`--config\` or \`SIGNALBOX_CONFIG\` names.
The command line overrides the environment, and the environment overrides the file. Signalbox refuses unknown keys and wrong values with their path, their line and what would be right. \`signalbox check\` checks the file without starting.

Texts may contain environment variables:

| written | means |
|---|---|
| \`\${NAME}\` | the variable, which must be set |
| \`\${NAME:-default}\` | the variable, or the default if it is unset or empty; the default may not contain variables |
| \`$\${\` | a literal \`\${\` |

The variables of a provider with \`enabled: false\` need not be set. YAML anchors, aliases and merges (\`<<: *base\`) work.

\`signalbox check --schema\` prints the JSON Schema of the file, with which editors complete and check it:

\`\`\`sh
npm run --silent signalbox -- check --schema > signalbox.schema.json
\`\`\`

Then name it in the first line of a YAML file, \`# yaml-language-server: $schema=./signalbox.schema.json\`, or in a JSON file as \`"$schema": "./signalbox.schema.json"\`.

## Changing it while running

Signalbox checks the file for changes twice a second, and reads it when two checks in a row find the same, so that half of a change is not put in force. On SIGHUP it reads it at once. It reads a pipe only once, at the start. If the new file is wrong, missing or empty, the last valid configuration stays in force; a wrong file is also logged. An answer under way goes on as it began. Later turns of a tool loop use the new configuration, and what the loop began with where the new one no longer serves its model ([why](../decisions/0430-a-tool-loop-outlasts-its-model.md)).

Keys marked **at the start** take effect only after a restart. The log line \`configuration reloaded\` lists changed keys of this kind in \`needs_restart\`. A process keeps the environment variables that it was started with, so a new value needs a restart, too.

## Types

| type | |
|---|---|
| duration | \`500ms\`, \`5s\`, \`15m\`, \`2h\`, \`90d\`; a plain number counts seconds |
| size | \`64kB\` (1000), \`32MiB\` (1024 x 1024); a plain number counts bytes |
| whole number, true or false | also as text, because \`\${PORT}\` is text |
| USD | zero or more; prices of tokens are per million |
| mapping | keys that you choose, or that the reader of the mapping knows |
`

/** Variables that do not correspond to a key of the file. */
const MORE_VARIABLES: readonly (readonly [string, string])[] = [
  ['SIGNALBOX_CONFIG', 'The configuration file; `--config`.'],
  ['SIGNALBOX_API_KEY', 'The first inference key. If unset, the first start creates one and prints it once. `signalbox send` uses it, too.'],
  ['SIGNALBOX_MANAGEMENT_KEY', 'The first management key, in the same way.'],
  [
    'SIGNALBOX_SECRET_KEY',
    '32 bytes in base64 (`openssl rand -base64 32`) that encrypt stored secrets. If unset: `secret.key` in the data directory.',
  ],
  ['SIGNALBOX_NEW_SECRET_KEY', 'For `signalbox secrets rotate`: the new secret key. If unset, the command creates one.'],
  ['SIGNALBOX_URL', 'For `signalbox send`: where the gateway listens. If unset: `http://127.0.0.1` at `SIGNALBOX_PORT` or 8787.'],
  [
    'SIGNALBOX_BEGIN_AGAIN',
    '`never`: `serve` does not restart itself with better settings for memory and threads ([operations](operations.md#idle)).',
  ],
  [
    'HTTPS_PROXY, HTTP_PROXY, ALL_PROXY',
    'Forward proxy for requests to addresses with TLS, without TLS, and both. Lower-case names work, too ([operations](../guides/operations.md#behind-a-forward-proxy)).',
  ],
  ['NO_PROXY', 'Names, addresses and ranges (`10.0.0.0/8`) that are reached without the proxy. This machine always is.'],
  ['NODE_COMPILE_CACHE', 'Directory for compiled code. If Node cannot write there, every start compiles again.'],
]

/** The page as text, with sections in the order of the schema. */
export function configurationPage(): string {
  const sections = Map.groupBy(configKeys(), ({ path }) => path.split(/[.[]/, 1)[0]!)
  const tables = [...sections].map(([name, keys]) => `## ${name}\n\n| key | type | default | |\n|---|---|---|---|\n${keys.map(row).join('\n')}\n`)
  return `${HEAD}\n${tables.join('\n')}\n${variablesSection()}`
}

/** Every key that accepts a value, depth first. */
export function configKeys(): readonly Key[] {
  return keysOf(configJsonSchema(), '')
}

function keysOf(node: Node, prefix: string): readonly Key[] {
  return Object.entries(node.properties ?? {}).flatMap(([name, field]) => {
    const path = prefix === '' ? name : `${prefix}.${name}`
    const key: Key = {
      path,
      type: typeOf(field),
      preset: isNothing(field.default) ? '' : presetOf(field),
      required: node.required?.includes(name) === true,
      description: `${field.description ?? ''}${valuesOf(namesOf(field))}`,
    }
    const [within, beneath] = insideOf(field)
    if (within === undefined) return [key]
    const inner = keysOf(within, `${path}${beneath}`)
    // A section consists of its keys; it has a line of its own only if it has a description.
    return field.description === undefined ? inner : [key, ...inner]
  })
}

/** The mapping with known keys that a value is or contains, and the suffix of its path. */
function insideOf(field: Node): readonly [Node | undefined, string] {
  for (const one of [field, ...(field.anyOf ?? [])]) {
    if (one.properties !== undefined) return [one, '']
    if (one.items?.properties !== undefined) return [one.items, '[]']
    if (typeof one.additionalProperties === 'object' && one.additionalProperties.properties !== undefined)
      return [one.additionalProperties, '.<name>']
  }
  return [undefined, '']
}

/**
 * The allowed values of an enum. Where the schema states a type explicitly (`true or false`), the texts that are parsed as that type do not matter.
 */
const namesOf = (field: Node): readonly unknown[] | undefined =>
  [field, field.items, ...(field['x-type'] === undefined ? (field.anyOf ?? []) : [])].find((one) => one?.enum !== undefined)?.enum

const isNothing = (value: unknown): boolean => typeof value === 'object' && value !== null && Object.keys(value).length === 0

function typeOf(field: Node): string {
  const types: readonly string[] = [field.type ?? []].flat()
  const [type = 'any'] = types.filter((one) => one !== 'null')
  if (types.length > 1 && types.includes('null')) return `${typeOf({ ...field, type })} or \`null\``
  if (field['x-type'] !== undefined) return field['x-type']
  if (field.const !== undefined) return `\`${field.const}\``
  if (field.anyOf !== undefined) return [...new Set(field.anyOf.map(typeOf))].join(' or ')
  if (field.enum !== undefined) return 'name'
  if (type === 'array') return field.items?.properties === undefined ? `list of ${typeOf(field.items ?? {})}s` : 'list'
  return TYPES[type] ?? '`null`'
}

const TYPES: { readonly [type: string]: string } = { object: 'mapping', boolean: 'true or false', string: 'text', number: 'number' }

function row({ path, type, preset, required, description }: Key): string {
  const start = path in READ_AT_START ? ' **At the start.**' : ''
  return `| \`${path}\` | ${type} | ${required ? 'required' : cell(preset)} | ${cell(`${description}${start}`.trim())} |`
}

function variablesSection(): string {
  const overrides = OVERRIDES.map((entry) => {
    const flag = 'flag' in entry ? `, \`${entry.flag}\`` : ''
    return [entry.variable, `\`${entry.path.join('.')}\`${flag}.`] as const
  })
  const rows = [...overrides, ...MORE_VARIABLES].map(([names, description]) => `| ${names.replace(/\w+/g, '`$&`')} | ${cell(description)} |`)
  return `## Environment variables

| variable | |
|---|---|
${rows.join('\n')}

Vendors, search engines and document engines also take their keys from their usual variables, such as \`OPENAI_API_KEY\`; \`signalbox check\` says which providers that switches on. Search engines are listed in [server tools](../guides/server-tools.md), document engines in
[plugins](../guides/plugins.md). Variables for tests are in [CONTRIBUTING.md](../../CONTRIBUTING.md).
`
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  publish('docs/reference/configuration.md', configurationPage(), import.meta.filename)
