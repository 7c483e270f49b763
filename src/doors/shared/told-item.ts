import { isCallerCall } from '../../core/caller-call.ts'
import { GatewayError } from '../../core/error.ts'
import type { OutputItem } from '../../core/item.ts'
import type { ClosingStatus, ItemEvent, ItemPatch, OpenItem } from '../responses/open-item.ts'

/**
 * An item of an answer while it is told in a format other than that of Responses. What it comes to is the business of `inner`, an item of
 * Responses whose wire writes nothing; a format says how each event and the end of it look.
 */
export abstract class ToldItem<I extends OutputItem> implements OpenItem {
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

function waitsForCaller(item: OutputItem): boolean {
  if (item.type === 'mcp_approval_request') return true
  // What was printed in a container of the provider's comes only behind the call.
  const { environment } = item as { readonly environment?: { readonly type?: unknown } | null }
  return isCallerCall(item, []) && !(item.type === 'shell_call' && String(environment?.type).startsWith('container'))
}

/** Throws GatewayError `unprocessable` for an item that waits for the caller in a way only Responses have: nobody would hear of it. */
export function refuseCallersWork(inner: OpenItem): void {
  const item = inner.snapshot('incomplete')
  if (!waitsForCaller(item)) return
  throw new GatewayError('unprocessable', `The model asks its caller for ${item.type}, which has no place in this format: use /api/v1/responses`)
}
