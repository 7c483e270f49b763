import { callerCallsAmong } from '../../core/caller-call.ts'
import { GatewayError } from '../../core/error.ts'
import type { OutputItem } from '../../core/item.ts'
import type { ClosingStatus, ItemEvent, ItemPatch, OpenItem } from '../responses/open-item.ts'

/**
 * An item of an answer while it is written in a format other than Responses. `inner`, an item of Responses with a disabled wire, builds the item itself;
 * the format defines how each event and the end look.
 */
export abstract class TranslatedItem<I extends OutputItem> implements OpenItem {
  readonly inner: OpenItem

  constructor(inner: OpenItem) {
    this.inner = inner
  }

  open(): void {
    this.inner.open()
  }

  apply(event: ItemEvent): void {
    this.inner.apply(event)
    this.tell(event)
  }

  close(status: ClosingStatus, patch: ItemPatch | undefined): OutputItem {
    const item = this.inner.close(status, patch)
    this.ended(item as I)
    return item
  }

  snapshot(status: ClosingStatus, patch?: ItemPatch): OutputItem {
    return this.inner.snapshot(status, patch)
  }

  protected abstract tell(event: ItemEvent): void
  protected abstract ended(item: I): void
}

/** Of one that stands alone: nothing has come after it yet. */
const isCallOfCaller = callerCallsAmong([])

function waitsForCaller(item: OutputItem): boolean {
  if (item.type === 'mcp_approval_request') return true
  // The output of a run in the provider's own container arrives only after the call.
  const { environment } = item as { readonly environment?: { readonly type?: unknown } | null }
  return isCallOfCaller(item) && !(item.type === 'shell_call' && String(environment?.type).startsWith('container'))
}

/** Throws GatewayError `unprocessable` for an item that waits for the caller in a way that only Responses can express: the caller would never learn of it. */
export function refuseItemForCaller(inner: OpenItem): void {
  const item = inner.snapshot('incomplete')
  if (!waitsForCaller(item)) return
  throw new GatewayError('unprocessable', `The model asks its caller for ${item.type}, which has no place in this format: use /api/v1/responses`)
}
