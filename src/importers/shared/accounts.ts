import { defined } from '../../lib/defined.ts'
import type { ImportContext, ProviderDraft } from './importer.ts'

/** The place of a deployment in the source, and its credentials. */
export interface Account {
  /** A built-in provider; without one, `dialect` and `baseUrl` describe the server. */
  readonly vendor?: string
  readonly dialect?: string
  readonly baseUrl?: string
  /** In the syntax of our file; null if the server requires no key. */
  readonly apiKeys?: readonly string[] | null
  readonly organization?: string
  readonly settings?: { readonly [name: string]: unknown }
  readonly headers?: { readonly [name: string]: string }
}

/** Timeouts: seconds, or references to variables. */
export interface Patience {
  readonly total?: number | string | undefined
  readonly firstToken?: number | string | undefined
}

interface Kept {
  readonly slug: string
  readonly account: Account
  patience: Patience
  open: boolean
}

/**
 * Turns accounts into providers. The first account of a vendor gets the vendor's slug, further ones get slugs that tell where they are. The same
 * account is the same provider, however many deployments it has.
 */
export class AccountBook {
  readonly #vendors: ImportContext['vendors']
  readonly #providers = new Map<string, Kept>()
  readonly #slugs = new Set<string>()

  constructor(vendors: ImportContext['vendors']) {
    this.#vendors = vendors
  }

  /** The slug of its provider. */
  slugOf(account: Account, patience: Patience = {}): string {
    const key = JSON.stringify(account)
    const known = this.#providers.get(key)
    if (known !== undefined) {
      known.patience = { total: longer(known.patience.total, patience.total), firstToken: longer(known.patience.firstToken, patience.firstToken) }
      return known.slug
    }
    return this.#keep(key, this.#freeSlug(account), account, patience)
  }

  /**
   * Makes the account's provider open, so that it serves any id as `<name>/<id>`. Returns its slug, or undefined if the name belongs to another
   * vendor or account. Must be called before `slugOf` for the same account.
   */
  openAs(name: string, account: Account, patience: Patience = {}): string | undefined {
    const key = JSON.stringify(account)
    const slug = this.#providers.get(key)?.slug
    const isOthers = slug === undefined ? this.#slugs.has(name) : slug !== name
    if (isOthers || !/^[a-z0-9][a-z0-9._-]*$/.test(name) || (this.#vendors.has(name) && name !== account.vendor)) return undefined
    if (slug === undefined) this.#keep(key, name, account, patience)
    this.#providers.get(key)!.open = true
    return name
  }

  /** The timeouts of a provider, common to all its deployments. */
  patienceOf(slug: string): Patience {
    return [...this.#providers.values()].find((provider) => provider.slug === slug)?.patience ?? {}
  }

  /** The providers in the form of our file, in the order of their creation. */
  drafts(): readonly ProviderDraft[] {
    return [...this.#providers.values()].map(({ slug, account, patience, open }) => ({
      slug,
      ...defined({
        vendor: account.vendor === slug ? undefined : account.vendor,
        dialect: account.dialect,
        base_url: account.baseUrl,
        api_keys: account.apiKeys,
        organization: account.organization,
        settings: filled(account.settings),
        headers: filled(account.headers),
        timeouts: filled(defined({ first_token: seconds(patience.firstToken), total: seconds(patience.total) })),
        open_models: open ? true : undefined,
      }),
    }))
  }

  #keep(key: string, slug: string, account: Account, patience: Patience): string {
    this.#slugs.add(slug)
    this.#providers.set(key, { slug, account, patience, open: false })
    return slug
  }

  #freeSlug(account: Account): string {
    const { vendor, baseUrl } = account
    if (vendor !== undefined && !this.#slugs.has(vendor)) return vendor
    const place = placeOf(account)
    const preferred =
      vendor === undefined ? (place ?? 'server') : place === undefined ? undefined : place.startsWith(`${vendor}-`) ? place : `${vendor}-${place}`
    const isFree = (slug: string): boolean => !this.#slugs.has(slug) && !this.#vendors.has(slug)
    if (preferred !== undefined && isFree(preferred)) return preferred
    const base = vendor ?? (baseUrl === undefined ? 'server' : (preferred ?? 'server'))
    for (let count = 2; ; count++) if (isFree(`${base}-${count}`)) return `${base}-${count}`
  }
}

/** What distinguishes an account from others of its vendor, or a server from other servers. */
function placeOf({ vendor, settings, baseUrl }: Account): string | undefined {
  const set = ['region', 'location', 'resource', 'host', 'account'].map((name) => settings?.[name]).find((value) => typeof value === 'string')
  const url = URL.parse(baseUrl ?? '')
  const host = vendor === undefined ? url?.host : url?.hostname.split('.')[0]
  const slug = slugified(set ?? host ?? baseUrl ?? '')
  return slug === '' ? undefined : slug
}

const slugified = (text: string): string =>
  text
    .toLowerCase()
    .replace(/:-[^}]*\}/g, '')
    .replace(/[^a-z0-9.]+/g, '-')
    .replace(/^[-.]+|[-.]+$/g, '')

/** The longer timeout interrupts nothing that worked before. A reference is kept unchanged. */
function longer(a: Patience['total'], b: Patience['total']): Patience['total'] {
  if (typeof a !== 'number' || typeof b !== 'number') return a === undefined || b === undefined ? undefined : a
  return Math.max(a, b)
}

const seconds = (value: Patience['total']): string | undefined => (value === undefined ? undefined : typeof value === 'number' ? `${value}s` : value)

const filled = <T extends object>(value: T | undefined): T | undefined => (value === undefined || Object.keys(value).length === 0 ? undefined : value)
