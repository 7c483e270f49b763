import { defined } from '../../lib/defined.ts'
import type { Account, AccountBook, Patience } from '../shared/accounts.ts'
import type { SourcePart } from '../shared/source-part.ts'
import type { ImportContext } from '../shared/importer.ts'
import { isReference, isSecretName, Notation, noteSecret } from '../shared/references.ts'
import { faultOfAddress } from '../shared/servers.ts'
import { KEYS, MODELS, PROVIDERS, SETTINGS } from './names.ts'

/** Portkey has no references to variables; `${NAME}` and `{{NAME}}` are common placeholders for keys that are not written down. */
const NOTATION = new Notation(/^(?:\$\{|\{\{\s*)([A-Za-z_]\w*)(?:\}|\s*\}\})$/)

/** One provider, with the model requested from it if the config states one. */
export interface Target {
  readonly part: SourcePart
  readonly account: Account
  /** The slug of its provider. */
  readonly provider: string
  readonly model: string | undefined
}

/** Undefined for a target that cannot be imported, which is then noted. */
export function targetOf(part: SourcePart, around: readonly SourcePart[], { vendors }: ImportContext, book: AccountBook): Target | undefined {
  const find = (member: string): SourcePart => [part, ...around].map((place) => place.at(member)).find(({ exists }) => exists) ?? part.at(member)
  const lost = (message: string): undefined => part.note('lost', `is not carried: ${message}`) as undefined
  // Parameters add up: what a target says stands beside what those around it do.
  const model = [part, ...around].map((place) => place.at('override_params').at('model')).find(({ exists }) => exists)
  const { vendor, vault } = whoOf(part, find, model, vendors)
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
  return { part, account, provider: book.slugOf(account, patienceOf(find('request_timeout'))), model: modelOf(find, model) }
}

const NOBODY =
  'nothing tells here which provider it is (an entry under providers, with a dialect and a base_url, reaches any server of a known format)'

const textOf = (part: SourcePart): string | undefined => (part.exists ? NOTATION.textOf(part) : undefined)

/** Portkey counts milliseconds, and only until an answer begins: a stream may take as long as it likes. */
function patienceOf(part: SourcePart): Patience {
  const wait = part.exists ? part.number() : undefined
  if (wait === undefined || wait <= 0) return {}
  part.note('do', 'is timeouts.first_token of the provider, until the answer begins; timeouts.total is for all of it, 15 minutes unless set')
  return { firstToken: wait / 1_000 }
}

/** The provider, and the name of the key if it is stored in Portkey. */
function whoOf(
  part: SourcePart,
  find: (member: string) => SourcePart,
  model: SourcePart | undefined,
  vendors: ImportContext['vendors'],
): { readonly vendor: string | undefined; readonly vault: string | undefined } {
  const inModel = [part.at('provider'), part.at('virtual_key')].some(({ exists }) => exists)
    ? undefined
    : withProvider(part.at('override_params').at('model'))
  const provider = find('provider')
  const named = inModel !== undefined || !provider.exists || isKept(provider) ? undefined : provider.text()
  const inVault = inModel ?? vaultOf(find('virtual_key'), provider) ?? (named === undefined ? withProvider(model) : undefined)
  const vault = inVault?.text()?.replace(/^@([^/]+).*$/, '$1')
  const vendor = vendorOf(named ?? vault ?? '', vendors, named === undefined)
  if (inVault !== undefined && vault !== undefined && vendor !== undefined) {
    const guess = named === undefined ? `is taken for one of ${vendor}, by its name; ` : ''
    inVault.note('do', `${guess}its key stays where it is kept: ${variableOf(vault)} has to hold it`)
  }
  return { vendor, vault }
}

const vaultOf = (virtualKey: SourcePart, provider: SourcePart): SourcePart | undefined =>
  virtualKey.exists ? virtualKey : isKept(provider) ? provider : undefined

/** A model that names its provider as well: `@slug/model`. */
const withProvider = (model: SourcePart | undefined): SourcePart | undefined => (/^@[^/]+\/./.test(String(model?.value)) ? model : undefined)

/** `@slug` names something stored in Portkey. */
const isKept = ({ value }: SourcePart): boolean => typeof value === 'string' && value.startsWith('@')

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

function settingsOf(names: { readonly [member: string]: string }, find: (member: string) => SourcePart): { readonly [setting: string]: unknown } {
  const found = Object.entries(names).flatMap(([member, setting]) => {
    const value = find(member)
    if (!value.exists) return []
    const set = value.isMapping ? value.take() : NOTATION.textOf(value)
    if (isSecretName(setting) && !setting.endsWith('_id') && !(typeof set === 'string' && isReference(set))) noteSecret(value)
    return [[setting, set] as const]
  })
  return Object.fromEntries(found)
}

function keysOf(
  find: (member: string) => SourcePart,
  vault: string | undefined,
  hasOther: boolean,
  keyless: boolean,
): readonly string[] | null | undefined {
  const keyMember = KEYS.map(find).find(({ exists }) => exists)
  const key = keyMember === undefined ? undefined : NOTATION.secretOf(keyMember)
  if (key !== undefined) return [key]
  if (vault !== undefined) return [`\${${variableOf(vault)}}`]
  // In Portkey the key may come with each request; callers send none here.
  return hasOther ? undefined : keyless ? null : undefined
}

/** What says who a target is. A note on all of it would stand for all that it holds. */
export function whoIn(target: SourcePart): SourcePart {
  const named = ['provider', 'virtual_key'].map((member) => target.at(member)).find(({ exists }) => exists)
  return named ?? withProvider(target.at('override_params').at('model')) ?? target.at('virtual_key')
}

function modelOf(find: (member: string) => SourcePart, model: SourcePart | undefined): string | undefined {
  const modelMember = model ?? MODELS.map(find).find(({ exists }) => exists)
  return modelMember?.text()?.replace(/^@[^/]+\//, '')
}
