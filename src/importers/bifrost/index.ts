import { GatewayError } from '../../core/error.ts'
import { AccountBook } from '../shared/accounts.ts'
import { modelsOf, type Deployment, type Group } from '../shared/deployments.ts'
import { Given, Ledger } from '../shared/given.ts'
import type { ImportContext, Imported, Importer } from '../shared/importer.ts'
import { unservedKind } from '../shared/kinds.ts'
import { ADVICE, PROVIDER_ADVICE } from './advice.ts'
import { keysOf, type Key } from './keys.ts'
import { NAME, PLUGINS } from './names.ts'

/** The gateway's `config.json`. */
export const bifrost: Importer = { name: NAME, title: 'Bifrost', file: 'config.json', read }

function read(tree: unknown, context: ImportContext): Imported {
  const ledger = new Ledger()
  const root = new Given(tree, ledger)
  const providers = root.at('providers')
  if (!providers.isMapping || providers.members().length === 0)
    throw new GatewayError(
      'invalid_request',
      'This is no configuration of Bifrost: a mapping under providers is expected (what it keeps in its database is not in its file)',
    )
  const book = new AccountBook(context.vendors)
  const groups = providers.members().flatMap((provider) => groupsOf(provider, keysOf(provider, context), book, context))
  for (const plugin of root.at('plugins').items()) speakOfPlugin(plugin)
  for (const section of ['governance', 'framework']) root.at(section).members()
  const sections = sectionsOf(root.at('client'))
  const advice = { ...ADVICE }
  for (const { path } of providers.members()) for (const [member, said] of Object.entries(PROVIDER_ADVICE)) advice[`${path}.${member}`] = said
  const models = modelsOf(groups, context, () => false)
  return { file: { providers: book.drafts(), models, ...sections }, notes: ledger.close(root, advice) }
}

/** Keys for everything open their provider, under the name that callers say; one name leads to one account. */
function openAll(provider: Given, keys: readonly Key[], book: AccountBook): void {
  const open = keys.filter(({ models }) => models === undefined)
  for (const [index, { given, account, patience }] of open.entries()) {
    if (index === 0 && book.openAs(provider.key, account, patience) !== undefined) continue
    const slug = book.slugOf(account, patience)
    given.at('models').note('do', `takes any model, as ${slug}/ID: ${provider.key}/ID leads to one account at most; models[].endpoints share calls`)
  }
}

/** What callers ask of a provider by name. */
function groupsOf(provider: Given, keys: readonly Key[], book: AccountBook, { vendors }: ImportContext): readonly Group[] {
  const named = new Map<string, Deployment[]>()
  openAll(provider, keys, book)
  for (const { given, account, patience, models, ids, weight } of keys) {
    if (weight !== undefined && (keys.length === 1 || (models === undefined && ids.size === 0)))
      given.at('weight').note('fine', 'counts among endpoints of a model; keys of one account are used in turns')
    const slug = book.slugOf(account, patience)
    const author = vendors.get(account.vendor ?? '')?.author ?? slug
    for (const model of new Set([...(models ?? []), ...ids.keys()])) {
      const upstream = ids.get(model) ?? model
      const kind = unservedKind(model) ?? unservedKind(upstream)
      if (kind !== undefined) {
        given.at('models').note('lost', `${JSON.stringify(`${provider.key}/${model}`)} is not carried: nothing here serves models for ${kind}`)
        continue
      }
      const name = `${provider.key}/${model}`
      const deployment = {
        provider: slug,
        author,
        upstream,
        known: model,
        rateLimits: {},
        embeds: false,
        ...(weight === undefined ? {} : { weight }),
      }
      named.set(name, [...(named.get(name) ?? []), deployment])
    }
  }
  return [...named].map(([name, deployments]) => ({ name, deployments, aliases: [], spares: [] }))
}

function speakOfPlugin(plugin: Given): void {
  if (plugin.at('enabled').value === false) return plugin.note('fine', 'is off')
  const name = String(plugin.at('name').value)
  plugin.note('do', Object.hasOwn(PLUGINS, name) ? PLUGINS[name]! : `${JSON.stringify(name)} has no counterpart, or is not known`)
}

function sectionsOf(client: Given): { readonly [section: string]: object } {
  const megabytes = client.at('max_request_body_size_mb')
  const size = megabytes.isThere ? megabytes.number() : undefined
  const origins = client.at('allowed_origins').isThere ? client.at('allowed_origins').texts() : []
  const good = origins.filter((origin) => origin === '*' || URL.parse(origin)?.origin === origin)
  if (good.length < origins.length)
    client.at('allowed_origins').note('do', 'server.allowed_origins takes scheme and host of a page; others are left out')
  const server = {
    ...(size === undefined || size <= 0 ? {} : { body_limit: `${size}MB` }),
    ...(good.length === 0 ? {} : { allowed_origins: good }),
  }
  return Object.keys(server).length === 0 ? {} : { server }
}
