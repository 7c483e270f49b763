import { GatewayError } from '../../core/error.ts'
import { defined } from '../../lib/defined.ts'
import { AccountBook } from '../shared/accounts.ts'
import { modelsOf, type Deployment, type Group } from '../shared/deployments.ts'
import { SourcePart, Ledger } from '../shared/source-part.ts'
import type { ImportContext, Imported, Importer } from '../shared/importer.ts'
import { unservedKind } from '../shared/kinds.ts'
import { ADVICE, PROVIDER_ADVICE } from './advice.ts'
import { unlistedOf } from './allowed.ts'
import { keysOf, type Key } from './keys.ts'
import { NAME, PLUGINS } from './names.ts'

/** Bifrost's `config.json`. */
export const bifrost: Importer = { name: NAME, title: 'Bifrost', file: 'config.json', read }

function read(tree: unknown, context: ImportContext): Imported {
  const ledger = new Ledger()
  const root = new SourcePart(tree, ledger)
  const providers = root.at('providers')
  if (!providers.isMapping || providers.members().length === 0)
    throw new GatewayError(
      'invalid_request',
      'This is not a Bifrost configuration: a mapping under providers is expected (what Bifrost keeps in its database is not in its file)',
    )
  const book = new AccountBook(context.vendors)
  const unlisted = unlistedOf(root.at('version').value)
  const groups = providers.members().flatMap((provider) => groupsOf(provider, keysOf(provider, unlisted, context), book, context))
  for (const plugin of root.at('plugins').items()) notePlugin(plugin)
  for (const section of ['governance', 'framework']) root.at(section).members()
  const sections = sectionsOf(root.at('client'))
  const advice = { ...ADVICE }
  for (const { path } of providers.members()) for (const [member, text] of Object.entries(PROVIDER_ADVICE)) advice[`${path}.${member}`] = text
  const models = modelsOf(groups, context, () => false)
  return { file: { providers: book.drafts(), models, ...sections }, notes: ledger.close(root, advice) }
}

/** Keys that allow every model make their provider open, under the name that callers use. One name leads to one account only. */
function openAll(provider: SourcePart, keys: readonly Key[], book: AccountBook): void {
  const open = keys.filter(({ models }) => models === undefined)
  for (const [index, { part, account, patience }] of open.entries()) {
    if (index === 0 && book.openAs(provider.key, account, patience) !== undefined) continue
    const slug = book.slugOf(account, patience)
    part.at('models').note('do', `takes any model, as ${slug}/ID: ${provider.key}/ID leads to one account at most; models[].endpoints share calls`)
  }
}

/** The models that callers request from a provider by name. */
function groupsOf(provider: SourcePart, keys: readonly Key[], book: AccountBook, context: ImportContext): readonly Group[] {
  const named = new Map<string, Deployment[]>()
  openAll(provider, keys, book)
  const listed = new Set(keys.flatMap(({ models }) => models ?? []))
  const modelsByKey = keys.map((key) => new Set([...(key.models ?? [...listed].filter((model) => !key.isDenied(model))), ...key.ids.keys()]))
  for (const [index, key] of keys.entries()) {
    const slug = book.slugOf(key.account, key.patience)
    for (const model of modelsByKey[index]!) {
      const name = `${provider.key}/${model}`
      const kind = unservedKind(model) ?? unservedKind(key.ids.get(model)?.id ?? model)
      if (kind === undefined) named.set(name, [...(named.get(name) ?? []), deploymentOf(key, model, slug, context)])
      // Noted only for keys that list the model or have another id for it. Keys for every model do not mention it.
      else if (key.models !== undefined || key.ids.has(model))
        key.part.at('models').note('lost', `${JSON.stringify(name)} is not carried: nothing here serves models for ${kind}`)
    }
  }
  for (const [index, { part, weight }] of keys.entries())
    if (weight !== undefined && [...modelsByKey[index]!].every((model) => (named.get(`${provider.key}/${model}`)?.length ?? 0) < 2))
      part.at('weight').note('fine', 'counts among endpoints of a model; keys of one account are used in turns')
  return [...named].map(([name, deployments]) => ({ name, deployments, aliases: [], spares: [] }))
}

function deploymentOf(
  { account: { vendor = '' }, ids, weight }: Key,
  model: string,
  provider: string,
  { vendors, pricesOf }: ImportContext,
): Deployment {
  const alias = ids.get(model)
  const { id: upstream, known } = alias ?? { id: model, known: model }
  // Costs and budgets depend on which model it is there, whatever its id.
  const pricing = alias === undefined || pricesOf(vendor, upstream) !== undefined ? undefined : pricesOf(vendor, known)
  if (pricing !== undefined) alias?.part.note('do', AS_KNOWN)
  const author = vendors.get(vendor)?.author ?? provider
  return { provider, author, upstream, known, rateLimits: {}, embeds: false, ...defined({ weight, pricing }) }
}

const AS_KNOWN = 'its prices of today are those of the endpoint, which has another id: as that changes, so does pricing'

function notePlugin(plugin: SourcePart): void {
  if (plugin.at('enabled').value === false) return plugin.note('fine', 'is off')
  const name = String(plugin.at('name').value)
  plugin.note('do', Object.hasOwn(PLUGINS, name) ? PLUGINS[name]! : `${JSON.stringify(name)} has no counterpart, or is not known`)
}

function sectionsOf(client: SourcePart): { readonly [section: string]: object } {
  const megabytes = client.at('max_request_body_size_mb')
  const size = megabytes.exists ? megabytes.number() : undefined
  const origins = client.at('allowed_origins').exists ? client.at('allowed_origins').texts() : []
  const good = origins.filter((origin) => origin === '*' || URL.parse(origin)?.origin === origin)
  if (good.length < origins.length)
    client.at('allowed_origins').note('do', 'server.allowed_origins takes scheme and host of a page; others are left out')
  const server = {
    ...(size === undefined || size <= 0 ? {} : { body_limit: `${size}MB` }),
    ...(good.length === 0 ? {} : { allowed_origins: good }),
  }
  return Object.keys(server).length === 0 ? {} : { server }
}
