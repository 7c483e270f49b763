import type { FinishedGeneration } from '../core/generation.ts'
import type { DestinationRecord, NewDelivery, OutboxEntry } from '../core/outbox.ts'
import { compileFilter, type FilterSubject } from './filter-rules.ts'
import { replaceMedia } from './media.ts'
import { isSampled } from './sampling.ts'

/** A destination ready to select. Built once per revision, asked for every generation. */
export interface Selector {
  readonly destination: DestinationRecord
  /**
   * Checks the key allowlist, then filter rules, then sampling: cheap checks first, and those that need the full event. Content that was not kept is
   * absent.
   */
  accepts(finished: FilterSubject): boolean
}

/** Throws if the stored filter rules cannot be compiled; such a destination must be shown as broken, not ignored. */
export function createSelector(destination: DestinationRecord): Selector {
  const keys = destination.apiKeyHashes === null ? undefined : new Set(destination.apiKeyHashes)
  const filter = compileFilter(destination.filterRules)
  const { id, workspaceId, enabled, samplingRate } = destination
  return {
    destination,
    accepts(finished) {
      const { generation } = finished
      return (
        enabled &&
        generation.workspaceId === workspaceId &&
        (keys === undefined || keys.has(generation.keyHash)) &&
        filter(finished) &&
        isSampled(id, samplingRate, generation)
      )
    },
  }
}

/** A finished generation as JSON. */
export interface GenerationTexts {
  readonly record: string
  readonly content: string
}

/** The JSON texts, written here if nobody has yet. */
export const textsOf = ({ generation, content }: FinishedGeneration): GenerationTexts => ({
  record: JSON.stringify(generation),
  content: JSON.stringify(content),
})

/**
 * What is stored for a generation: its record, and deliveries to the destinations that select it. Content is kept only if one of them may see it,
 * without media.
 */
export function toOutboxEntry(finished: FilterSubject, texts: GenerationTexts, selectors: readonly Selector[]): OutboxEntry {
  const deliveries: NewDelivery[] = []
  for (const selector of selectors) {
    if (selector.accepts(finished)) deliveries.push({ destinationId: selector.destination.id, withContent: !selector.destination.privacyMode })
  }
  const content = deliveries.some((delivery) => delivery.withContent) ? withoutMedia(finished, texts) : undefined
  return {
    generation: finished.generation,
    record: texts.record,
    ...(content === undefined ? {} : { content }),
    deliveries,
    bytes: deliveries.length === 0 ? 0 : eventBytes(texts.record, content),
  }
}

/** Usually there are no media, and the text is passed on as it is: searching the text costs twice as much as looking through the value. */
function withoutMedia({ content }: FilterSubject, texts: GenerationTexts): string {
  const clean = replaceMedia(content)
  return clean === content ? texts.content : JSON.stringify(clean)
}

/** Size of an event as canonical JSON. */
export function eventBytes(record: string, content: string | undefined): number {
  return Buffer.byteLength(record) + (content === undefined ? 0 : Buffer.byteLength(content))
}
