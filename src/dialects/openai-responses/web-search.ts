import type { JsonObject, Tool } from '../../core/item.ts'
import { isObject } from '../shared/json.ts'
import type { ResponsesOptions } from './options.ts'

/** The vendor's search, in all its spellings. */
export const isWebSearch = ({ type }: Tool): boolean => /^web_search(?:_|$)/.test(type)

/** Fields that the contract adds to the vendor's tool: who searches, how, and how much. */
const ADDED = ['engine', 'mode', 'max_results', 'max_uses'] as const

/**
 * Encodes a web search of the contract for this endpoint, which refuses the call for fields that the format does not have. Limits that cannot be
 * enforced are listed in `dropped`; everything else in the tool is the caller's.
 */
export function encodeWebSearch(tool: Tool, options: ResponsesOptions, dropped: Set<string>): JsonObject {
  const { filters, ...rest } = tool as JsonObject
  const encoded: { [field: string]: unknown } = rest
  if (!options.search_bounds) {
    for (const field of ADDED) {
      // The endpoint searches itself, whatever engine was named.
      if (encoded[field] != null && field !== 'engine') dropped.add(`tools: ${tool.type}.${field}`)
      delete encoded[field]
    }
  }
  const encodedFilters = encodeFilters(filters, options)
  return encodedFilters === undefined ? encoded : { ...encoded, filters: encodedFilters }
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** Excluded domains have two names in the contract and one at each vendor; empty lists are refused. */
function encodeFilters(filters: unknown, { search_exclusions: name }: ResponsesOptions): JsonObject | undefined {
  if (!isObject(filters)) return undefined
  const { allowed_domains, blocked_domains, excluded_domains, ...rest } = filters
  const wanted = listOf(allowed_domains)
  const unwanted = [...new Set([...listOf(blocked_domains), ...listOf(excluded_domains)])]
  const encoded = { ...rest, ...(wanted.length === 0 ? {} : { allowed_domains: wanted }), ...(unwanted.length === 0 ? {} : { [name]: unwanted }) }
  return Object.keys(encoded).length === 0 ? undefined : encoded
}
