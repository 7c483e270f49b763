import type { MessageItem, OutputItem, ReasoningItem } from '../core/item.ts'
import type { Clock } from '../lib/clock.ts'

export interface RecentItemsOptions {
  readonly clock: Clock
  /** How many items are kept, over all workspaces. */
  readonly maxEntries: number
  /** Bound on their estimated memory. */
  readonly maxBytes: number
  /** Milliseconds since an item was answered or last referred to. */
  readonly ttlMs: number
}

interface Entry {
  readonly key: string
  readonly item: OutputItem
  readonly bytes: number
  usedAt: number
  older: Entry | undefined
  newer: Entry | undefined
}

/** An item's objects and its place in the cache, without its texts. */
const ITEM_BYTES = 400
const LOGPROB_BYTES = 300
const ANNOTATION_BYTES = 400

/**
 * The latest output items, so that clients which send an earlier item back as `item_reference` can be understood by a gateway that stores
 * nothing. Held in memory, per workspace, least recently used first out; losing one costs a caller a 400 that says what to send instead.
 */
export class RecentItems {
  readonly #options: RecentItemsOptions
  readonly #entries = new Map<string, Entry>()
  #oldest: Entry | undefined
  #newest: Entry | undefined
  #bytes = 0

  constructor(options: RecentItemsOptions) {
    this.#options = options
  }

  /** Keeps the items of an answer by their ids; nothing is copied. */
  remember(workspaceId: string, items: readonly OutputItem[]): void {
    const now = this.#options.clock.monotonic()
    for (const item of items) {
      if (typeof item.id !== 'string') continue
      const key = keyOf(workspaceId, item.id)
      const known = this.#entries.get(key)
      if (known !== undefined) this.#remove(known)
      const bytes = sizeOf(item)
      if (bytes > this.#options.maxBytes) continue
      const entry: Entry = { key, item, bytes, usedAt: now, older: undefined, newer: undefined }
      this.#entries.set(key, entry)
      this.#bytes += bytes
      this.#append(entry)
    }
    this.#evict(now)
  }

  /** The item with this id that an answer to the same workspace held. Finding it keeps it for longer. */
  find(workspaceId: string, id: string): OutputItem | undefined {
    const entry = this.#entries.get(keyOf(workspaceId, id))
    if (entry === undefined) return undefined
    const now = this.#options.clock.monotonic()
    if (now - entry.usedAt > this.#options.ttlMs) {
      this.#evict(now)
      return undefined
    }
    entry.usedAt = now
    this.#unlink(entry)
    this.#append(entry)
    return entry.item
  }

  stats(): { readonly entries: number; readonly bytes: number } {
    return { entries: this.#entries.size, bytes: this.#bytes }
  }

  /** The list is in order of use, so what has expired is at its old end. */
  #evict(now: number): void {
    const { maxEntries, maxBytes, ttlMs } = this.#options
    while (this.#oldest !== undefined) {
      if (this.#entries.size <= maxEntries && this.#bytes <= maxBytes && now - this.#oldest.usedAt <= ttlMs) return
      this.#remove(this.#oldest)
    }
  }

  #remove(entry: Entry): void {
    this.#entries.delete(entry.key)
    this.#bytes -= entry.bytes
    this.#unlink(entry)
  }

  #append(entry: Entry): void {
    entry.older = this.#newest
    entry.newer = undefined
    if (this.#newest === undefined) this.#oldest = entry
    else this.#newest.newer = entry
    this.#newest = entry
  }

  #unlink(entry: Entry): void {
    if (entry.older === undefined) this.#oldest = entry.newer
    else entry.older.newer = entry.newer
    if (entry.newer === undefined) this.#newest = entry.older
    else entry.newer.older = entry.older
  }
}

function keyOf(workspaceId: string, id: string): string {
  return `${workspaceId}\n${id}`
}

/** Characters of the texts an item holds, and a guess for the rest: walking every answer whole would cost more than keeping it. */
function sizeOf(item: OutputItem): number {
  switch (item.type) {
    case 'message':
      return ITEM_BYTES + contentSize((item as MessageItem).content)
    case 'reasoning': {
      const { summary, content, encrypted_content: encrypted, signature } = item as ReasoningItem
      return ITEM_BYTES + textSize(summary) + textSize(content) + (encrypted?.length ?? 0) + (signature?.length ?? 0)
    }
    case 'function_call':
      return ITEM_BYTES + (item as { readonly arguments: string }).arguments.length
    case 'custom_tool_call':
      return ITEM_BYTES + (item as { readonly input: string }).input.length
    default:
      return ITEM_BYTES + JSON.stringify(item).length
  }
}

function contentSize(content: MessageItem['content']): number {
  if (typeof content === 'string') return content.length
  let bytes = 0
  for (const part of content) {
    if (part.type === 'refusal') bytes += part.refusal.length
    else if (part.type === 'output_text') {
      bytes += part.text.length + (part.logprobs?.length ?? 0) * LOGPROB_BYTES + (part.annotations?.length ?? 0) * ANNOTATION_BYTES
    }
  }
  return bytes
}

function textSize(parts: readonly { readonly text: string }[] | null | undefined): number {
  let bytes = 0
  if (parts != null) for (const { text } of parts) bytes += text.length
  return bytes
}
