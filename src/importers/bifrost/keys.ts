import { defined } from '../../lib/defined.ts'
import type { Account, Patience } from '../shared/accounts.ts'
import type { SourcePart } from '../shared/source-part.ts'
import type { ImportContext } from '../shared/importer.ts'
import { isReference, isSecretName, Notation, noteSecret } from '../shared/references.ts'
import { faultOfAddress, headersOf } from '../shared/servers.ts'
import { aliasOf, allowedOf, type Alias, type Allowed, type Unlisted } from './allowed.ts'
import { DIALECTS, HOST_ALONE, KEY_CONFIGS, PROVIDERS, USUAL_KEYS } from './names.ts'

/** References of the form `env.NAME`. */
const NOTATION = new Notation(/^env\.([A-Za-z_]\w*)$/)

/** Keys of one account that allow the same models. */
export interface Key {
  readonly part: SourcePart
  readonly account: Account
  readonly patience: Patience
  /** If undefined, all models are allowed. */
  readonly models: readonly string[] | undefined
  readonly isDenied: (model: string) => boolean
  /** Models that have another id at the server. */
  readonly ids: ReadonlyMap<string, Alias>
  readonly weight: number | undefined
}

/** The keys of a provider; what cannot be imported is noted. */
export function keysOf(provider: SourcePart, unlisted: Unlisted, context: ImportContext): readonly Key[] {
  const network = provider.at('network_config')
  const base = baseOf(provider, network, context)
  if (base === undefined) return []
  const headers = headersOf([network.at('extra_headers')], NOTATION)
  const patience: Patience = { total: NOTATION.wholeOf(network.at('default_request_timeout_in_seconds')) }
  const items = provider.at('keys').items()
  if (items.length === 0)
    return [{ part: provider, account: { ...base, apiKeys: null, headers }, patience, ...ANYTHING, ids: new Map(), weight: undefined }]
  return together(items.filter(isOn).flatMap((part) => keyOf(part, provider, { ...base, headers }, patience, unlisted, context) ?? []))
}

const ANYTHING: Allowed = { models: undefined, isDenied: () => false }

function isOn(key: SourcePart): boolean {
  const isOff = key.at('enabled').value === false
  if (isOff) key.note('fine', 'is off')
  else if (key.at('enabled').value === true) key.at('enabled').take()
  return !isOff
}

/** The built-in provider, or else the format and the address. */
function baseOf(provider: SourcePart, network: SourcePart, { vendors }: ImportContext): Account | undefined {
  const custom = provider.at('custom_provider_config')
  const type = custom.at('base_provider_type').text()
  custom.at('is_key_less').take()
  const address = network.at('base_url')
  const text = address.exists ? valueOf(address)?.replace(/\/+$/, '') : undefined
  const fault = text === undefined ? undefined : faultOfAddress(text)
  const lost = (message: string): undefined =>
    provider.note('lost', `${JSON.stringify(`${provider.key}/...`)} is not carried: ${message}`) as undefined
  if (fault !== undefined) return lost(`base_url ${fault}`)
  if (type !== undefined) {
    const dialect = Object.hasOwn(DIALECTS, type) ? DIALECTS[type] : undefined
    if (dialect === undefined || text === undefined) return lost('a format that is known and an address are needed')
    return { dialect, baseUrl: versioned(text, dialect) }
  }
  const vendor = Object.hasOwn(PROVIDERS, provider.key) ? PROVIDERS[provider.key]! : provider.key
  const facts = vendors.get(vendor)
  if (facts === undefined)
    return lost('nothing here reaches this provider (an entry under providers, with a dialect and a base_url, reaches any server of a known format)')
  const isUsual = text === undefined || URL.parse(text)?.host === URL.parse(facts.baseUrl ?? '')?.host
  return { vendor, ...(isUsual ? {} : { baseUrl: versioned(text, '') }) }
}

/** In Bifrost the format adds the version to an address. */
const versioned = (url: string, dialect: string): string => (/\/v\d\w*$/.test(url) || dialect === DIALECTS['gemini'] ? url : `${url}/v1`)

function keyOf(
  part: SourcePart,
  provider: SourcePart,
  base: Account,
  patience: Patience,
  unlisted: Unlisted,
  context: ImportContext,
): Key | undefined {
  const ids = new Map<string, Alias>()
  const place = KEY_CONFIGS.map((form) => ({ form, config: part.at(form.config) })).find(({ config }) => config.exists)
  const baseUrl = place === undefined ? undefined : addressOf(place.config, place.form)
  if (baseUrl === null) return undefined
  const settings = place === undefined ? {} : settingsOf(place.config, place.form)
  const named = [part.at('aliases'), ...(place === undefined ? [] : [place.config.at('deployments')])]
  for (const one of named.flatMap((names) => names.members())) ids.set(one.key, aliasOf(one))
  const secret = [part.at('value'), ...(place === undefined ? [] : [place.config.at('secret_key')])].find(({ exists }) => exists)
  const key = secret === undefined ? undefined : secretOf(secret)
  const apiKeys = key === undefined ? usualKeys(part, provider.key, base, settings, context) : [key]
  const only = place?.form.model === undefined ? undefined : place.config.at(place.form.model)
  const allowed = allowedOf(part, unlisted, only?.exists === true ? only.text() : undefined)
  if (allowed === undefined) return undefined
  const weight = part.at('weight').exists ? part.at('weight').number() : undefined
  return {
    part,
    account: { ...base, settings, ...defined({ baseUrl: baseUrl ?? base.baseUrl, apiKeys }) },
    patience,
    ...allowed,
    ids,
    weight: weight !== undefined && weight >= 0 ? weight : undefined,
  }
}

type Form = (typeof KEY_CONFIGS)[number]

/** Undefined if no address is given; null if it cannot be imported, which is then noted. */
function addressOf(config: SourcePart, { address }: Form): string | null | undefined {
  const url = address === undefined ? undefined : config.at(address)
  const text = url?.exists === true ? valueOf(url)?.replace(/\/+$/, '') : undefined
  if (text === undefined) return undefined
  const fault = faultOfAddress(text)
  if (fault === undefined) return config.key === HOST_ALONE ? (URL.parse(text)?.origin ?? text) : versioned(text, '')
  config.note('lost', `is not carried: ${address} ${fault}`)
  return null
}

function settingsOf(config: SourcePart, { settings = {} }: Form): { readonly [setting: string]: unknown } {
  const found = Object.entries(settings).flatMap(([member, setting]) => {
    const value = config.at(member)
    const set = value.exists ? valueOf(value) : undefined
    if (set === undefined) return []
    if (isSecretName(setting) && !setting.endsWith('_id') && !isReference(set) && !/^[./~]/.test(set)) noteSecret(value)
    return [[setting, set] as const]
  })
  return Object.fromEntries(found)
}

/** For a key that takes its value from the machine's environment, or a server that requires none. */
function usualKeys(
  part: SourcePart,
  name: string,
  { vendor = '' }: Account,
  settings: { readonly [setting: string]: unknown },
  { vendors }: ImportContext,
): readonly string[] | null | undefined {
  if (settings['credentials'] !== undefined) return undefined
  const usual = Object.hasOwn(USUAL_KEYS, name) && vendors.get(vendor)?.keyless !== true ? USUAL_KEYS[name] : undefined
  if (usual === undefined) return null
  part.at('value').note('do', `its key is read from ${usual}: what the machine itself is allowed is not asked for`)
  return [`\${${usual}}`]
}

/** A text, or an object that states a value together with its origin. */
function valueOf(part: SourcePart): string | undefined {
  if (!part.isMapping) return NOTATION.textOf(part)
  const named = part.at('type').value === 'env' && part.at('ref').exists ? part.at('ref') : part.at('env_var')
  const variable = named.text()?.replace(/^env\./, '')
  for (const member of ['from_env', 'type']) if (part.at(member).exists) part.at(member).note('fine', 'its value says it')
  if (variable !== undefined && /^[A-Za-z_]\w*$/.test(variable)) {
    part.at('value').take()
    return `\${${variable}}`
  }
  return NOTATION.textOf(part.at('value'))
}

function secretOf(part: SourcePart): string | undefined {
  const text = valueOf(part)
  if (text !== undefined && !isReference(text)) noteSecret(part)
  return text
}

/** Merges keys that do not differ in anything else into one provider, which uses them in turn. */
function together(keys: readonly Key[]): readonly Key[] {
  const found = new Map<string, Key>()
  for (const key of keys) {
    const { apiKeys, ...rest } = key.account
    const same = JSON.stringify([rest, key.models, [...key.ids]])
    const first = found.get(same)
    if (first?.account.apiKeys == null || apiKeys == null) {
      found.set(first === undefined ? same : `${same}${found.size}`, key)
      continue
    }
    if (first.weight !== key.weight) key.part.at('weight').note('do', 'keys of one account are used in turns, whatever their weights')
    found.set(same, { ...first, account: { ...first.account, apiKeys: [...first.account.apiKeys, ...apiKeys] } })
  }
  return [...found.values()]
}
