import type { JsonObject, OtherItem } from '../../core/item.ts'
import { asString, isObject } from '../shared/json.ts'

/** Distinguishes the items of this format from those of other vendors, and contains the id that both parts share. */
const CONTAINER = 'code_execution'

const STATUS: { readonly [outcome: string]: string } = { OUTCOME_OK: 'completed', OUTCOME_DEADLINE_EXCEEDED: 'incomplete' }

/** Code that the model ran, and its result, as the contract's item. Either part may be missing. */
export function codeItem(code: unknown, result: unknown): OtherItem {
  const ran = isObject(code) ? code : {}
  const outcome = isObject(result) ? result : undefined
  const id = asString(ran['id']) ?? asString(outcome?.['id'])
  const known = asString(outcome?.['outcome'])
  return {
    type: 'code_interpreter_call',
    status: known === undefined ? 'completed' : (STATUS[known] ?? 'failed'),
    code: asString(ran['code']) ?? null,
    container_id: id === undefined ? CONTAINER : `${CONTAINER}:${id}`,
    outputs: outcome === undefined ? null : [{ type: 'logs', logs: asString(outcome['output']) ?? '' }],
  }
}

export function isCodeItem(item: OtherItem): boolean {
  return item.type === 'code_interpreter_call' && asString(item['container_id'])?.split(':', 1)[0] === CONTAINER
}

/** The reverse conversion: one part for the code, one for its result. */
export function codeParts(item: OtherItem): JsonObject[] {
  const id = asString(item['container_id'])?.slice(CONTAINER.length + 1)
  const shared = id ? { id } : {}
  const parts: JsonObject[] = []
  if (typeof item['code'] === 'string') parts.push({ executableCode: { ...shared, language: 'PYTHON', code: item['code'] } })
  const { outputs } = item
  if (Array.isArray(outputs)) {
    const logs = outputs.map((output: unknown) => (isObject(output) ? (asString(output['logs']) ?? '') : '')).join('')
    const outcome = item['status'] === 'failed' ? 'OUTCOME_FAILED' : item['status'] === 'incomplete' ? 'OUTCOME_DEADLINE_EXCEEDED' : 'OUTCOME_OK'
    parts.push({ codeExecutionResult: { ...shared, outcome, output: logs } })
  }
  return parts
}
