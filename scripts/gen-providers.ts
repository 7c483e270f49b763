/**
 * Writes docs/reference/providers.md from the declarations: what switches each known provider on.
 *
 *   node scripts/gen-providers.ts            writes the page
 *   node scripts/gen-providers.ts --check    fails if the page differs from what would be written
 */
import { pathToFileURL } from 'node:url'
import { switchOnOf, type SwitchOn } from '../src/catalog/switch-on.ts'
import type { Provider } from '../src/core/provider.ts'
import { PROVIDERS } from '../src/providers/index.ts'
import { cell, publish } from './reference-page.ts'

const HEAD = `# Providers

<!-- Written by scripts/gen-providers.ts; do not edit. -->

This page lists every provider that Signalbox knows. Set one of the variables under *switched on by*, and the provider is on after the next start, with its known models and prices. If several are set, the first counts.

* Without the settings under *also needs* the provider stays off, and the start says so.
* The settings under *also takes* are optional: the id and token of an access key, a project, a location.
* \`signalbox check --providers\` shows which providers are on.

You can also write an entry under \`providers\`: \`api_keys\` for the key, \`base_url\` for an address, \`settings\` for the rest. Providers without a variable need such an entry. Servers without a key are switched on by their address. If a server is not in the list but speaks a known format, declare it there with a \`dialect\` and a \`base_url\`.
`

/** The page as text, with providers sorted by slug. */
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
