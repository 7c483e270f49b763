import type { DeliveryRecord } from '../core/delivery.ts'
import type { GenerationContent } from '../core/generation.ts'

/** Shorter beginnings of texts are useless: the oldest items are then left out, and last all content, which leaves the record of the call. */
const MIN_CHARS = 100
/** Of each text in the items that are kept when others are left out. */
const MAX_ITEM_CHARS = 1_024
/** The texts the caller chose keep at least this. */
const MIN_METADATA_CHARS = 1_024
const MIN_PARAMETER_CHARS = 256
/** Names, tags and the like: callers who put a whole prompt there can still find it by its beginning. */
const MIN_LABEL_CHARS = 256
/**
 * For all of the caller's own keys together, and for all parameters, once nothing else is left to cut: among thousands of short values there is no text
 * worth cutting.
 */
const MAX_ENTRIES_CHARS = 16_384

/**
 * Makes a record smaller that is too large for its destination. `step` counts from 1, and each step leaves half the text of the one before. The
 * longest texts are cut first, so that something is left of every message of a long conversation; of thousands of short ones the newest are kept.
 * Undefined if there is nothing left to cut.
 */
export function shrinkRecord(record: DeliveryRecord, step: number): DeliveryRecord | undefined {
  const least = record.content === undefined ? MIN_METADATA_CHARS : MIN_CHARS
  const labels = labelsOf(record)
  const lengths = textLengths([record.content, record.children, record.generation.parameters, record.metadata, labels]).sort((a, b) => a - b)
  const words = lengths.reduce((sum, length) => sum + length, 0)
  const { content, ...rest } = record
  const at = (halvings: number): { readonly chars: number; readonly newest: GenerationContent | undefined } => {
    const limit = commonLimit(lengths, words / 2 ** halvings)
    return limit < least ? { chars: 0, newest: content && newestOf(content, words / 2 ** halvings) } : { chars: limit, newest: undefined }
  }
  const before = step > 1 ? at(step - 1) : undefined
  if (before?.chars === 0 && before.newest === undefined) return undefined
  const { chars, newest } = at(step)
  const metadata = cutAll(record.metadata, Math.max(chars, MIN_METADATA_CHARS))
  const parameters = cutAll(record.generation.parameters, Math.max(chars, MIN_PARAMETER_CHARS))
  return {
    ...rest,
    ...cutAll(labels, Math.max(chars, MIN_LABEL_CHARS)),
    ...(chars > 0 && content !== undefined ? { content: cutAll(content, chars) } : {}),
    ...(newest === undefined ? {} : { content: newest }),
    generation: { ...record.generation, parameters: chars > 0 ? parameters : fitEntries(parameters, MAX_ENTRIES_CHARS) },
    metadata: chars > 0 ? metadata : fitEntries(metadata, MAX_ENTRIES_CHARS),
    gateway: { ...record.gateway, content_truncated: true },
    children: record.children.map(({ input, output, ...child }) => ({
      ...child,
      ...(chars > 0 && input !== undefined ? { input: cut(input, chars) } : {}),
      ...(chars > 0 && output !== undefined ? { output: cut(output, chars) } : {}),
    })),
    truncated: true,
  }
}

/**
 * The answer, the beginning of the instructions, and as many of the newest items of the input as fit with them into `budget` characters. Undefined if
 * not even the newest one does.
 */
function newestOf({ instructions, input, output }: GenerationContent, budget: number): GenerationContent | undefined {
  const kept = { ...(instructions === undefined ? {} : { instructions: cut(instructions, MAX_ITEM_CHARS) }), output: cutAll(output, MAX_ITEM_CHARS) }
  let left = budget - charsOf(kept)
  let from = input.length
  for (; from > 0; from--) {
    left -= charsOf(cutAll(input[from - 1], MAX_ITEM_CHARS))
    if (left < 0) break
  }
  return from === input.length ? undefined : { ...kept, input: input.slice(from).map((item) => cutAll(item, MAX_ITEM_CHARS)) }
}

const charsOf = (value: unknown): number => textLengths(value).reduce((sum, length) => sum + length, 0)

type Labels = Pick<DeliveryRecord, 'names' | 'tags' | 'environment' | 'release'>

/** The caller's names. Ids stay complete, because repeats and parents are recognized by them. */
const labelsOf = ({ names, tags, environment, release }: DeliveryRecord): Labels => ({
  names,
  tags,
  ...(environment === undefined ? {} : { environment }),
  ...(release === undefined ? {} : { release }),
})

/** The entries, in order, that fit into `chars` together; a large one is skipped in favour of the others. */
function fitEntries(entries: DeliveryRecord['metadata'], chars: number): DeliveryRecord['metadata'] {
  let left = chars
  const fitting = Object.entries(entries).filter(([key, value]) => {
    const size = key.length + JSON.stringify(value).length
    if (size > left) return false
    left -= size
    return true
  })
  return Object.fromEntries(fitting)
}

function textLengths(value: unknown, into: number[] = []): number[] {
  if (typeof value === 'string') into.push(value.length)
  else if (typeof value === 'object' && value !== null) for (const element of Object.values(value)) textLengths(element, into)
  return into
}

/** Characters that each text may keep so that all together have at most `budget`; what a short text leaves is shared by the others. Shortest first. */
function commonLimit(lengths: readonly number[], budget: number): number {
  let left = budget
  for (const [i, length] of lengths.entries()) {
    const share = left / (lengths.length - i)
    if (length > share) return Math.floor(share)
    left -= length
  }
  return 0
}

function cut(text: string, chars: number): string {
  if (text.length <= chars) return text
  const last = text.charCodeAt(chars - 1)
  const end = last >= 0xd800 && last <= 0xdbff ? chars - 1 : chars
  return `${text.slice(0, end)} [truncated from ${text.length} characters]`
}

function cutAll<T>(value: T, chars: number): T {
  if (typeof value === 'string') return cut(value, chars) as T
  if (Array.isArray(value)) return value.map((element: unknown) => cutAll(element, chars)) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, element]) => [key, cutAll<unknown>(element, chars)])) as T
}
