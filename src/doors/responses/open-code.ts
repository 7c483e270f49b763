import type { OtherItem } from '../../core/item.ts'
import type { ClosingStatus, ItemEvent, ItemPatch } from './open-item.ts'
import { OpenOther } from './open-other.ts'

const DELTA = 'code_interpreter_call_code.delta'
const DONE = 'code_interpreter_call_code.done'

/**
 * Code that was run for the model. Clients read it from its own events and ignore a call without them, but most endpoints report a run only when it is
 * over: the events that are still missing by then are written before the item ends.
 */
export class OpenCode extends OpenOther {
  #sent = 0
  #isWhole = false

  protected override announced(start: OtherItem): OtherItem {
    return { ...start, status: 'in_progress', code: '', outputs: null }
  }

  override apply(event: ItemEvent): void {
    if (event.type === 'item-event' && event.name === DONE) {
      this.#isWhole = true
      this.#tellRest(event.fields?.['code'])
    }
    super.apply(event)
    if (event.type !== 'item-event' || event.name !== DELTA) return
    const delta = event.fields?.['delta']
    if (typeof delta === 'string') this.#sent += delta.length
  }

  override close(status: ClosingStatus, patch: ItemPatch | undefined): OtherItem {
    const item = super.close(status, patch)
    if (!this.#isWhole) {
      const code = typeof item['code'] === 'string' ? item['code'] : ''
      this.#tellRest(code)
      this.#tell(DONE, { code })
    }
    return item
  }

  /** Writes the part that no delta contained. */
  #tellRest(code: unknown): void {
    const delta = typeof code === 'string' ? code.slice(this.#sent) : ''
    if (delta !== '') this.#tell(DELTA, { delta })
  }

  #tell(name: string, fields: { readonly [field: string]: string }): void {
    super.apply({ type: 'item-event', key: '', name, fields })
  }
}
