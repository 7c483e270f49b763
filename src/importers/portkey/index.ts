import { GatewayError } from '../../core/error.ts'
import { AccountBook } from '../shared/accounts.ts'
import { modelsOf, type Deployment, type Group } from '../shared/deployments.ts'
import { SourcePart, Ledger, type Advice } from '../shared/source-part.ts'
import type { ImportContext, Imported, Importer } from '../shared/importer.ts'
import { unservedKind } from '../shared/kinds.ts'
import { adviceAt } from './advice.ts'
import { namesAsked } from './conditions.ts'
import { CONFIG_MODEL, NAME } from './names.ts'
import { targetOf, whoIn, type Target } from './targets.ts'

/** A gateway config, as Portkey's page shows it or as requests carry it. */
export const portkey: Importer = { name: NAME, title: 'Portkey', file: 'config.json', read }

const AS_MODEL = `is the model ${CONFIG_MODEL}, for calls that name none as well: callers name it, and send no config in a header`

interface Leaf extends Target {
  readonly weight: number | undefined
}

/** The targets of a call, and those that replace them during an outage. */
interface Flow {
  readonly first: readonly Leaf[]
  readonly spares: readonly Leaf[]
}

const NOBODY: Flow = { first: [], spares: [] }

function read(tree: unknown, context: ImportContext): Imported {
  const ledger = new Ledger()
  const root = new SourcePart(tree, ledger)
  if (!root.at('targets').exists && !whoIn(root).exists)
    throw new GatewayError(
      'invalid_request',
      'This is not a Portkey gateway config: targets, a provider, a virtual_key or a model with its provider (@provider/model) is expected',
    )
  const book = new AccountBook(context.vendors)
  const reader = new Reader(context, book)
  const flow = reader.flowOf(root, [])
  const named = [[CONFIG_MODEL, flow, []] as const, ...reader.named]
  const groups = named.flatMap(([name, one, others]) => groupOf(name, others, one, context) ?? [])
  const models = modelsOf(groups, context, () => false)
  const isDefault = groups.some(({ name }) => name === CONFIG_MODEL)
  if (isDefault) (root.at('strategy').exists ? root.at('strategy').at('mode') : whoIn(root)).note('do', AS_MODEL)
  const notes = ledger.close(root, reader.advice)
  return { file: { providers: book.drafts(), models, ...(isDefault ? { defaults: { model: CONFIG_MODEL } } : {}) }, notes }
}

class Reader {
  readonly advice: { [path: string]: Advice } = {}
  readonly named: (readonly [name: string, flow: Flow, others: readonly string[]])[] = []
  readonly #context: ImportContext
  readonly #book: AccountBook

  constructor(context: ImportContext, book: AccountBook) {
    this.#context = context
    this.#book = book
  }

  /** `around`: the enclosing targets, nearest first. They supply what a target leaves out. */
  flowOf(part: SourcePart, around: readonly SourcePart[]): Flow {
    Object.assign(this.advice, adviceAt(part.path.replace(/\[\d+\]/g, '[]')))
    const targets = part.at('targets').items()
    if (targets.length === 0) return this.#leafOf(part, around)
    const strategy = part.at('strategy')
    const mode = strategy.at('mode').text() ?? 'single'
    const flowOf = (target: SourcePart): Flow => this.flowOf(target, [part, ...around])
    if (mode === 'loadbalance') return balanced(targets, flowOf)
    const flows = targets.map(flowOf)
    for (const target of targets) if (target.at('weight').exists) target.at('weight').note('fine', 'counts where load is balanced')
    if (mode === 'conditional') return this.#conditional(strategy, targets, flows)
    const [first = NOBODY, ...rest] = flows
    if (mode !== 'fallback') {
      if (mode !== 'single') strategy.at('mode').note('do', 'is not known: the first target serves')
      for (const target of targets.slice(1)) target.note('fine', 'is never asked there, and not here')
      return first
    }
    if (rest.length > 1)
      strategy.at('mode').note('do', 'those after the first are endpoints of weight 0: of several the cheaper one is asked first, not in this order')
    return { first: first.first, spares: [...first.spares, ...rest.flatMap((flow) => [...flow.first, ...flow.spares])] }
  }

  /** Each target becomes a separate model, because nothing here chooses by the content of a request. */
  #conditional(strategy: SourcePart, targets: readonly SourcePart[], flows: readonly Flow[]): Flow {
    const names = targets.map((target) => target.at('name').text())
    const isModel = (name: string): boolean => (flows[names.indexOf(name)]?.first ?? []).some(({ model }) => model !== undefined)
    const namesByTarget = namesAsked(strategy.at('conditions'), isModel)
    for (const [index, name] of names.entries())
      if (name !== undefined) this.named.push([name, flows[index]!, (namesByTarget.get(name) ?? []).filter((other) => !names.includes(other))])
    const chosen = strategy.at('default').exists ? names.indexOf(strategy.at('default').text()) : -1
    return flows[chosen] ?? NOBODY
  }

  #leafOf(part: SourcePart, around: readonly SourcePart[]): Flow {
    part.at('name').take()
    const target = targetOf(part, around, this.#context, this.#book)
    return target === undefined ? NOBODY : { first: [{ ...target, weight: undefined }], spares: [] }
  }
}

const BY_PRICE = 'accounts share the calls of a model by price and health; a weight is that of an endpoint under models'

const weightOf = (target: SourcePart): number | undefined => (target.at('weight').exists ? target.at('weight').number() : undefined)

/** Each has its share: 1 where none is said, of which those that it balances itself have theirs. */
function balanced(targets: readonly SourcePart[], flowOf: (target: SourcePart) => Flow): Flow {
  const weighted = targets.filter((target) => {
    const isAsked = weightOf(target) !== 0
    if (!isAsked) target.note('fine', 'has weight 0 and gets no call there: left out')
    return isAsked
  })
  const flows = weighted.map(flowOf)
  const isOpen = flows.some(({ first }) => first.some(({ model }) => model === undefined))
  if (isOpen) for (const target of weighted) if (target.at('weight').exists) target.at('weight').note('do', BY_PRICE)
  const first = flows.flatMap(({ first: leaves }, index) => {
    const total = leaves.reduce((sum, { weight }) => sum + (weight ?? 1), 0)
    return leaves.map((leaf) => ({ ...leaf, weight: ((weightOf(weighted[index]!) ?? 1) * (leaf.weight ?? 1)) / total }))
  })
  return { first, spares: flows.flatMap(({ spares }) => spares) }
}

/** Undefined if callers name the model; then the providers serve it without a group. */
function groupOf(name: string, aliases: readonly string[], { first, spares }: Flow, { vendors }: ImportContext): Group | undefined {
  const isSaid = ({ model }: Leaf): boolean => model !== undefined
  if (first.length === 0 || !first.every(isSaid)) {
    for (const { part, model } of [...first, ...spares])
      whoIn(part).note(
        'do',
        model === undefined ? CALLERS : 'names a model, beside targets that take any: a request or a preset names both under models',
      )
    return undefined
  }
  const toDeployment = ({ account, provider, model = '', weight }: Leaf): Deployment => {
    const author = vendors.get(account.vendor ?? '')?.author ?? provider
    return { provider, author, upstream: model, rateLimits: {}, embeds: false, ...(weight === undefined || weight < 0 ? {} : { weight }) }
  }
  for (const { part, model } of spares) if (model === undefined) whoIn(part).note('do', CALLERS)
  return { name, deployments: first.filter(served).map(toDeployment), aliases, spares: spares.filter(isSaid).filter(served).map(toDeployment) }
}

const CALLERS =
  'takes the model that callers name, and so does its provider; which of several is first is said by provider.order of a request or a preset, and what comes after it by models'

function served({ part, model = '' }: Leaf): boolean {
  const kind = unservedKind(model)
  if (kind !== undefined) whoIn(part).note('lost', `${JSON.stringify(model)} is not carried: nothing here serves models for ${kind}`)
  return kind === undefined
}
