import type { AccountBook, Patience } from '../shared/accounts.ts'
import type { Deployment } from '../shared/deployments.ts'
import { patienceWith, type Entry } from './entry.ts'

/** Names with an asterisk, and the models that they cover. */
export interface Wildcards {
  /** The deployment for a name that is not a group. */
  readonly find: (name: string) => Deployment | undefined
  /** Whether a slug also matches a wildcard, unless the wildcard's provider is the only one that serves the slug. */
  readonly covers: (slug: string, providers: readonly string[]) => boolean
}

interface Open {
  readonly pattern: RegExp
  readonly prefix: string
  readonly upstream: string
  readonly provider: string
  readonly entry: Entry
}

const ALL_AT_ONCE = 'a provider that is on takes all names that begin with its own'

/**
 * `anything/*` becomes an open provider with the name that callers use. Other patterns lead to the models that the catalog knows of the provider, or
 * are noted.
 */
export function openWildcards(
  entries: readonly Entry[],
  book: AccountBook,
  patience: Patience,
  deploymentOf: (entry: Entry, provider: string) => Deployment,
): Wildcards {
  const opened: Open[] = []
  for (const entry of entries) {
    const { name, accounts, upstream, part } = entry
    const [account] = accounts
    if (account === undefined) continue
    const prefix = /^([^/*]+)\/\*$/.exec(name)?.[1]
    const slug = prefix === undefined || upstream !== '*' ? undefined : book.openAs(prefix, account, patienceWith(entry, patience))
    const provider = slug ?? book.slugOf(account, patienceWith(entry, patience))
    opened.push({ pattern: patternOf(name), prefix: name.slice(0, name.indexOf('*')), upstream, provider, entry })
    part.at('model_name').take()
    if (slug === undefined) noteWildcard(entry, provider)
  }
  return {
    find: (name) => {
      const open = opened.find(({ pattern }) => pattern.test(name))
      if (open === undefined) return undefined
      const rest = open.pattern.exec(name)?.[1] ?? name
      return { ...deploymentOf(open.entry, open.provider), upstream: open.upstream.replace('*', () => rest) }
    },
    covers: (slug, providers) =>
      opened.some(({ pattern, provider }) => pattern.test(slug) && !(providers.length > 0 && providers.every((one) => one === provider))),
  }
}

const patternOf = (name: string): RegExp => new RegExp(`^${name.split('*').map(escaped).join('(.*)')}$`)
const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)

function noteWildcard({ part, name, upstream }: Entry, provider: string): void {
  const path = part.at('model_name')
  if (name === '*' || !name.includes('/'))
    path.note(
      'do',
      `${JSON.stringify(name)} stands for no list here: names without an author lead to the models that are known of ${provider}, and any id is served as ${provider}/ID`,
    )
  else
    path.note(
      'do',
      `${JSON.stringify(name)} for ${JSON.stringify(upstream)} cannot be said: ${ALL_AT_ONCE}, so it is ${provider}/ID; give other names under models`,
    )
}
