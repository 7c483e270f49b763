import { GatewayError } from '../../core/error.ts'
import { defined } from '../../lib/defined.ts'
import { AccountBook, type Patience } from '../shared/accounts.ts'
import { modelsOf, type Deployment, type Group } from '../shared/deployments.ts'
import { SourcePart, Ledger } from '../shared/source-part.ts'
import type { ImportContext, Imported, Importer } from '../shared/importer.ts'
import { patienceWith, readEntry, type Credentials, type Entry } from './entry.ts'
import { readFallbacks, type Fallbacks } from './fallbacks.ts'
import { included } from './included.ts'
import { NAME } from './names.ts'
import { ADVICE, patienceOf, sectionsOf } from './settings.ts'
import { openWildcards } from './wildcards.ts'

/** The `config.yaml` of the LiteLLM proxy. */
export const litellm: Importer = { name: NAME, title: 'LiteLLM', file: 'config.yaml', included, read }

function read(tree: unknown, context: ImportContext): Imported {
  const ledger = new Ledger()
  const root = new SourcePart(tree, ledger)
  const list = root.at('model_list')
  if (!list.isList)
    throw new GatewayError(
      'invalid_request',
      'This is not a configuration of the LiteLLM proxy: a list under model_list is expected (models that LiteLLM keeps in its database are not in its file)',
    )
  const entries = readEntries(root, context)
  const patience = patienceOf(root)
  const book = new AccountBook(context.vendors)
  const deploymentOf = (entry: Entry, provider: string): Deployment => toDeployment(entry, provider, context)
  const isWild = ({ name }: Entry): boolean => name.includes('*')
  const wildcards = openWildcards(entries.filter(isWild), book, patience, deploymentOf)
  const named = new Map<string, Deployment[]>()
  for (const entry of entries.filter((one) => !isWild(one))) {
    const group = named.get(entry.name) ?? []
    named.set(entry.name, group)
    for (const account of entry.accounts) group.push(deploymentOf(entry, book.slugOf(account, patienceWith(entry, patience))))
  }
  const aliases = aliasesOf(root.at('router_settings').at('model_group_alias'), named)
  const meant = new Map([...aliases].flatMap(([name, others]) => others.map((alias) => [alias, name] as const)))
  const fallbacks = readFallbacks([root.at('router_settings'), root.at('litellm_settings')], meant)
  const groups = [...named].map(([name, deployments]): Group => {
    const find = (other: string): readonly Deployment[] => {
      const found = named.get(other) ?? wildcards.find(other)
      // Embedding models are no fallbacks for text models, nor the other way round.
      return [found ?? []].flat().filter(({ embeds }) => embeds === deployments[0]?.embeds)
    }
    return { name, deployments: shared(deployments), aliases: aliases.get(name) ?? [], spares: sparesOf(name, fallbacks, find) }
  })
  const models = modelsOf(groups, context, (slug, group) =>
    wildcards.covers(
      slug,
      group.deployments.map(({ provider }) => provider),
    ),
  )
  const isServed = (name: string): boolean => named.has(meant.get(name) ?? name) || wildcards.find(name) !== undefined
  const sections = sectionsOf(root, isServed)
  for (const variable of root.at('environment_variables').members()) variable.note('do', 'set it where the gateway starts')
  for (const entry of entries) noteTimeouts(entry, book, patience)
  for (const [name, part] of fallbacks.named)
    if (!isServed(name)) part.note('do', `${JSON.stringify(name)} is left out: no entry of model_list has this name`)
  return { file: { providers: book.drafts(), models, ...sections }, notes: ledger.close(root, ADVICE) }
}

function readEntries(root: SourcePart, context: ImportContext): readonly Entry[] {
  const credentials: Credentials = new Map(
    root
      .at('credential_list')
      .items()
      .flatMap((item) => {
        const name = item.at('credential_name').text()
        return name === undefined ? [] : [[name, item.at('credential_values')] as const]
      }),
  )
  return root
    .at('model_list')
    .items()
    .flatMap((item) => readEntry(item, credentials, context) ?? [])
}

function toDeployment(entry: Entry, provider: string, { vendors }: ImportContext): Deployment {
  const { upstream, known, weight, order, rateLimits, pricing, contextLength, maxOutputTokens, embeds, accounts } = entry
  const author = vendors.get(accounts[0]?.vendor ?? '')?.author ?? provider
  return { provider, author, upstream, rateLimits, embeds, ...defined({ known, weight, order, pricing, contextLength, maxOutputTokens }) }
}

/** Notes an entry whose timeouts differ from those of the other entries of its account. */
function noteTimeouts(entry: Entry, book: AccountBook, patience: Patience): void {
  const params = entry.part.at('litellm_params')
  for (const account of entry.accounts.slice(0, 1)) {
    const slug = book.slugOf(account, patienceWith(entry, patience))
    const common = book.patienceOf(slug)
    for (const [name, param] of [['total', 'timeout'] as const, ['firstToken', 'stream_timeout'] as const]) {
      const own = entry.patience[name]
      if (own === undefined || own === common[name]) continue
      const counts = common[name] === undefined ? 'none of its own' : `the longest, ${common[name]} seconds`
      params.at(param).note('do', `the provider ${slug} has one patience for all its models: ${counts}`)
    }
  }
}

/** Without weights, LiteLLM distributes calls by the rate limits. */
function shared(deployments: readonly Deployment[]): readonly Deployment[] {
  if (deployments.some(({ weight }) => weight !== undefined)) return deployments
  for (const limit of ['requests_per_minute', 'tokens_per_minute'] as const) {
    const amounts = deployments.map(({ rateLimits }) => rateLimits[limit])
    if (amounts.every((amount) => typeof amount === 'number')) return deployments.map((one, index) => ({ ...one, weight: amounts[index]! }))
  }
  return deployments
}

/** Aliases of groups. An alias for an unknown group is noted. */
function aliasesOf(part: SourcePart, named: ReadonlyMap<string, unknown>): ReadonlyMap<string, readonly string[]> {
  const aliases = new Map<string, string[]>()
  for (const alias of part.members()) {
    const target = alias.isMapping ? alias.at('model').text() : alias.text()
    if (alias.isMapping && alias.at('hidden').flag() === true) alias.at('hidden').note('fine', 'lists show models, not their other names')
    if (named.has(alias.key)) alias.note('do', 'left out: an entry of model_list has this name')
    else if (target === undefined || !named.has(target))
      alias.note('lost', `${JSON.stringify(alias.key)} is not carried: no entry of model_list has the name it stands for`)
    else aliases.set(target, [...(aliases.get(target) ?? []), alias.key])
  }
  return aliases
}

const MOST_FALLBACKS = 5

/** The fallbacks of a group, including fallbacks of fallbacks, to the same depth as in LiteLLM. */
function sparesOf(name: string, fallbacks: Fallbacks, find: (name: string) => readonly Deployment[]): readonly Deployment[] {
  const seen = new Set([name])
  let reached: readonly string[] = [name]
  for (let depth = 0; depth < MOST_FALLBACKS && reached.length > 0; depth++) {
    reached = [...new Set(reached.flatMap((one) => fallbacks.of(one)))].filter((one) => !seen.has(one))
    for (const one of reached) seen.add(one)
  }
  return [...seen].slice(1).flatMap(find)
}
