import type { SearchHit, SearchQuery } from '../../core/web.ts'
import { cutText } from '../../lib/cut-text.ts'
import type { Secret } from '../../lib/secret.ts'

export type { SearchHit, SearchQuery } from '../../core/web.ts'

export interface PageText {
  readonly title?: string
  readonly content: string
}

export interface EngineRequest {
  readonly method: 'GET' | 'POST'
  /** Appended to the base URL. */
  readonly path: string
  readonly headers?: { readonly [name: string]: string }
  readonly body?: unknown
}

/** One search service: data and two translations, one file each. */
export interface SearchEngine {
  readonly name: string
  /** Environment variables with its key, or with its base URL for servers without a key. */
  readonly env: { readonly apiKey?: readonly string[]; readonly baseUrl?: readonly string[] }
  /** Undefined if the operator must configure the address. */
  readonly baseUrl?: string
  readonly authorize?: (key: Secret) => { readonly [name: string]: string }
  /** List price per search, in USD. */
  readonly price: (query: SearchQuery) => number
  search(query: SearchQuery): EngineRequest
  /** Accepts any body: hits without a URL are dropped. */
  readHits(body: unknown): readonly SearchHit[]
  /** For engines that also return the text of one page. */
  readonly pages?: {
    /** Price per page, in USD. */
    readonly price: number
    fetch(url: string, maxCharacters: number | undefined): EngineRequest
    read(body: unknown): PageText | undefined
  }
}

type Fields = { readonly [field: string]: unknown }

export const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
export const textsOf = (value: unknown): string =>
  listOf(value)
    .filter((part) => typeof part === 'string')
    .join('\n[...]\n')

/** Titles are a single line, but a page may declare anything as its title. */
export const MAX_TITLE_CHARS = 500

/** One hit, or none without a URL. */
export function toHit(url: unknown, title: unknown, content: string, published?: unknown): SearchHit[] {
  if (typeof url !== 'string' || !/^https?:\/\//.test(url)) return []
  return [
    {
      url,
      title: cutText(textOf(title) || url, MAX_TITLE_CHARS),
      content,
      ...(typeof published === 'string' && published !== '' ? { published } : {}),
    },
  ]
}

export interface DomainHints {
  readonly allowed: readonly string[]
  readonly excluded: readonly string[]
}

/**
 * The domains of a query, within the limits of an engine that refuses a search with more. Allowed domains are passed on completely or not at all, because
 * pages of omitted ones would never be found. The caller's lists are enforced even without these hints.
 */
export function domainHints(
  { allowedDomains, excludedDomains }: SearchQuery,
  most: { readonly allowed: number; readonly excluded: number },
): DomainHints {
  return { allowed: allowedDomains.length <= most.allowed ? allowedDomains : [], excluded: excludedDomains.slice(0, most.excluded) }
}

/**
 * The query with its domains as search operators, for engines without fields for them. If an engine limits characters or words, the query is cut, and
 * domains are left out if they would take more than half: they are only hints, and the caller's lists are enforced without them.
 */
export function withOperators({ query, allowedDomains, excludedDomains }: SearchQuery, most: Partial<Size> = {}): string {
  const { chars = Infinity, words = Infinity } = most
  const only = ifFits(siteOf(allowedDomains), { chars: chars / 2, words: words / 2 })
  const rest = { chars: chars / 2 - only.length, words: words / 2 - wordsIn(only).length }
  const operators = [only, ifFits(excludedDomains.map((domain) => `-site:${domain}`).join(' '), rest)].filter((part) => part !== '').join(' ')
  const shortened = firstWords(query, words - wordsIn(operators).length)
  return [cutText(shortened, operators === '' ? chars : chars - operators.length - 1), operators].filter((part) => part !== '').join(' ')
}

interface Size {
  readonly chars: number
  readonly words: number
}

const wordsIn = (text: string): readonly string[] => text.split(/\s+/).filter((word) => word !== '')

function firstWords(text: string, most: number): string {
  const words = wordsIn(text)
  return words.length <= most ? text : words.slice(0, most).join(' ')
}

function siteOf(domains: readonly string[]): string {
  const sites = domains.map((domain) => `site:${domain}`).join(' OR ')
  return domains.length > 1 ? `(${sites})` : sites
}

/** All or nothing: pages of omitted domains would never be found. */
const ifFits = (operators: string, room: Size): string => (operators.length <= room.chars && wordsIn(operators).length <= room.words ? operators : '')

export const bearer = (key: Secret): { readonly authorization: string } => ({ authorization: `Bearer ${key.reveal()}` })
