import type { JsonObject, ToolCaller } from '../../core/item.ts'
import type { MapId } from '../shared/id-map.ts'
import { asString, isObject } from '../shared/json.ts'
import type { Entry } from './input-order.ts'

/** The tool that lets a model write programs. The endpoint runs them, and their function calls go to the caller. */
export const PROGRAMS = 'programmatic_tool_calling'

/** The field that only the account that created it can read, by the type of its item. */
export const opaqueField = (type: unknown): string => (type === 'program' ? 'fingerprint' : 'encrypted_content')

/** Removes a tool's fields about programs: who may call it, and what they may read of its results. */
export function withoutPrograms<T extends JsonObject>(tool: T): T {
  const { allowed_callers: _callers, output_schema: _schema, ...rest } = tool
  return rest as unknown as T
}

/** Who made a call, and whether its result may come later than in the next turn, as the upstream says it. */
export function howCalled({ caller, async: mayWait }: JsonObject): { readonly caller?: ToolCaller; readonly async?: true } {
  return { ...(isObject(caller) ? { caller: caller as ToolCaller } : {}), ...(mayWait === true ? { async: true } : {}) }
}

/** The program that made a call, or that receives an output; undefined if the model itself called. */
export function callerOf(item: { readonly caller?: unknown }): { readonly caller?: JsonObject } {
  const { caller } = item
  return isObject(caller) && caller['type'] === 'program' ? { caller } : {}
}

/**
 * Keeps programs and their calls and outputs together, in place: these name the program that waits for them if it is sent as well; those of other
 * programs are left out.
 */
export function linkPrograms(entries: readonly Entry[], mapId: MapId, dropped: Set<string>): void {
  const idsOf = (type: string): Set<unknown> => new Set(entries.flatMap(({ item }) => (item?.['type'] === type ? [item['call_id']] : [])))
  let programs: Set<unknown> | undefined
  for (const entry of entries) {
    const { item } = entry
    if (item === undefined) continue
    if (item['type'] === 'program_output') {
      programs ??= idsOf('program')
      if (programs.has(item['call_id'])) continue
      entry.item = undefined
      dropped.add('input: program_output of another endpoint')
    } else if (isObject(item['caller'])) {
      programs ??= idsOf('program')
      const { caller, ...rest } = item
      const id = asString(caller['caller_id'])
      entry.item = id !== undefined && programs.has(id) ? { ...item, caller: { ...caller, caller_id: mapId(id, 0) } } : rest
    }
  }
}
