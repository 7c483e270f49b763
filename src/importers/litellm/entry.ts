import { defined } from '../../lib/defined.ts'
import type { Account, Patience } from '../shared/accounts.ts'
import type { SourcePart } from '../shared/source-part.ts'
import type { ImportContext, RateLimitsDraft } from '../shared/importer.ts'
import { unservedKind } from '../shared/kinds.ts'
import { isReference } from '../shared/references.ts'
import { addressOf, locate, spelled, type Located, type Params } from './account.ts'
import { pricingOf } from './prices.ts'
import { NOTATION } from './references.ts'

const { amountOf, secondsOf, translated, wholeOf } = NOTATION

/** A parsed entry of `model_list`. */
export interface Entry {
  readonly part: SourcePart
  /** The name that callers request; `*` stands for any characters. */
  readonly name: string
  readonly accounts: readonly Account[]
  readonly upstream: string
  readonly known: string | undefined
  readonly patience: Patience
  readonly weight: number | undefined
  readonly order: number | undefined
  readonly rateLimits: RateLimitsDraft
  readonly pricing: { readonly [price: string]: unknown } | undefined
  readonly contextLength: number | string | undefined
  readonly maxOutputTokens: number | string | undefined
  readonly embeds: boolean
}

export type Credentials = ReadonlyMap<string, SourcePart>

/** An entry's own timeouts take precedence. */
export const patienceWith = (entry: Entry, patience: Patience): Patience => ({ ...patience, ...defined(entry.patience) })

const EVERYTHING =
  'stands for every provider: here each one that has its variable serves all its models, under its own slug (docs/reference/providers.md)'

/** The prefix of names that are routers, which choose a model. */
const ROUTER = 'auto_router/'

const MODES = new Set(['chat', 'completion', 'responses', 'embedding'])

/** Undefined for an entry that cannot be imported, which is then noted. */
export function readEntry(part: SourcePart, credentials: Credentials, context: ImportContext): Entry | undefined {
  const params = part.at('litellm_params')
  const name = part.at('model_name').text()
  const model = params.at('model').text()
  const lost = (message: string): undefined => {
    part.note('lost', name === undefined ? message : `${JSON.stringify(name)} ${message}`)
  }
  if (name === undefined || model === undefined) return lost('is not carried: model_name and litellm_params.model are expected')
  if (model === '*') {
    part.note('do', EVERYTHING)
    return undefined
  }
  if (model.startsWith(ROUTER)) return lost('is not carried: gateway/auto chooses among models here (docs/guides/model-routers.md)')
  const info = part.at('model_info')
  const mode = info.at('mode').text() ?? 'chat'
  if (!MODES.has(mode)) return lost(`is not carried: nothing here serves models of mode ${mode}`)
  const kind = info.at('mode').exists ? undefined : (unservedKind(model) ?? unservedKind(info.at('base_model').text() ?? ''))
  if (kind !== undefined)
    return lost(`is not carried: nothing here serves models for ${kind} (if ${JSON.stringify(model)} is another, model_info.mode: chat says so)`)
  const find = paramsOf(params, credentials)
  const addressed = addressOf(model, find('custom_llm_provider').text(), context.vendors)
  if (addressed === undefined)
    return lost(
      `is not carried: the provider of ${JSON.stringify(model)} is not known (an entry under providers, with a dialect and a base_url, reaches any server of a known format)`,
    )
  const located = locate(addressed, find, context, lost)
  if (located === undefined) return undefined
  for (const member of info.members())
    if (member.key.startsWith('supports_')) member.note('fine', 'what models can is known by their names; endpoints[].supports says otherwise')
  return {
    part,
    name: translatedName(name),
    ...located,
    known: knownAs(info.at('base_model').text(), context),
    patience: { total: wholeOf(params.at('timeout')), firstToken: secondsOf(params.at('stream_timeout')) },
    weight: params.at('weight').exists ? params.at('weight').number() : undefined,
    order: params.at('order').exists ? params.at('order').number() : undefined,
    rateLimits: limitsOf([params, part, info]),
    pricing: pricingOf([params, info]) ?? pricesAs(info.at('base_model'), located, context),
    contextLength: amountOf(info.at('max_input_tokens')),
    maxOutputTokens: amountOf(info.at('max_output_tokens')) ?? amountOf(info.at('max_tokens')),
    embeds: mode === 'embedding' || context.makesVectors(context.modelName(located.upstream, 'local')),
  }
}

/** Translates a name only if it is a reference as a whole. Any other name stays as callers write it. */
const translatedName = (name: string): string => (isReference(translated(name)) ? translated(name) : name)

/** `base_model` has a provider prefix, too. */
function knownAs(model: string | undefined, { vendors }: ImportContext): string | undefined {
  const addressed = model === undefined ? undefined : addressOf(model, undefined, vendors)
  return addressed === undefined ? model : spelled(addressed.prefix, addressed.id)
}

/** The price by the underlying model if the id of the deployment does not identify it, because LiteLLM bases costs and budgets on it. */
function pricesAs(base: SourcePart, { accounts: [account], upstream }: Located, context: ImportContext): Entry['pricing'] {
  const [vendor, known] = [account?.vendor, knownAs(base.text(), context)]
  if (vendor === undefined || known === undefined || context.pricesOf(vendor, upstream) !== undefined) return undefined
  const pricing = context.pricesOf(vendor, known)
  if (pricing === undefined) base.note('do', 'is no model whose price is known there: without pricing of the endpoint its cost is null')
  else base.note('do', 'its prices of today are those of the endpoint, which has another id: as that changes, so does pricing')
  return pricing
}

/** Looks in the entry first, and then in the credentials that it names. */
function paramsOf(params: SourcePart, credentials: Credentials): Params {
  const named = params.at('litellm_credential_name')
  const credential = named.exists ? credentials.get(named.text() ?? '') : undefined
  if (named.exists && credential === undefined)
    named.note('do', 'names credentials that are not in credential_list: give the provider its key by hand')
  return (name) => {
    const own = params.at(name)
    return own.exists || credential === undefined ? own : credential.at(name)
  }
}

/** Rate limits; older files have them in other places as well. */
function limitsOf(places: readonly SourcePart[]): RateLimitsDraft {
  const limit = (name: string): number | string | undefined => {
    const place = places.find((one) => one.at(name).exists)
    return place === undefined ? undefined : amountOf(place.at(name))
  }
  return defined({
    requests_per_minute: limit('rpm'),
    tokens_per_minute: limit('tpm'),
    concurrent_requests: limit('max_parallel_requests'),
  })
}
