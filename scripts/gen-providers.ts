/**
 * Writes docs/reference/providers.md from the declarations: what switches each known provider on.
 *
 *   node scripts/gen-providers.ts            writes the page
 *   node scripts/gen-providers.ts --check    fails when the page is not what would be written
 */
import { pathToFileURL } from 'node:url'
import { switchOnOf, type SwitchOn } from '../src/catalog/switch-on.ts'
import type { Provider } from '../src/core/provider.ts'
import { PROVIDERS } from '../src/providers/index.ts'
import { cell, publish } from './reference-page.ts'

const HEAD = `# Providers

<!-- Written by scripts/gen-providers.ts; do not edit. -->

Every provider the gateway knows. One that has its variable in the environment (any of those named, the first that is set counts) is on at the next start, with the models and prices
that are known of it; \`signalbox check --providers\` says which are. What stands under *also needs* is missing at first: without it the provider stays off, and the start says so.
What stands under *also takes* is read when it is set: the id and the token of an access key, a project, a place.

An entry under \`providers\` does the same without variables: \`api_keys\` for the key, \`base_url\` for an address, \`settings\` for the rest. A provider without a variable is
switched on by such an entry alone. Servers that need no key are switched on by their address. What is not in the list and speaks a known format is
declared there, too, with a \`dialect\` and a \`base_url\`.
`

/** The page as text. Providers by slug. */
export function providersPage(providers: readonly Provider[] = PROVIDERS): string {
  const rows = providers.toSorted((a, b) => (a.slug < b.slug ? -1 : 1)).map(row)
  return `${HEAD}\n| slug | name | dialect | switched on by | also needs | also takes |\n|---|---|---|---|---|---|\n${rows.join('\n')}\n`
}

const code = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ')

const settings = (of: SwitchOn['needs']): string =>
  of.map(({ setting, variables }) => (variables.length === 0 ? setting : `${setting}: ${code(variables)}`)).join('; ')

function row(provider: Provider): string {
  const { variables, needs, takes } = switchOnOf(provider)
  const by = variables.length > 0 ? code(variables) : provider.keyless === true ? 'always on' : 'an entry under `providers`'
  return `| \`${provider.slug}\` | ${cell(provider.name)} | \`${provider.dialect}\` | ${by} | ${settings(needs)} | ${settings(takes)} |`
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) publish('docs/reference/providers.md', providersPage(), import.meta.filename)
