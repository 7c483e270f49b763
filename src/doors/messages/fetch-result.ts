import type { JsonObject, OtherItem } from '../../core/item.ts'
import { isJsonObject } from '../../lib/json.ts'

/** The result for a page that could not be fetched. The format has a code for each reason, but items have only a sentence, for the model. */
const NOTHING_CAME = { type: 'web_fetch_tool_result_error', error_code: 'unavailable' }

/** A page that the gateway has fetched, as a result block of this format. */
export function fetchedPage({ url, title, content }: OtherItem): JsonObject {
  if (typeof url !== 'string' || typeof content !== 'string') return NOTHING_CAME
  const source = { type: 'text', media_type: 'text/plain', data: content }
  return {
    type: 'web_fetch_result',
    url,
    retrieved_at: null,
    content: { type: 'document', source, title: typeof title === 'string' ? title : null },
  }
}

/** The reverse: a result block as the gateway's own tool; undefined for content that only its vendor can read. */
export function pageThatCameBack(content: unknown): OtherItem | undefined {
  if (!isJsonObject(content) || content['type'] !== 'web_fetch_result' || !isJsonObject(content['content'])) return undefined
  const { source, title } = content['content']
  if (!isJsonObject(source) || source['type'] !== 'text' || typeof source['data'] !== 'string') return undefined
  const item = { type: 'gateway:web_fetch', status: 'completed', url: content['url'], content: source['data'] } as const
  return typeof title === 'string' ? { ...item, title } : item
}
