import type { CacheMarked, InputItem, InputPart, InputText, JsonObject, ReasoningItem, ToolOutput } from '../../core/item.ts'
import { wellFormedJson } from '../../lib/json.ts'
import { markOf } from '../shared/cache-mark.ts'
import { pictureAt } from '../shared/shown-picture.ts'
import type { Block, Message } from './block.ts'
import { pageThatCameBack } from './fetch-result.ts'
import { signatureOf, withSealsInPlace } from './seals-in-place.ts'
import { IS_PASSED_OVER } from './schema-blocks.ts'
import { sealOfSearch } from './search-result.ts'

/**
 * The gateway's own envelopes around the data that must come back with reasoning: core/reasoning-envelope.ts. Anything else in their place comes from a
 * vendor.
 */
const SEALED = /^sb1\./

/** The conversation as items, in the order of its blocks. `exactInput`: the input of a call, with its numbers as they were sent. */
export function toItems(messages: readonly Message[], exactInput: (block: Block) => unknown = inputOf): readonly InputItem[] {
  return messages.flatMap(({ role, content }) => {
    if (typeof content === 'string') return content === '' && role === 'assistant' ? [] : [{ type: 'message', role, content }]
    return new BlockReader(role, exactInput).read(content)
  })
}

const inputOf = (block: Block): unknown => block['input']

/** Matches numbers that a double may have rounded: integers of sixteen or more digits. */
const ROUNDED = /\d{16}|\de\+\d/

/** Consecutive blocks between two that are items of their own form one message. */
class BlockReader {
  readonly #role: Message['role']
  readonly #exactInput: (block: Block) => unknown
  readonly #items: InputItem[] = []
  #parts: InputPart[] = []
  readonly #searches = new Map<string, unknown>()

  constructor(role: Message['role'], exactInput: (block: Block) => unknown) {
    this.#role = role
    this.#exactInput = exactInput
  }

  read(sent: readonly Block[]): readonly InputItem[] {
    for (const block of withSealsInPlace(sent)) this.#block(block)
    this.#message()
    return this.#items
  }

  #message(): void {
    if (this.#parts.length > 0) this.#items.push({ type: 'message', role: this.#role, content: this.#parts })
    this.#parts = []
  }

  #item(item: InputItem): void {
    this.#message()
    this.#items.push(item)
  }

  #block(block: Block): void {
    switch (block.type) {
      case 'tool_use':
        return this.#item({
          type: 'function_call',
          call_id: block['id'] as string,
          name: block['name'] as string,
          arguments: this.#arguments(block),
          ...markOf(block),
        })
      case 'tool_result':
        return this.#item({
          type: 'function_call_output',
          call_id: block['tool_use_id'] as string,
          output: outputOf(block),
          ...(block['is_error'] === true ? { failed: true } : {}),
        })
      case 'thinking':
      case 'redacted_thinking':
        return this.#thought(block)
      case 'server_tool_use':
        return void this.#searches.set(block['id'] as string, (block['input'] as { readonly query?: unknown } | null | undefined)?.query)
      case 'web_search_tool_result':
        return this.#search(block)
      case 'web_fetch_tool_result':
        return this.#page(block)
      case 'image':
        if (this.#role === 'assistant') return this.#picture(block['source'] as Block)
    }
    if (!IS_PASSED_OVER.has(block.type)) for (const part of partsOf(block, this.#role)) this.#parts.push(part)
  }

  #arguments(block: Block): string {
    const text = JSON.stringify(inputOf(block) ?? {})
    return ROUNDED.test(text) ? wellFormedJson(JSON.stringify(this.#exactInput(block) ?? {})) : text
  }

  /** A picture of an earlier answer, as the tool that made it returned it. */
  #picture(source: Block): void {
    const { media_type: media, data } = source
    const shown = source.type === 'url' ? pictureAt(source['url']) : undefined
    if (shown !== undefined) this.#item(shown)
    else if (source.type !== 'base64') this.#parts.push({ type: 'input_image', ...imageOf(source), detail: 'auto' })
    else this.#item({ type: 'image_generation_call', status: 'completed', result: data, output_format: String(media).replace('image/', '') })
  }

  /** Without text and without a seal, nothing is left of a thought. */
  #thought(block: Block): void {
    const item = thoughtOf(block)
    if (item.content !== undefined || item.encrypted_content !== undefined || item.signature !== undefined) this.#item(item)
  }

  #page({ content }: Block): void {
    const item = pageThatCameBack(content)
    if (item !== undefined) this.#item(item)
  }

  /**
   * A search and its results, as the gateway's own tool leaves them: the model reads them under that name, whether or not it may search again. The results
   * of a vendor's search go back to it unchanged.
   */
  #search({ tool_use_id: id, content }: Block): void {
    const query = this.#searches.get(id as string)
    const failed = !Array.isArray(content)
    const found = failed ? [] : (content as readonly JsonObject[])
    const sources = found.flatMap(({ url }) => (typeof url === 'string' ? [{ type: 'url', url }] : []))
    const action = { type: 'search', query: typeof query === 'string' ? query : '', sources }
    this.#item({ type: 'gateway:web_search', status: failed ? 'failed' : 'completed', action, ...sealOfSearch(found) })
  }
}

function thoughtOf(block: Block): ReasoningItem {
  const { type, thinking, data } = block
  if (type === 'redacted_thinking') return { type: 'reasoning', summary: [], ...(data === '' ? {} : { encrypted_content: data as string }) }
  const text = thinking as string
  const seal = signatureOf(block)
  return {
    type: 'reasoning',
    summary: [],
    ...(text === '' ? {} : { content: [{ type: 'reasoning_text', text }] }),
    ...(seal === undefined ? {} : SEALED.test(seal) ? { encrypted_content: seal } : { signature: seal }),
  }
}

/** Not every format can mark results as failed, so the text says it. */
function outputOf(block: Block): ToolOutput {
  const { content, is_error: failed } = block
  const parts =
    typeof content === 'string' ? [textPart(content, {})] : ((content ?? []) as readonly Block[]).flatMap((inner) => partsOf(inner, 'user'))
  const marked = markLast(failed === true ? [textPart('Error:', {}), ...parts] : parts, markOf(block))
  const [only] = marked
  if (only === undefined) return ''
  const isPlain = marked.length === 1 && only.type === 'input_text' && only.prompt_cache_breakpoint == null && only.cited === undefined
  return isPlain ? only.text : (marked as Exclude<ToolOutput, string>)
}

/** A cache mark on the whole becomes a mark on its last part. */
function markLast(parts: readonly InputPart[], mark: CacheMarked): readonly InputPart[] {
  return parts.map((part, index) => (index === parts.length - 1 ? { ...part, ...mark } : part))
}

const textPart = (text: string, mark: CacheMarked): InputText => ({ type: 'input_text', text, ...mark })

/** Text of third parties: the model reads it, but plugins must not take it for the user's question. */
const quotedPart = (text: string, mark: CacheMarked): InputText => ({ ...textPart(text, mark), quoted: true })
const asQuoted = (part: InputPart): InputPart => (part.type === 'input_text' ? { ...part, quoted: true } : part)

/** The content of a block as parts. */
function partsOf(block: Block, role: Message['role']): readonly InputPart[] {
  switch (block.type) {
    case 'text':
      return role === 'assistant'
        ? [{ type: 'output_text', text: block['text'] as string, ...markOf(block) }]
        : [textPart(block['text'] as string, markOf(block))]
    case 'image':
      return [{ type: 'input_image', ...imageOf(block['source'] as Block), detail: 'auto', ...markOf(block) }]
    case 'document':
      return documentOf(block)
    case 'compaction':
      // The summary that the vendor of the format made of an earlier conversation.
      return block['content'] ? partsOf({ ...block, type: 'text', text: block['content'] }, role) : []
    case 'search_result':
      return [searchResultOf(block)]
    default:
      return [textPart(`[${String(block['tool_name'])}]`, {})]
  }
}

function imageOf(source: Block): { readonly image_url?: string; readonly file_id?: string } {
  if (source.type === 'file') return { file_id: source['file_id'] as string }
  return { image_url: source.type === 'url' ? (source['url'] as string) : `data:${String(source['media_type'])};base64,${String(source['data'])}` }
}

interface Citing {
  readonly citations?: { readonly enabled?: boolean | null } | null
}

const isCited = (block: object): boolean => (block as Citing).citations?.enabled === true

/** Without line breaks, because they separate the lines above a text from the text. */
const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim()

/** A page found by a search of the caller's own. */
function searchResultOf(block: Block): InputText {
  const { title, source, content } = block as unknown as { readonly title: string; readonly source: string; readonly content: readonly Block[] }
  const texts = content.map(({ text }) => text as string)
  if (!isCited(block)) return quotedPart([title, source, ...texts].join('\n'), markOf(block))
  const cited = { titled: true, sourced: true, blocks: texts.map(({ length }) => length) }
  return { ...quotedPart([oneLine(title), oneLine(source), ...texts].join('\n'), markOf(block)), cited }
}

/** The texts of a document that contains nothing else. */
function textsOfSource({ type, data, content }: Block): readonly string[] | undefined {
  if (type === 'text') return [data as string]
  if (type !== 'content') return undefined
  if (typeof content === 'string') return [content]
  const blocks = content as readonly Block[]
  return blocks.every((block) => block.type === 'text') ? blocks.map(({ text }) => text as string) : undefined
}

interface DocumentBlock {
  readonly source: Block
  readonly title?: string | null
  readonly context?: string | null
}

function documentOf(block: Block): readonly InputPart[] {
  const { source, title, context } = block as unknown as DocumentBlock
  const cites = isCited(block)
  const mark = markOf(block)
  const file = { ...(title ? { filename: title } : {}), ...mark, ...(cites ? { cited: {} } : {}) }
  const before = context ? [textPart(context, {})] : []
  const texts = cites || source.type === 'text' ? textsOfSource(source) : undefined
  if (texts !== undefined) {
    const heading = cites && title ? oneLine(title) : title
    const quoted = quotedPart([heading, ...texts].filter((text) => text != null && text !== '').join('\n'), mark)
    if (!cites) return [...before, quoted]
    const blocks = Array.isArray(source['content']) ? { blocks: texts.map(({ length }) => length) } : {}
    return [...before, { ...quoted, cited: { titled: Boolean(heading), ...blocks } }]
  }
  switch (source.type) {
    case 'content': {
      const { content } = source as unknown as { readonly content: string | readonly Block[] }
      const parts = typeof content === 'string' ? [quotedPart(content, {})] : content.flatMap((part) => partsOf(part, 'user')).map(asQuoted)
      const heading = title && parts.length > 0 ? [quotedPart(title, {})] : []
      return [...before, ...heading, ...markLast(parts, mark)]
    }
    case 'url':
      return [...before, { type: 'input_file', file_url: source['url'] as string, ...file }]
    case 'file':
      return [...before, { type: 'input_file', file_id: source['file_id'] as string, ...file }]
    default:
      return [...before, { type: 'input_file', file_data: `data:${String(source['media_type'])};base64,${String(source['data'])}`, ...file }]
  }
}

/**
 * What an agent of this format tells its vendor about a call, at the beginning of the prompt. It is not part of the prompt: clouds that serve the same
 * models refuse it, and everywhere else a prompt that begins differently in every call can never be read from a cache.
 */
const ABOUT_THE_CALL = /^x-anthropic-billing-header:[^\r\n]*\s*/

/** The system prompt: as one text, or as a message whose parts keep their cache marks. */
export function systemOf(system: unknown): { readonly instructions?: string; readonly items: readonly InputItem[] } {
  if (system == null) return { items: [] }
  if (typeof system === 'string') {
    const instructions = system.replace(ABOUT_THE_CALL, '')
    return { ...(instructions === '' ? {} : { instructions }), items: [] }
  }
  const content = (system as readonly Block[]).flatMap((block) => {
    const text = block['text'] as string
    const words = text.replace(ABOUT_THE_CALL, '')
    return words === '' && text !== '' ? [] : [textPart(words, markOf(block))]
  })
  return { items: content.length === 0 ? [] : [{ type: 'message', role: 'system', content }] }
}
