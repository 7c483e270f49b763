import type { ModelEvent } from '../core/event.ts'
import type { ToolResult } from '../core/extension.ts'
import type { JsonObject } from '../core/item.ts'
import type { IdSource } from '../lib/id.ts'
import type { OfferedTool } from './offered-tool.ts'
import type { PendingCall } from './tool-step.ts'
import { suspendedCalls } from './tool-suspension.ts'

/** What the caller sees of a call of a server tool: its start and its end. */

export type ItemStart = Extract<ModelEvent, { readonly type: 'item-start' }>

interface Place {
  readonly key: string
  readonly id: string
  readonly offered: OfferedTool
}

/** The start of the tool's own item. */
export function startOf(fields: JsonObject, { key, id, offered }: Place): ItemStart {
  return { type: 'item-start', key, id, item: { type: offered.itemType, status: 'in_progress', ...fields } }
}

export interface CallEnd {
  /** Undefined if the tool has no item of its own. */
  readonly start: ModelEvent | undefined
  /** The start was told already. */
  readonly announced: boolean
  readonly key: string
  /** Of the item that is handed back. */
  readonly id: string
  readonly pending: PendingCall
  readonly newId: IdSource
}

/** The events with which a call ends. */
export function endOf(result: ToolResult, { start, announced, key, id, pending, newId }: CallEnd): readonly ModelEvent[] {
  const { handBack, suspended } = result
  const { offered, callId } = pending
  if (handBack !== undefined) {
    return [
      { type: 'item-start', key, id, item: handBack },
      { type: 'item-end', key },
    ]
  }
  if (suspended !== undefined) {
    const calls = suspendedCalls(suspended, { key, callId, newId })
    return start !== undefined && announced ? [{ type: 'item-end', key, waits: true }, ...calls] : calls
  }
  if (start === undefined) return []
  const item = { ...whyOf(result, offered), ...result.item, status: statusOf(result, offered) }
  const end: ModelEvent = { type: 'item-end', key, item, ...(result.error?.lasting === true ? { lasting: true } : {}) }
  return announced ? [end] : [start, end]
}

/** Items of providers' own tools have the status `failed`, the gateway's `incomplete`, unless the tool says otherwise. */
function statusOf({ error }: ToolResult, { tool, itemType }: OfferedTool): string {
  if (error === undefined) return 'completed'
  return tool.failable === true || itemType.endsWith('_call') ? 'failed' : 'incomplete'
}

/** What went wrong, if the item has a field for it. */
const whyOf = ({ error }: ToolResult, { tool }: OfferedTool): JsonObject =>
  error === undefined || tool.showsError !== true ? {} : { error: error.message }
