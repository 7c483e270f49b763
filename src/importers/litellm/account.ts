import { defined } from '../../lib/defined.ts'
import type { Account } from '../shared/accounts.ts'
import type { SourcePart } from '../shared/source-part.ts'
import type { ImportContext, VendorFacts } from '../shared/importer.ts'
import { isReference, isSecretName, noteSecret } from '../shared/references.ts'
import { faultOfAddress, headersOf } from '../shared/servers.ts'
import { BARE, PREFIXES, type Prefix } from './names.ts'
import { NOTATION } from './references.ts'

const { secretOf, textOf, translated } = NOTATION

/** Finds a parameter of an entry, or of the credentials that the entry names. */
export type Params = (name: string) => SourcePart

/** A model as `litellm_params.model` names it. */
export interface Addressed {
  readonly prefix: Prefix
  /** The id after the prefix, as written there. */
  readonly id: string
}

/** Undefined for an unknown provider. */
export function addressOf(model: string, provider: string | undefined, vendors: ImportContext['vendors']): Addressed | undefined {
  const slash = model.indexOf('/')
  const first = slash < 0 ? undefined : model.slice(0, slash)
  if (provider !== undefined && provider !== first) return addressed(provider, model, vendors)
  const named = first === undefined ? undefined : addressed(first, model.slice(slash + 1), vendors)
  const address = BARE.find(([pattern]) => pattern.test(model))?.[1]
  return named ?? (address === undefined ? undefined : addressed(address, model, vendors))
}

function addressed(name: string, id: string, vendors: ImportContext['vendors']): Addressed | undefined {
  const known = Object.hasOwn(PREFIXES, name) ? PREFIXES[name] : undefined
  if (known !== undefined) return { prefix: known, id }
  const slug = name.replaceAll('_', '-')
  return vendors.has(slug) ? { prefix: { provider: slug, key: `${name.toUpperCase().replaceAll('-', '_')}_API_KEY` }, id } : undefined
}

export interface Located {
  /** One account for each organization. */
  readonly accounts: readonly Account[]
  readonly upstream: string
}

/** The accounts and the upstream id of an entry. Undefined if the entry does not state them, which is then reported to `refuse`. */
export function locate({ prefix, id }: Addressed, params: Params, context: ImportContext, refuse: (message: string) => void): Located | undefined {
  const place = placeOf(prefix, params, context.vendors)
  if (typeof place === 'string') {
    refuse(`is not carried: ${place}`)
    return undefined
  }
  const facts = context.vendors.get(place.vendor ?? '')
  const fromId = prefix.settingInId === undefined ? undefined : prefix.settingInId[1].exec(id)
  const settings = place.vendor === prefix.provider ? settingsOf(prefix, params, fromId?.[1]) : {}
  const key = keyOf(prefix, params, facts, settings)
  const organizations = params('organization').texts().map(translated)
  const account: Account = {
    ...place,
    ...defined({ apiKeys: key.apiKeys }),
    settings: { ...key.settings, ...settings },
    headers: headersOf([params('extra_headers'), params('headers')], NOTATION),
  }
  const accounts = organizations.length === 0 ? [account] : organizations.map((organization) => ({ ...account, organization }))
  const name = fromId == null ? id : id.replace(`${fromId[1]}/`, '')
  const upstream = spelled(prefix, name)
  if (upstream !== '') return { accounts, upstream }
  refuse('is not carried: litellm_params.model names a provider, and no model of it')
  return undefined
}

/** An id in the spelling that is used here. */
export const spelled = ({ ids = [] }: Prefix, id: string): string =>
  ids.reduce((text, [pattern, replacement]) => text.replace(pattern, replacement), id)

function settingsOf(
  { settings = {}, settingInId, defaults = {} }: Prefix,
  params: Params,
  inId: string | undefined,
): { readonly [name: string]: unknown } {
  const entries = Object.entries(settings).flatMap(([param, setting]) => {
    const value = params(param)
    if (!value.exists) return []
    const set = value.isMapping ? value.take() : textOf(value)
    if (isOpen(setting, set)) noteSecret(value)
    return [[setting, set] as const]
  })
  return { ...defaults, ...(settingInId === undefined || inId === undefined ? {} : { [settingInId[0]]: inId }), ...Object.fromEntries(entries) }
}

/** Whether a setting is a secret in plain text. The path of a key file is not one. */
const isOpen = (setting: string, value: unknown): boolean =>
  isSecretName(setting) &&
  !setting.endsWith('_id') &&
  (typeof value === 'object' || (typeof value === 'string' && !isReference(value) && !/^[./~]/.test(value)))

function keyOf(
  prefix: Prefix,
  params: Params,
  facts: VendorFacts | undefined,
  settings: { readonly [name: string]: unknown },
): { readonly apiKeys?: readonly string[] | null; readonly settings?: { readonly [name: string]: string } } {
  const keyParam = (prefix.keyParams ?? ['api_key']).map(params).find(({ exists }) => exists)
  const key = keyParam === undefined ? undefined : secretOf(keyParam)
  if (key !== undefined) return { apiKeys: [key] }
  if (prefix.insteadOfKey !== undefined && settings[prefix.insteadOfKey] !== undefined) return {}
  if (facts?.keyless === true || prefix.key === undefined) return { apiKeys: null }
  if (prefix.keyNote !== undefined) params('model').note('do', prefix.keyNote)
  // A server of the operator may need no key. If it does, LiteLLM uses the key of the format's own vendor.
  if (facts === undefined) return { apiKeys: [`\${${prefix.key}:-none}`] }
  return { apiKeys: [`\${${prefix.key}}`], ...defined({ settings: prefix.keySettings }) }
}

type Place = Pick<Account, 'vendor' | 'dialect' | 'baseUrl'>

/** The known vendor to whom an address belongs. */
function vendorAt(url: URL | null, text: string, vendors: ImportContext['vendors']): Place | undefined {
  const other = url === null ? undefined : [...vendors].find(([, facts]) => !facts.keyless && hostOf(facts.baseUrl) === url.host)?.[0]
  if (other === undefined) return undefined
  return { vendor: other, ...(text === vendors.get(other)?.baseUrl ? {} : { baseUrl: text }) }
}

/** Returns a text if there is no place: the reason. */
function placeOf(prefix: Prefix, params: Params, vendors: ImportContext['vendors']): Place | string {
  const { provider, elsewhere, hosts, origin, path = '' } = prefix
  const baseParam = (prefix.baseParams ?? ['api_base', 'base_url']).map(params).find(({ exists }) => exists)
  const text = baseParam && textOf(baseParam)?.replace(/(?:\/chat\/completions)?\/*$/, '')
  const usual = vendors.get(provider ?? '')?.baseUrl
  if (text === undefined) return usualPlace(prefix, vendors) ?? 'without api_base nobody knows where it is'
  const url = URL.parse(text)
  if (url !== null && url.host === hostOf(usual)) return { ...defined({ vendor: provider }) }
  const isOwn = url === null ? origin === true : hosts?.test(url.hostname) === true
  const fault = faultOf(text, url !== null && origin === true)
  if (fault !== undefined) return `${baseParam!.key} ${fault}`
  if (elsewhere !== undefined && !isOwn) return vendorAt(url, text, vendors) ?? { dialect: elsewhere, baseUrl: withPath(text, path) }
  const baseUrl = url !== null && origin === true ? originOf(url, isOwn, baseParam!) : withPath(text, path)
  return { ...defined({ vendor: provider }), baseUrl }
}

/** With `isOrigin`, only scheme, host and path of the address count. */
const faultOf = (text: string, isOrigin: boolean): string | undefined => faultOfAddress(isOrigin ? text.replace(/[?#].*$/, '') : text)

/** The origin of an address that leads to one deployment. A proxy in front of the provider may add a path. */
function originOf({ origin, pathname }: URL, isOwn: boolean, part: SourcePart): string {
  const before = isOwn ? '' : pathname.replace(/(?:\/openai(?:\/.*)?)?\/*$/, '')
  if (before === '') return origin
  part.note('do', `is asked at ${before}/openai/v1 there, the current version of the API, which whoever stands before it has to let through`)
  return `${origin}${before}/openai/v1`
}

const hostOf = (url: string | undefined): string | undefined => URL.parse(url ?? '')?.host

const withPath = (url: string, path: string): string => (path === '' || url.endsWith(path) ? url : `${url}${path}`)

/** The place that LiteLLM assumes for a provider if an entry has no address. */
function usualPlace({ provider, base, path = '' }: Prefix, vendors: ImportContext['vendors']): Place | undefined {
  if (provider === undefined) return undefined
  const { baseUrl, keyless } = vendors.get(provider) ?? { keyless: false }
  if (base === undefined || (baseUrl !== undefined && !keyless)) return { vendor: provider }
  const usual = baseUrl === undefined ? '' : `:-${path !== '' && baseUrl.endsWith(path) ? baseUrl.slice(0, -path.length) : baseUrl}`
  return { vendor: provider, baseUrl: `\${${base}${usual}}${path}` }
}
