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
  /** Variables that hold its key, or its base URL for servers without one. */
  readonly env: { readonly apiKey?: readonly string[]; readonly baseUrl?: readonly string[] }
  /** Undefined when the operator must say where it is. */
  readonly baseUrl?: string
  readonly authorize?: (key: Secret) => { readonly [name: string]: string }
  /** USD per search at list price. */
  readonly price: (query: SearchQuery) => number
  search(query: SearchQuery): EngineRequest
  /** Tolerant of any body: what has no address is no result. */
  readHits(body: unknown): readonly SearchHit[]
  /** Engines that also give the text of one page. */
  readonly pages?: {
    /** USD per page. */
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

/** Titles are a line; a page may say anything of itself. */
export const MAX_TITLE_CHARS = 500

/** One hit, or none when it has no address. */
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
 * The domains of a query as far as an engine takes them, which refuses a search with more. Of those that are allowed all or none: pages of the
 * ones left out would never be found. The caller's lists hold without hints.
 */
export function domainHints(
  { allowedDomains, excludedDomains }: SearchQuery,
  most: { readonly allowed: number; readonly excluded: number },
): DomainHints {
  return { allowed: allowedDomains.length <= most.allowed ? allowedDomains : [], excluded: excludedDomains.slice(0, most.excluded) }
}

/**
 * The query with its domains as search operators, for engines without fields for them. Where an engine takes no more than so many characters, or
 * words, those of the query are cut, and domains left out that would take more than half: a hint saves results, the caller's limits hold without it.
 */
export function withOperators({ query, allowedDomains, excludedDomains }: SearchQuery, most: Partial<Size> = {}): string {
  const { chars = Infinity, words = Infinity } = most
  const only = kept(siteOf(allowedDomains), { chars: chars / 2, words: words / 2 })
  const rest = { chars: chars / 2 - only.length, words: words / 2 - wordsIn(only).length }
  const operators = [only, kept(excludedDomains.map((domain) => `-site:${domain}`).join(' '), rest)].filter((part) => part !== '').join(' ')
  const asked = firstWords(query, words - wordsIn(operators).length)
  return [cutText(asked, operators === '' ? chars : chars - operators.length - 1), operators].filter((part) => part !== '').join(' ')
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

/** All or nothing: pages of the domains left out would never be found. */
const kept = (operators: string, room: Size): string => (operators.length <= room.chars && wordsIn(operators).length <= room.words ? operators : '')

export const bearer = (key: Secret): { readonly authorization: string } => ({ authorization: `Bearer ${key.reveal()}` })
