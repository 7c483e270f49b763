import type { FinishedGeneration, Generation, GenerationContent } from '../core/generation.ts'
import type { DestinationRecord, OutboxEntry } from '../core/outbox.ts'
import type { Packing } from '../core/store.ts'
import { replaceMedia } from './media.ts'
import { createSelector, toOutboxEntry, type Selector } from './select.ts'
import { errorLine } from '../lib/error-line.ts'

/**
 * One finished generation as it is handed over, as JSON text: it crosses to the other thread for the price of copying bytes, and usually reaches the
 * database unchanged. The keys are short because they are written for each.
 */
export interface PackedGeneration {
  readonly g: string
  /** The content; absent if neither a destination nor the workspace wants it. */
  readonly c?: string
  /** The workspace keeps the content with the record. */
  readonly k?: 1
}

/** Memory of a queue entry besides its texts: objects, lengths, the key of a map. */
const ENTRY_BYTES = 400

export interface HandOverOptions {
  readonly keepsContent: (generation: Generation) => boolean
  /** A generation without values that are too large, or nested too deep, to be written. */
  readonly withoutOversize: (generation: Generation) => Generation
}

/** How records wait for the thread that writes them. What cannot be written as JSON is left out; the record itself is not lost. */
export function createHandOver({ keepsContent, withoutOversize }: HandOverOptions): Packing<PackedGeneration> {
  const write = (generation: Generation): string => {
    try {
      return JSON.stringify(generation)
    } catch {
      return JSON.stringify(withoutOversize(generation))
    }
  }
  const writeContent = (content: GenerationContent): string | undefined => {
    try {
      return JSON.stringify(content)
    } catch {
      return undefined
    }
  }
  return {
    pack({ generation, content }) {
      const g = write(generation)
      const c = content === undefined ? undefined : writeContent(content)
      if (c === undefined) return { g }
      return keepsContent(generation) ? { g, c, k: 1 } : { g, c }
    },
    bytes: ({ g, c }) => ENTRY_BYTES + g.length + (c?.length ?? 0),
    unpack: ({ g }) => JSON.parse(g) as Generation,
    withoutContent: ({ g, c }) => (c === undefined ? undefined : { g }),
  }
}

/** Enabled destinations, ready to select. One whose rules cannot be used is reported and skipped; the others work. */
export function selectorsByWorkspace(
  destinations: ReadonlyMap<string, DestinationRecord>,
  onUnusable: (destinationId: string, message: string) => void,
): ReadonlyMap<string, readonly Selector[]> {
  const grouped = new Map<string, Selector[]>()
  for (const destination of destinations.values()) {
    if (!destination.enabled) continue
    try {
      const group = grouped.get(destination.workspaceId)
      const selector = createSelector(destination)
      if (group === undefined) grouped.set(destination.workspaceId, [selector])
      else group.push(selector)
    } catch (error) {
      onUnusable(destination.id, errorLine(error))
    }
  }
  return grouped
}

/** Whether a destination sends content, or selects by it. */
export function needsContent({ destination }: Selector): boolean {
  const { privacyMode, filterRules } = destination
  return !privacyMode || (filterRules?.groups.some(({ rules }) => rules.some(({ field }) => field === 'input' || field === 'output')) ?? false)
}

const NOTHING_SAID: GenerationContent = { input: [], output: [] }
const NOTHING_WRITTEN = JSON.stringify(NOTHING_SAID)

/** Content is parsed only if somebody looks at it: a content filter, the replacement of media, or a workspace that keeps it. */
class Arrived implements FinishedGeneration {
  readonly generation: Generation
  readonly #text: string
  #content: GenerationContent | undefined

  constructor({ g, c = NOTHING_WRITTEN }: PackedGeneration) {
    this.generation = JSON.parse(g) as Generation
    this.#text = c
  }

  get content(): GenerationContent {
    return (this.#content ??= JSON.parse(this.#text) as GenerationContent)
  }
}

/** What the outbox records for it, with the destinations of its workspace that select it. */
export function toEntry(handed: PackedGeneration, selectorsOf: (workspaceId: string) => readonly Selector[]): OutboxEntry {
  const { g: record, c: content, k: keep } = handed
  const finished = new Arrived(handed)
  const { generation } = finished
  const kept = keep === 1 && content !== undefined ? { keptContent: replaceMedia(finished.content) } : {}
  const selectors = selectorsOf(generation.workspaceId)
  if (selectors.length === 0) return { generation, record, deliveries: [], bytes: 0, ...kept }
  if (content !== undefined) return { ...toOutboxEntry(finished, { record, content }, selectors), ...kept }
  // It was dropped for lack of room, or the call ended before any destination wanted content: they get the record alone, if they select it without.
  const { deliveries, bytes } = toOutboxEntry({ generation }, { record, content: NOTHING_WRITTEN }, selectors)
  return { generation, record, deliveries: deliveries.map(({ destinationId }) => ({ destinationId, withContent: false })), bytes }
}
