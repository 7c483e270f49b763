import { BY_CALLER } from '../../core/caller-call.ts'
import { isClientSearchCall } from '../../core/client-search.ts'
import type { InputItem, OutputItem } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'
import type { IdSource } from '../../lib/id.ts'

const PREFIXES: { readonly [type: string]: string } = {
  message: 'msg_',
  reasoning: 'rs_',
  function_call: 'fc_',
  custom_tool_call: 'ctc_',
  web_search_call: 'ws_',
  file_search_call: 'fs_',
  tool_search_call: 'tsc_',
  tool_search_output: 'tso_',
  image_generation_call: 'ig_',
  code_interpreter_call: 'ci_',
  computer_call: 'cu_',
  mcp_list_tools: 'mcpl_',
  mcp_call: 'mcp_',
  mcp_approval_request: 'mcpr_',
  local_shell_call: 'lsh_',
  shell_call: 'sh_',
  apply_patch_call: 'apc_',
  compaction: 'cmp_',
  program: 'prog_',
  program_output: 'prog_out_',
}
/** Items whose id the caller sends back to the upstream that minted it. */
const KEEPS_ID: ReadonlySet<string> = new Set(['mcp_approval_request', 'program', 'program_output'])

/** The public id of an item: `<prefix of its type><24 characters>`. */
export function mintItemId(item: OutputItem, newId: IdSource): string {
  if (item.id && KEEPS_ID.has(item.type)) return item.id
  return `${PREFIXES[item.type] ?? 'item_'}${newId(24)}`
}

const MAX_CALL_ID = 64
/** Ids of servers that number their calls, and of models that continue the numbers of earlier calls. */
const NUMBERED = /^(.*[:_-])(\d{1,6})$/s

/**
 * The call ids of one answer. Upstreams send none, repeat one (even of an earlier turn), or send longer ones than other vendors accept in the history: all
 * of these are replaced. A repeated id that ends in a number gets the next free number.
 */
export class CallIds {
  readonly #newId: IdSource
  readonly #history: readonly InputItem[]
  /** Created with the first call: most answers have none. */
  #known: Set<string> | undefined

  constructor({ newId, request }: { readonly newId: IdSource; readonly request: Pick<ModelRequest, 'input'> }) {
    this.#newId = newId
    this.#history = request.input
  }

  of(upstreamId: unknown): string {
    const known = (this.#known ??= callIdsOf(this.#history))
    const isFit = typeof upstreamId === 'string' && upstreamId !== '' && upstreamId.length <= MAX_CALL_ID
    const callId = isFit && !known.has(upstreamId) ? upstreamId : ((isFit ? countedOn(upstreamId, known) : undefined) ?? `call_${this.#newId(24)}`)
    known.add(callId)
    return callId
  }

  /** Undefined for items that no caller answers by a call id of the gateway's: the provider may name a call it ran itself by another id. */
  ofOther(item: OutputItem): string | undefined {
    return BY_CALLER.has(item.type) || isClientSearchCall(item) ? this.of((item as { readonly call_id?: unknown }).call_id) : undefined
  }
}

const callIdsOf = (history: readonly InputItem[]): Set<string> =>
  new Set(history.map((item) => (item as { readonly call_id?: unknown }).call_id).filter((id) => typeof id === 'string'))

/** The next id of the same form that no call has yet. */
function countedOn(id: string, known: ReadonlySet<string>): string | undefined {
  const [, head, digits] = NUMBERED.exec(id) ?? []
  if (head === undefined) return undefined
  let number = Number(digits)
  while (known.has(`${head}${number}`)) number++
  const next = `${head}${number}`
  return next.length <= MAX_CALL_ID ? next : undefined
}
