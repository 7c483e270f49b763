import type { CustomToolCallItem, FunctionCallItem, JsonObject, MessageItem, OtherItem, OutputItem, ReasoningItem } from '../../core/item.ts'
import { parseExact } from '../../lib/exact-json.ts'
import { isJsonObject } from '../../lib/json.ts'
import type { ItemEvent, OpenItem } from '../responses/open-item.ts'
import { shownPicture } from '../shared/shown-picture.ts'
import { isFetch, isSearch } from '../shared/tool-items.ts'
import { refuseItemForCaller, TranslatedItem } from '../shared/translated-item.ts'
import type { BlockWriter } from './block-writer.ts'
import { fetchedPage } from './fetch-result.ts'
import { UNSEALED, writeLateSeal, type LateSeal } from './late-seal.ts'
import { foundBy, sealOfCall } from './search-result.ts'

/** Output items while they are written as blocks. */
abstract class BlockItem<I extends OutputItem> extends TranslatedItem<I> {
  readonly blocks: BlockWriter

  constructor(inner: OpenItem, blocks: BlockWriter) {
    super(inner)
    this.blocks = blocks
  }
}

/** Text: a block for each part, including refusals. */
export class TextBlocks extends BlockItem<MessageItem> {
  /** The block of each part, by the index of the part. */
  readonly #indexes: number[] = []

  protected tell(event: ItemEvent): void {
    if ((event.type !== 'text-delta' && event.type !== 'refusal-delta') || event.delta === '') return
    if (event.type === 'refusal-delta') this.blocks.refused = true
    const { content } = this.inner.snapshot('incomplete') as MessageItem
    while (this.#indexes.length < content.length) {
      const before = this.#indexes.at(-1)
      if (before !== undefined) this.#end(before, this.#indexes.length - 1)
      // An empty list where the vendor sends null or nothing: clients that accept only one of those two also accept the list.
      this.#indexes.push(this.blocks.begin({ type: 'text', text: '', citations: [] }))
    }
    this.blocks.text(this.#indexes.at(-1)!, event.delta, event.type === 'text-delta' ? event.plain : false)
  }

  protected ended(): void {
    const last = this.#indexes.at(-1)
    if (last !== undefined) this.#end(last, this.#indexes.length - 1)
  }

  #end(index: number, part: number): void {
    const { content } = this.inner.snapshot('incomplete') as MessageItem
    const contentPart = typeof content === 'string' ? undefined : content[part]
    if (contentPart?.type === 'output_text' && contentPart.annotations?.length) this.blocks.citations(index, contentPart.annotations)
    this.blocks.end(index)
  }
}

/** Reasoning: its text, with a signature that must come back unchanged. Reasoning that nobody may read has a block type of its own. */
export class ThinkingBlock extends BlockItem<ReasoningItem> {
  readonly #shows: boolean
  #index: number | undefined
  #part = ''
  /** The place among the blocks, once this item has let text pass. */
  #place: Omit<LateSeal, 'seal'> | undefined

  constructor(inner: OpenItem, blocks: BlockWriter, shows: boolean) {
    super(inner, blocks)
    this.#shows = shows
  }

  /** Called only for items that let text behind them pass. The block ends, because many readers apply every delta to the last block. */
  pause(): void {
    this.inner.pause?.()
    const where = this.#index === undefined ? 'at' : 'in'
    this.#place ??= { where, at: this.#index ?? this.blocks.count, nth: this.blocks.gaveWay++ }
    if (this.#index !== undefined) this.#close(this.#index, UNSEALED)
    this.#index = undefined
  }

  protected tell(event: ItemEvent): void {
    if (event.type !== 'reasoning-delta' || event.delta === '') return
    const part = `${event.kind} ${event.part ?? ''}`
    const isNew = this.#index !== undefined && part !== this.#part
    this.#part = part
    const index = this.#open()
    if (!this.#shows) return
    if (isNew) this.blocks.thinking(index, '\n\n', false)
    this.blocks.thinking(index, event.delta, event.plain)
  }

  protected ended({ encrypted_content: sealed, signature }: ReasoningItem): void {
    const seal = this.#seal(sealed ?? signature ?? '')
    if (this.#index === undefined) {
      if (seal) this.blocks.whole({ type: 'redacted_thinking', data: seal })
      return
    }
    this.#close(this.#index, seal || UNSEALED)
  }

  #close(index: number, signature: string): void {
    this.blocks.signature(index, signature)
    this.blocks.end(index)
  }

  /** A late seal includes the place it belongs to. */
  #seal(seal: string): string {
    return this.#place === undefined || (seal === '' && this.#index === undefined) ? seal : writeLateSeal({ ...this.#place, seal })
  }

  #open(): number {
    return (this.#index ??= this.blocks.begin({ type: 'thinking', thinking: '', signature: '' }))
  }
}

/** Called by the model itself and not by a program that it wrote. */
const CALLER = { type: 'direct' }

/** A call of the caller's tool. */
export class ToolUseBlock extends BlockItem<FunctionCallItem | CustomToolCallItem> {
  #index = 0
  #sent = 0

  override open(): void {
    super.open()
    const { call_id: id, name } = this.inner.snapshot('incomplete') as FunctionCallItem | CustomToolCallItem
    this.#index = this.blocks.begin({ type: 'tool_use', id, name, input: {}, caller: CALLER })
  }

  protected tell(event: ItemEvent): void {
    if (event.type !== 'arguments-delta') return
    this.#sent += event.delta.length
    this.blocks.json(this.#index, event.delta, event.plain)
  }

  protected ended(item: FunctionCallItem | CustomToolCallItem): void {
    const text = item.type === 'function_call' ? item.arguments : item.input
    if (text.length > this.#sent) this.blocks.json(this.#index, text.slice(this.#sent), false)
    this.blocks.input(this.#index, () => inputOf(text))
    if (item.status === 'incomplete') this.blocks.cut(this.#index)
    else this.blocks.end(this.#index)
  }
}

/** What the gateway or the provider did by itself: searches, pages and pictures are shown, everything else is only counted in the usage. */
export class OtherBlocks extends BlockItem<OtherItem> {
  override open(): void {
    super.open()
    refuseItemForCaller(this.inner)
  }

  protected tell(): void {
    // Progress has no place in this format.
  }

  protected ended(item: OtherItem): void {
    const { type, id, action } = item as OtherItem & { readonly action?: JsonObject }
    const picture = shownPicture(item)
    const use = `srvtoolu_${String(id).replace(/^[a-z]+_/, '')}`
    if (isSearch(type) && action?.['type'] === 'search') {
      this.#used(use, 'web_search', { query: action['query'] ?? '' })
      const later = sealOfCall(item)
      if (later !== undefined) this.blocks.whole({ type: 'redacted_thinking', data: later })
      else this.blocks.whole({ type: 'web_search_tool_result', tool_use_id: use, content: foundBy(item), caller: CALLER })
    } else if (isFetch(type)) {
      this.#used(use, 'web_fetch', { url: item['url'] ?? '' })
      this.blocks.whole({ type: 'web_fetch_tool_result', tool_use_id: use, content: fetchedPage(item), caller: CALLER })
    } else if (picture !== undefined) {
      const source = 'url' in picture ? { type: 'url', ...picture } : { type: 'base64', media_type: picture.mediaType, data: picture.data }
      this.blocks.whole({ type: 'image', source })
    }
  }

  /** Readers assemble the input of a call from its deltas. */
  #used(id: string, name: string, input: JsonObject): void {
    const index = this.blocks.begin({ type: 'server_tool_use', id, name, input: {}, caller: CALLER })
    this.blocks.json(index, JSON.stringify(input), false)
    this.blocks.input(index, () => input)
    this.blocks.end(index)
  }
}

/** Models are supposed to write objects; anything else they write is kept, too. Numbers stay exactly as written. */
function inputOf(text: string): JsonObject {
  if (text === '') return {}
  const input = text.trimStart().startsWith('{') ? parseExact(text) : undefined
  return isJsonObject(input) ? input : { input: text }
}
