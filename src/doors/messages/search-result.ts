import type { JsonObject, OtherItem } from '../../core/item.ts'
import { openReasoning } from '../../core/reasoning-envelope.ts'
import { parseExact } from '../../lib/exact-json.ts'
import { isJsonObject } from '../../lib/json.ts'

/** Statuses of failed searches. The format has a code for each reason, but items have none. */
const FAILED: ReadonlySet<unknown> = new Set(['failed', 'incomplete'])
const NOTHING_CAME = 'unavailable'

/**
 * The results of a search in this format. Results of a vendor's own search have its titles and dates, and data that must come back to the vendor unread:
 * all of it is sealed as a whole, in the content of the first page.
 */
export function foundBy(item: OtherItem): readonly JsonObject[] | JsonObject {
  const sealed = item['encrypted_content']
  const content = typeof sealed === 'string' ? contentOf(sealed) : undefined
  if (Array.isArray(content)) return (content as readonly JsonObject[]).map((page, index) => pageOf(page, index === 0 ? (sealed as string) : ''))
  if (isJsonObject(content)) return failure(content['error_code'])
  if (FAILED.has(item.status)) return failure(undefined)
  const { sources } = (item['action'] ?? {}) as JsonObject
  return Array.isArray(sources) ? (sources as readonly JsonObject[]).filter(({ url }) => typeof url === 'string').map((page) => pageOf(page, '')) : []
}

/** The sealed results of a vendor's search, from where `foundBy` has put them. */
export function sealOfSearch(content: readonly JsonObject[]): { readonly encrypted_content?: string } {
  const seal = content[0]?.['encrypted_content']
  return typeof seal === 'string' && openReasoning(seal) !== undefined ? { encrypted_content: seal } : {}
}

/** The sealed call of a vendor's search that has not run yet: it runs once the caller's tools that were called beside it have. */
export function sealOfCall({ encrypted_content: sealed }: OtherItem): string | undefined {
  const blocks = typeof sealed === 'string' ? blocksOf(sealed) : []
  return blocks.length > 0 && !blocks.some(isResult) ? (sealed as string) : undefined
}

const isResult = ({ type }: JsonObject): boolean => type === 'web_search_tool_result'

/** The vendor's own result in an envelope of blocks. */
const contentOf = (sealed: string): unknown => blocksOf(sealed).find(isResult)?.['content']

function blocksOf(sealed: string): readonly JsonObject[] {
  const { data } = openReasoning(sealed) ?? {}
  const blocks = data?.startsWith('[') === true ? parseExact(data) : undefined
  return Array.isArray(blocks) ? (blocks as readonly unknown[]).filter(isJsonObject) : []
}

function pageOf({ url, title, page_age: age }: JsonObject, seal: string): JsonObject {
  const words = typeof title === 'string' && title !== '' ? title : url
  return { type: 'web_search_result', url, title: words, encrypted_content: seal, page_age: typeof age === 'string' ? age : null }
}

const failure = (code: unknown): JsonObject => ({
  type: 'web_search_tool_result_error',
  error_code: typeof code === 'string' ? code : NOTHING_CAME,
})
