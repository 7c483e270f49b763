import type { OtherItem } from '../../core/item.ts'
import type { AnswerWriter } from '../shared/answer-writer.ts'
import { parseExact } from '../../lib/exact-json.ts'
import { asString, isObject } from '../shared/json.ts'
import type { Block } from './content.ts'
import type { MessagesTarget } from './options.ts'
import { sealBlocks } from './server-blocks.ts'

/** A block of a tool the upstream runs itself, or of a kind not known here, while it streams. */
export interface ServerBlock {
  readonly kind: 'server'
  readonly block: Block
  /** Pieces of its input. */
  json: string
}

interface OpenItem {
  readonly key: string
  readonly use: ServerBlock
}

/**
 * Shows what the upstream's own tools do: searches and MCP calls as the contract's items, which carry their blocks; everything else only
 * in the envelope of an empty reasoning item, so that it can be sent back.
 */
export class ServerToolDecoder {
  readonly #writer: AnswerWriter
  readonly #target: MessagesTarget
  readonly #open = new Map<string, OpenItem>()
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
    // What belongs to the text of a compaction goes back with it, as it was.
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
    if (answered.use.block['name'] === 'web_search')
      this.#writer.out.push({ type: 'item-event', key: answered.key, name: 'web_search_call.completed' })
    this.#end(answered, { ...fields, encrypted_content: sealBlocks([answered.use.block, block], this.#target) })
  }

  /** Writes the blocks carried so far, before what comes after them. */
  flush(): void {
    if (this.#carried.length === 0) return
    const blocks = this.#carried
    this.#carried = []
    this.#writer.closeMessage()
    this.#writer.opaqueReasoning({ format: this.#target.options.reasoning_format, encrypted_content: sealBlocks(blocks, this.#target) })
  }

  /** Closes what got no result. `later`: it will when the conversation goes on, for which the call has to come back. */
  finish(later: boolean): void {
    this.flush()
    for (const item of this.#open.values()) {
      const { block } = item.use
      const fate = later ? { status: 'completed', encrypted_content: sealBlocks([block], this.#target) } : { status: 'failed' }
      this.#end(item, { ...endOf(block, undefined), ...fate })
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

/** The item a call opens; undefined for calls that are only carried. */
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

/** What is known of a call at its end. */
function endOf(use: Block, result: Block | undefined): { readonly [field: string]: unknown } {
  const content = result?.['content']
  if (use.type === 'mcp_tool_use') return { status: result === undefined || result['is_error'] === true ? 'failed' : 'completed' }
  const sources = Array.isArray(content)
    ? content.flatMap((each) => (isObject(each) && typeof each['url'] === 'string' ? [{ type: 'url', url: each['url'] }] : []))
    : []
  const query = queryOf(use)
  return { status: Array.isArray(content) ? 'completed' : 'failed', action: { type: 'search', query, queries: [query], sources } }
}
