import type { CustomToolCallItem, FunctionCallItem, MessageItem, OtherItem, OutputItem, ReasoningItem } from '../../core/item.ts'
import type { CallIds } from './item-ids.ts'
import { OpenCall } from './open-call.ts'
import { OpenCode } from './open-code.ts'
import type { OpenItem } from './open-item.ts'
import { OpenMessage } from './open-message.ts'
import { OpenOther } from './open-other.ts'
import { OpenReasoning } from './open-reasoning.ts'
import type { WireWriter } from './wire.ts'

export interface ItemContext {
  readonly wire: WireWriter
  readonly callIds: CallIds
  /** See `AssemblerOptions`. */
  readonly mirrorReasoning: boolean
}

/** Creates what writes an item of this type, with this public id and at this index of the answer. */
export function createItem(item: OutputItem, id: string, index: number, { wire, callIds, mirrorReasoning }: ItemContext): OpenItem {
  switch (item.type) {
    case 'message':
      return new OpenMessage(wire, id, index, item as MessageItem)
    case 'reasoning':
      return new OpenReasoning(wire, id, index, item as ReasoningItem, mirrorReasoning)
    case 'function_call':
    case 'custom_tool_call': {
      const call = item as FunctionCallItem | CustomToolCallItem
      return new OpenCall(wire, id, index, call, callIds.of(call.call_id))
    }
    case 'code_interpreter_call':
      return new OpenCode(wire, id, index, item, callIds.ofOther(item))
    default:
      return new OpenOther(wire, id, index, item as OtherItem, callIds.ofOther(item))
  }
}
