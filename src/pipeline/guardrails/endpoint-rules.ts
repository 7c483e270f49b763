import type { Endpoint } from '../../core/endpoint.ts'
import type { AppliedGuardrail, GuardrailRules } from '../../core/guardrail.ts'
import { isNamed } from '../../core/endpoint-names.ts'
import { vendorNames, vendorTag, writtenName } from '../../core/provider-names.ts'
import { memoize } from '../../lib/memoize.ts'
import { compileWildcards } from '../../lib/wildcard.ts'

/** Why an endpoint may not serve a call, as a clause; undefined if it may. */
export type EndpointRule = (endpoint: Endpoint) => string | undefined

/** What the guardrails of a call say about endpoints, which must satisfy all of them. Undefined if they say nothing. */
export function compileEndpointRule(guardrails: readonly AppliedGuardrail[]): EndpointRule | undefined {
  const rules = guardrails.flatMap(({ name, rules: own }) => rulesOf(own).map((rule) => ({ name, rule })))
  if (rules.length === 0) return undefined
  return (endpoint) => {
    for (const { name, rule } of rules) {
      const reason = rule(endpoint)
      if (reason !== undefined) return `the guardrail "${name}" ${reason}`
    }
    return undefined
  }
}

function rulesOf(rules: GuardrailRules): readonly EndpointRule[] {
  const { allowed_models: allowedModels, ignored_models: ignoredModels, allowed_providers: allowed, ignored_providers: ignored } = rules
  const list: EndpointRule[] = []
  if (allowedModels != null) list.push((endpoint) => (isOneOf(allowedModels).named(endpoint) ? undefined : 'does not allow the model'))
  if (ignoredModels != null) list.push((endpoint) => (isOneOf(ignoredModels).meant(endpoint) ? 'forbids the model' : undefined))
  if (allowed != null) {
    const isAllowed = namesProvider(allowed)
    list.push((endpoint) => (isAllowed(endpoint) ? undefined : 'does not allow the provider'))
  }
  if (ignored != null) {
    const isIgnored = namesProvider(ignored)
    list.push((endpoint) => (isIgnored(endpoint) ? 'forbids the provider' : undefined))
  }
  const zdr = zdrRule(rules)
  if (zdr !== undefined) list.push(zdr)
  const training = trainingRule(rules)
  if (training !== undefined) list.push(training)
  return list
}

/** Whether an endpoint's model is one of a list of patterns. */
interface ListedModels {
  readonly named: (endpoint: Endpoint) => boolean
  /** Whoever forbids a model means it under any name, also under its provider's own. */
  readonly meant: (endpoint: Endpoint) => boolean
}

/** How many are kept, the last used: with answers for every endpoint of the catalog, each may take half a megabyte. */
const MAX_KEPT = 64
/** By the list, which stays the same as long as its guardrail: lists of models ask about every endpoint of the catalog, and so may a call. */
const compiledLists = new Map<readonly string[], ListedModels>()

function isOneOf(patterns: readonly string[]): ListedModels {
  let list = compiledLists.get(patterns)
  if (list !== undefined) compiledLists.delete(patterns)
  else {
    if (compiledLists.size === MAX_KEPT) compiledLists.delete(compiledLists.keys().next().value!)
    const matches = compileWildcards(patterns)
    // The names of an endpoint change only with the catalog: a thousand patterns against thousands of names take seconds.
    const named = memoize<Endpoint>((endpoint) => isNamed(endpoint, matches))
    const meant = memoize<Endpoint>((endpoint) => named(endpoint) || endpoint.knownAs?.some(matches) === true)
    list = { named, meant }
  }
  compiledLists.set(patterns, list)
  return list
}

/** Every call asks about each endpoint again, and the names of an endpoint change only with the catalog. */
const knownNames = new WeakMap<Endpoint, readonly string[]>()

function namesOf(endpoint: Endpoint): readonly string[] {
  let names = knownNames.get(endpoint)
  if (names === undefined) {
    const { provider, tag, providerName, vendor } = endpoint
    const own = [...[provider, tag, providerName].map((name) => name.toLowerCase()), writtenName({ slug: provider, name: providerName })]
    names = vendor === undefined ? own : [...own, ...vendorNames(vendor), vendorTag(tag, provider, vendor)]
    knownNames.set(endpoint, names)
  }
  return names
}

/** By slug, tag or name, as in a request's provider preferences. */
function namesProvider(listed: readonly string[]): (endpoint: Endpoint) => boolean {
  const names = new Set(listed.map((name) => name.trim().toLowerCase()))
  return (endpoint) => namesOf(endpoint).some((name) => names.has(name))
}

const ZDR_FIELD = /^enforce_zdr_(\w+)$/
const OTHER = 'other'

/** By the author of the model, as the fields name it: `enforce_zdr_<author>`, without dashes. */
function zdrRule(rules: GuardrailRules): EndpointRule | undefined {
  const fallback = rules.enforce_zdr ?? false
  const groups = new Map<string, boolean>()
  for (const [field, value] of Object.entries(rules)) {
    const group = ZDR_FIELD.exec(field)?.[1]
    if (group !== undefined && typeof value === 'boolean') groups.set(group, value)
  }
  const others = groups.get(OTHER) ?? fallback
  if (!fallback && !others && ![...groups.values()].includes(true)) return undefined
  const enforcedFor = (author: string): boolean => (FRONTIER_FIELDS.has(author) ? (groups.get(author) ?? fallback) : others)
  return ({ model, knownAs = [], policies }) => {
    if (policies.zdr) return undefined
    // In a name made of a provider and its id the first part is the provider, not the author.
    const authored = [model, ...knownAs.filter((name) => name.includes('/'))]
    return authored.some((name) => enforcedFor(authorOf(name))) ? 'wants endpoints that retain nothing' : undefined
  }
}

const authorOf = (model: string): string =>
  model
    .slice(0, model.indexOf('/'))
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '')

/** Whether any field asks for endpoints that retain nothing. */
export const wantsNoRetention = (rules: GuardrailRules): boolean =>
  rules.enforce_zdr === true || Object.entries(rules).some(([field, value]) => value === true && ZDR_FIELD.test(field))

/** Authors with a field of their own. */
const FRONTIER_FIELDS: ReadonlySet<string> = new Set(
  (['enforce_zdr_anthropic', 'enforce_zdr_google', 'enforce_zdr_openai', 'enforce_zdr_xai'] satisfies (keyof GuardrailRules)[]).map((field) =>
    field.slice('enforce_zdr_'.length),
  ),
)

function trainingRule(rules: GuardrailRules): EndpointRule | undefined {
  const free = rules.enable_free_model_training === false || rules.enable_free_model_publication === false
  const paid = rules.enable_paid_model_training === false
  if (!free && !paid) return undefined
  return ({ pricing, policies, variant }) => {
    if (policies.dataCollection !== 'allow') return undefined
    const isFree = variant === 'free' || (pricing.input === 0 && pricing.output === 0)
    return (isFree ? free : paid) ? 'wants endpoints that collect no data' : undefined
  }
}
