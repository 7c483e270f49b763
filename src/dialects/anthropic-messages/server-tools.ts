import type { OtherItem } from '../../core/item.ts'
import type { AnswerWriter } from '../shared/answer-writer.ts'
import { parseExact } from '../../lib/exact-json.ts'
import { asString, isObject } from '../shared/json.ts'
import type { Block } from './content.ts'
import type { MessagesTarget } from './options.ts'
import { sealBlocks } from './server-blocks.ts'

/** A streaming block of a tool that the upstream runs itself, or of an unknown kind. */
export interface ServerBlock {
  readonly kind: 'server'
  readonly block: Block
  /** The chunks of its input. */
  json: string
}

interface OpenItem {
  readonly key: string
  readonly use: ServerBlock
}

/**
 * Converts the upstream's own tools: searches and MCP calls become items of the contract, which contain their blocks. Everything else is only in the
 * envelope of an empty reasoning item, so that it can be sent back.
 */
export class ServerToolDecoder {
  readonly #writer: AnswerWriter
  readonly #target: MessagesTarget
  readonly #open = new Map<string, OpenItem>()
  /** Searches that have found something: the upstream charges for these, and counts them when the answer ends. */
  searches = 0
  #carried: Block[] = []
  #count = 0

  constructor(writer: AnswerWriter, target: MessagesTarget) {
    this.#writer = writer
    this.#target = target
  }

  start(block: Block): ServerBlock {
    const server: ServerBlock = { kind: 'server', block: { ...block }, json: '' }
    const item = startOf(block)
    const id = asString(block['id'])
    if (item !== undefined && id !== undefined && !this.#open.has(id)) {
      this.flush()
      const writer = this.#writer
      writer.closeReasoning()
      writer.closeMessage()
      writer.closeCompleteCalls()
      writer.hasContent = true
      const key = `s${this.#count++}`
      this.#open.set(id, { key, use: server })
      writer.out.push({ type: 'item-start', key, item })
      if (item.type === 'web_search_call') writer.out.push({ type: 'item-event', key, name: 'web_search_call.in_progress' })
    }
    return server
  }

  delta(server: ServerBlock, delta: { readonly [field: string]: unknown }): void {
    const piece = delta['partial_json']
    if (typeof piece === 'string') server.json += piece
    // All fields of a compaction go back with its text, unchanged.
    else if (delta['type'] === 'compaction_delta') {
      append(server.block, 'content', delta)
      append(server.block, 'encrypted_content', delta)
    } else if (delta['type'] === 'signature_delta') append(server.block, 'signature', delta)
  }

  stop(server: ServerBlock): void {
    const { block } = server
    if (server.json !== '') {
      const input = parseExact(server.json)
      if (isObject(input)) block['input'] = input
    }
    const own = this.#open.get(asString(block['id']) ?? '')
    if (own?.use === server) {
      if (block['name'] === 'web_search') this.#writer.out.push({ type: 'item-event', key: own.key, name: 'web_search_call.searching' })
      return
    }
    const id = asString(block['tool_use_id']) ?? ''
    const answered = this.#open.get(id)
    if (answered === undefined) {
      this.#carried.push(block)
      return
    }
    this.#open.delete(id)
    const fields = endOf(answered.use.block, block)
    if (answered.use.block['name'] === 'web_search') {
      if (Array.isArray(block['content'])) this.searches++
      this.#writer.out.push({ type: 'item-event', key: answered.key, name: 'web_search_call.completed' })
    }
    this.#end(answered, { ...fields, encrypted_content: sealBlocks([answered.use.block, block], this.#target) })
  }

  /** Writes the blocks collected so far, before the next item. */
  flush(): void {
    if (this.#carried.length === 0) return
    const blocks = this.#carried
    this.#carried = []
    this.#writer.closeMessage()
    this.#writer.opaqueReasoning({ format: this.#target.options.reasoning_format, encrypted_content: sealBlocks(blocks, this.#target) })
  }

  /** Closes calls without a result. `later` means that the result comes when the conversation continues, for which the call must be sent back. */
  finish(later: boolean): void {
    this.flush()
    for (const item of this.#open.values()) {
      const { block } = item.use
      const ending = later ? { status: 'completed', encrypted_content: sealBlocks([block], this.#target) } : { status: 'failed' }
      this.#end(item, { ...endOf(block, undefined), ...ending })
    }
    this.#open.clear()
  }

  #end(item: OpenItem, fields: { readonly [field: string]: unknown }): void {
    this.#writer.out.push({ type: 'item-end', key: item.key, item: fields })
  }
}

function append(block: Block, field: string, delta: { readonly [field: string]: unknown }): void {
  if (typeof delta[field] === 'string') block[field] = (asString(block[field]) ?? '') + delta[field]
}

/** The item that a call opens; undefined for calls that are only stored. */
function startOf(block: Block): OtherItem | undefined {
  if (block.type === 'server_tool_use' && block['name'] === 'web_search') {
    return { type: 'web_search_call', status: 'in_progress', action: { type: 'search', query: queryOf(block) } }
  }
  if (block.type === 'mcp_tool_use') {
    return { type: 'gateway:mcp', status: 'in_progress', serverLabel: asString(block['server_name']) ?? '', toolName: asString(block['name']) ?? '' }
  }
  return undefined
}

const queryOf = (block: Block): string => (isObject(block['input']) ? (asString(block['input']['query']) ?? '') : '')

/** The fields known at the end of a call. */
function endOf(use: Block, result: Block | undefined): { readonly [field: string]: unknown } {
  const content = result?.['content']
  if (use.type === 'mcp_tool_use') return { status: result === undefined || result['is_error'] === true ? 'failed' : 'completed' }
  const sources = Array.isArray(content)
    ? content.flatMap((each) => (isObject(each) && typeof each['url'] === 'string' ? [{ type: 'url', url: each['url'] }] : []))
    : []
  const query = queryOf(use)
  return { status: Array.isArray(content) ? 'completed' : 'failed', action: { type: 'search', query, queries: [query], sources } }
}
