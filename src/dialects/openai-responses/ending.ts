import type { FinishReason, Stopped } from '../../core/event.ts'
import type { JsonObject } from '../../core/item.ts'
import { isObject } from '../shared/json.ts'

/** Why an answer that the upstream cut off has ended. */
export function cutReason(native: string | undefined): FinishReason {
  return native !== undefined && /content_?filter|safety|moderation/i.test(native) ? 'content_filter' : 'length'
}

/** What the upstream says about a finished answer besides its reason. */
export function stoppedOf({ moderation }: JsonObject): { readonly stopped?: Stopped } {
  return isObject(moderation) ? { stopped: { moderation } } : {}
}
