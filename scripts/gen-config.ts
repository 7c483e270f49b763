/**
 * Writes docs/reference/configuration.md from the schema of the configuration file: every key with its type, default and meaning.
 *
 *   node scripts/gen-config.ts            writes the page
 *   node scripts/gen-config.ts --check    fails when the page is not what would be written
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

/** A key of the file, as the page and its test see it. */
export interface Key {
  readonly path: string
  readonly type: string
  readonly preset: string
  readonly required: boolean
  readonly description: string
}

const HEAD = `# Configuration

<!-- Written by scripts/gen-config.ts; do not edit. -->

Everything has a default: the file need not exist. It is \`signalbox.yaml\`, \`signalbox.yml\` or \`signalbox.json\` in the working directory, the first that is there, or what \`--config\` or \`SIGNALBOX_CONFIG\` names.
The command line wins over the environment, which wins over the file. Unknown keys and wrong values are refused with their path, line and what would be right; \`signalbox check\` looks without starting.

In every text \`\${NAME}\` is the environment variable, which must be set, and \`\${NAME:-default}\` has a default for one that is unset or empty, a text without references. \`$\${\` is a literal \`\${\`. Nothing is asked of the variables of a provider with \`enabled: false\`. Anchors, aliases and merges (\`<<: *base\`) of YAML are understood.

\`signalbox check --schema\` prints the JSON Schema of the file. Editors complete and check with it:

\`\`\`sh
npm run --silent signalbox -- check --schema > signalbox.schema.json
\`\`\`

Then name it in the first line of a YAML file, \`# yaml-language-server: $schema=./signalbox.schema.json\`, or in a JSON file as \`"$schema": "./signalbox.schema.json"\`.

## Changing it while running

The file is looked at twice a second, and read at once on SIGHUP; a pipe is read once, at the start. A change that is wrong is logged and the last good configuration stays in force; so it does when the file is gone or empty. Calls under way keep what they began with.
Keys marked **at the start** need a new process: the log line \`configuration reloaded\` names those that differ in \`needs_restart\`. Variables are those the process was started with: a new value needs a new process, too.

## Types

| type | |
|---|---|
| duration | \`500ms\`, \`5s\`, \`15m\`, \`2h\`, \`90d\`; a plain number counts seconds |
| size | \`64kB\` (1000), \`32MiB\` (1024 x 1024); a plain number counts bytes |
| whole number, true or false | also as text, since \`\${PORT}\` yields one |
| USD | zero or more; prices of tokens are per million |
| mapping | keys of your choice, or of whoever reads them |
`

/** Variables that stand for no key of the file. */
const MORE_VARIABLES: readonly (readonly [string, string])[] = [
  ['SIGNALBOX_CONFIG', 'The configuration file; `--config`.'],
  ['SIGNALBOX_API_KEY', 'The first inference key. Without: made at the first start and printed once. `signalbox send` uses it, too.'],
  ['SIGNALBOX_MANAGEMENT_KEY', 'The first management key, the same way.'],
  [
    'SIGNALBOX_SECRET_KEY',
    '32 bytes in base64 (`openssl rand -base64 32`) that encrypt stored secrets. Without: `secret.key` in the data directory.',
  ],
  ['SIGNALBOX_NEW_SECRET_KEY', 'Of `signalbox secrets rotate`: the next secret key. Without: one is made.'],
  ['SIGNALBOX_URL', 'Of `signalbox send`: where the gateway listens; unless set, `http://127.0.0.1` at `SIGNALBOX_PORT` or 8787.'],
  ['SIGNALBOX_BEGIN_AGAIN', '`never`: `serve` stays as it was started ([operations](operations.md#idle)).'],
  [
    'HTTPS_PROXY, HTTP_PROXY, ALL_PROXY',
    'Forward proxy for requests to addresses with TLS, without, and both; small letters, too ([operations](../guides/operations.md#behind-a-forward-proxy)).',
  ],
  ['NO_PROXY', 'What is reached straight: names, addresses, ranges such as `10.0.0.0/8`. This machine always is.'],
  ['NODE_COMPILE_CACHE', 'Where Node keeps compiled code; writable, else every start compiles anew.'],
]

/** The page as text. Sections in the order of the schema. */
export function configurationPage(): string {
  const sections = Map.groupBy(configKeys(), ({ path }) => path.split(/[.[]/, 1)[0]!)
  const tables = [...sections].map(([name, keys]) => `## ${name}\n\n| key | type | default | |\n|---|---|---|---|\n${keys.map(row).join('\n')}\n`)
  return `${HEAD}\n${tables.join('\n')}\n${variablesSection()}`
}

/** Every key that takes a value, depth first. */
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
    // A section is its keys; what else can be said of it stands in a line of its own.
    return field.description === undefined ? inner : [key, ...inner]
  })
}

/** The mapping with known keys that a value is or holds, and how its path goes on. */
function insideOf(field: Node): readonly [Node | undefined, string] {
  for (const one of [field, ...(field.anyOf ?? [])]) {
    if (one.properties !== undefined) return [one, '']
    if (one.items?.properties !== undefined) return [one.items, '[]']
    if (typeof one.additionalProperties === 'object' && one.additionalProperties.properties !== undefined)
      return [one.additionalProperties, '.<name>']
  }
  return [undefined, '']
}

/** What a name may be. Where a type of its own is written (`true or false`), the texts it is understood from are not of interest. */
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
  const rows = [...overrides, ...MORE_VARIABLES].map(([names, says]) => `| ${names.replace(/\w+/g, '`$&`')} | ${cell(says)} |`)
  return `## Environment variables

| variable | |
|---|---|
${rows.join('\n')}

Vendors, search engines and document engines also take their keys from their usual variables, such as \`OPENAI_API_KEY\`; \`signalbox check\` says which providers that switches on. Search engines are listed in [server tools](../guides/server-tools.md), document engines in
[plugins](../guides/plugins.md). What tests read stands in [CONTRIBUTING.md](../../CONTRIBUTING.md).
`
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  publish('docs/reference/configuration.md', configurationPage(), import.meta.filename)
