import type { ModelEvent } from './event.ts'
import type { Annotation, JsonObject } from './item.ts'

/**
 * Citations in the words of the model's vendor, by the annotations made of them: these say less (no pages, no places in a document), and stand in
 * answers whose shape is fixed. A front door of the vendor's own format tells the words themselves.
 */
const natives = new WeakMap<Annotation, Native>()

type Format = 'messages'

interface Native {
  readonly format: Format
  readonly citation: JsonObject
}

/** The words beside an event, by its place among the events of an answer. */
export type NativeAt = readonly [place: number, native: Native]

export function keepNative(annotation: Annotation, format: Format, citation: JsonObject): void {
  natives.set(annotation, { format, citation })
}

export function nativeCitation(annotation: Annotation, format: Format): JsonObject | undefined {
  const native = natives.get(annotation)
  return native?.format === format ? native.citation : undefined
}

/** Gives `copy` what is attached to the original, for annotations that are changed. */
export function carryNative(original: Annotation, copy: Annotation): Annotation {
  const native = natives.get(original)
  if (native !== undefined) natives.set(copy, native)
  return copy
}

/** All that stands beside the events of an answer, to be written down with them: of the events alone it would be lost. */
export function nativesBeside(events: readonly ModelEvent[]): readonly NativeAt[] {
  return events.flatMap((event, place): NativeAt[] => {
    const native = event.type === 'annotation' ? natives.get(event.annotation) : undefined
    return native === undefined ? [] : [[place, native]]
  })
}

/** Puts it beside the same events when they were read again. */
export function putBeside(events: readonly ModelEvent[], found: readonly NativeAt[]): void {
  for (const [place, native] of found) {
    const event = events[place]
    if (event?.type === 'annotation') natives.set(event.annotation, native)
  }
}
