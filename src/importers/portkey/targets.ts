import { defined } from '../../lib/defined.ts'
import type { Account, AccountBook, Patience } from '../shared/accounts.ts'
import type { Given } from '../shared/given.ts'
import type { ImportContext } from '../shared/importer.ts'
import { isReference, isSecretName, Notation, noteSecret } from '../shared/references.ts'
import { faultOfAddress } from '../shared/servers.ts'
import { KEYS, MODELS, PROVIDERS, SETTINGS } from './names.ts'

/** Portkey has no references to variables; `${NAME}` and `{{NAME}}` are common placeholders for keys that are not written down. */
const NOTATION = new Notation(/^(?:\$\{|\{\{\s*)([A-Za-z_]\w*)(?:\}|\s*\}\})$/)

/** One provider, with the model requested from it if the config states one. */
export interface Target {
  readonly given: Given
  readonly account: Account
  /** The slug of its provider. */
  readonly provider: string
  readonly model: string | undefined
}

/** Undefined for a target that cannot be imported, which is then noted. */
export function targetOf(given: Given, around: readonly Given[], { vendors }: ImportContext, book: AccountBook): Target | undefined {
  const find = (member: string): Given => [given, ...around].map((place) => place.at(member)).find(({ isThere }) => isThere) ?? given.at(member)
  const lost = (message: string): undefined => given.note('lost', `is not carried: ${message}`) as undefined
  // Parameters add up: what a target says stands beside what those around it do.
  const model = [given, ...around].map((place) => place.at('override_params').at('model')).find(({ isThere }) => isThere)
  const { vendor, vault } = whoOf(given, find, model, vendors)
  if (vendor === undefined) return lost(NOBODY)
  const baseUrl = textOf(find('custom_host'))?.replace(/\/+$/, '')
  const fault = baseUrl === undefined ? undefined : faultOfAddress(baseUrl)
  if (fault !== undefined) return lost(`custom_host ${fault}`)
  const settings = settingsOf(SETTINGS[vendor] ?? {}, find)
  const account: Account = {
    vendor,
    settings,
    ...defined({
      baseUrl,
      apiKeys: keysOf(find, vault, settings['credentials'] !== undefined, vendors.get(vendor)?.keyless === true),
      organization: textOf(find('openai_organization')),
    }),
  }
  return { given, account, provider: book.slugOf(account, patienceOf(find('request_timeout'))), model: modelOf(find, model) }
}

const NOBODY =
  'nothing tells here which provider it is (an entry under providers, with a dialect and a base_url, reaches any server of a known format)'

const textOf = (given: Given): string | undefined => (given.isThere ? NOTATION.textOf(given) : undefined)

/** Portkey counts milliseconds, and only until an answer begins: a stream may take as long as it likes. */
function patienceOf(given: Given): Patience {
  const wait = given.isThere ? given.number() : undefined
  if (wait === undefined || wait <= 0) return {}
  given.note('do', 'is timeouts.first_token of the provider, until the answer begins; timeouts.total is for all of it, 15 minutes unless set')
  return { firstToken: wait / 1_000 }
}

/** The provider, and the name of the key if it is stored in Portkey. */
function whoOf(
  given: Given,
  find: (member: string) => Given,
  model: Given | undefined,
  vendors: ImportContext['vendors'],
): { readonly vendor: string | undefined; readonly vault: string | undefined } {
  const inModel = [given.at('provider'), given.at('virtual_key')].some(({ isThere }) => isThere)
    ? undefined
    : withProvider(given.at('override_params').at('model'))
  const provider = find('provider')
  const named = inModel !== undefined || !provider.isThere || isKept(provider) ? undefined : provider.text()
  const inVault = inModel ?? vaultOf(find('virtual_key'), provider) ?? (named === undefined ? withProvider(model) : undefined)
  const vault = inVault?.text()?.replace(/^@([^/]+).*$/, '$1')
  const vendor = vendorOf(named ?? vault ?? '', vendors, named === undefined)
  if (inVault !== undefined && vault !== undefined && vendor !== undefined) {
    const guess = named === undefined ? `is taken for one of ${vendor}, by its name; ` : ''
    inVault.note('do', `${guess}its key stays where it is kept: ${variableOf(vault)} has to hold it`)
  }
  return { vendor, vault }
}

const vaultOf = (virtualKey: Given, provider: Given): Given | undefined => (virtualKey.isThere ? virtualKey : isKept(provider) ? provider : undefined)

/** A model that names its provider as well: `@slug/model`. */
const withProvider = (model: Given | undefined): Given | undefined => (/^@[^/]+\/./.test(String(model?.value)) ? model : undefined)

/** `@slug` names something stored in Portkey. */
const isKept = ({ value }: Given): boolean => typeof value === 'string' && value.startsWith('@')

const variableOf = (vault: string): string =>
  `${vault
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, '_')
    .replace(/^(?=\d)/, '_')}_API_KEY`

/** Finds the vendor by its name or, for a stored key, by the beginning of the key's name. */
function vendorOf(name: string, vendors: ImportContext['vendors'], begins: boolean): string | undefined {
  const known = (one: string): string | undefined => (Object.hasOwn(PROVIDERS, one) ? PROVIDERS[one] : vendors.has(one) ? one : undefined)
  const exact = known(name)
  if (exact !== undefined || !begins) return exact
  const parts = name.toLowerCase().split(/[-_]/)
  for (let count = parts.length - 1; count > 0; count--) {
    const found = known(parts.slice(0, count).join('-'))
    if (found !== undefined) return found
  }
  return undefined
}

function settingsOf(names: { readonly [member: string]: string }, find: (member: string) => Given): { readonly [setting: string]: unknown } {
  const found = Object.entries(names).flatMap(([member, setting]) => {
    const value = find(member)
    if (!value.isThere) return []
    const set = value.isMapping ? value.take() : NOTATION.textOf(value)
    if (isSecretName(setting) && !setting.endsWith('_id') && !(typeof set === 'string' && isReference(set))) noteSecret(value)
    return [[setting, set] as const]
  })
  return Object.fromEntries(found)
}

function keysOf(
  find: (member: string) => Given,
  vault: string | undefined,
  hasOther: boolean,
  keyless: boolean,
): readonly string[] | null | undefined {
  const keyMember = KEYS.map(find).find(({ isThere }) => isThere)
  const key = keyMember === undefined ? undefined : NOTATION.secretOf(keyMember)
  if (key !== undefined) return [key]
  if (vault !== undefined) return [`\${${variableOf(vault)}}`]
  // In Portkey the key may come with each request; callers send none here.
  return hasOther ? undefined : keyless ? null : undefined
}

/** What says who a target is. A note on all of it would stand for all that it holds. */
export function whoIn(target: Given): Given {
  const named = ['provider', 'virtual_key'].map((member) => target.at(member)).find(({ isThere }) => isThere)
  return named ?? withProvider(target.at('override_params').at('model')) ?? target.at('virtual_key')
}

function modelOf(find: (member: string) => Given, model: Given | undefined): string | undefined {
  const modelMember = model ?? MODELS.map(find).find(({ isThere }) => isThere)
  return modelMember?.text()?.replace(/^@[^/]+\//, '')
}
