import type { ModelEvent } from './event.ts'
import type { Annotation, JsonObject } from './item.ts'

/**
 * Citations in the form of the model's vendor, by the annotations derived from them. Annotations say less (no pages, no places in a document) and are
 * in answers whose format is fixed, so the original form cannot be a part of them. A front door of the vendor's own format returns the original form.
 */
const natives = new WeakMap<Annotation, Native>()

type Format = 'messages'

interface Native {
  readonly format: Format
  readonly citation: JsonObject
}

/** The original form of a citation, with the position of its event among the events of an answer. */
export type NativeAt = readonly [place: number, native: Native]

export function keepNative(annotation: Annotation, format: Format, citation: JsonObject): void {
  natives.set(annotation, { format, citation })
}

export function nativeCitation(annotation: Annotation, format: Format): JsonObject | undefined {
  const native = natives.get(annotation)
  return native?.format === format ? native.citation : undefined
}

/** Copies the original form to a changed annotation. */
export function carryNative(original: Annotation, copy: Annotation): Annotation {
  const native = natives.get(original)
  if (native !== undefined) natives.set(copy, native)
  return copy
}

/** Everything attached to the events of an answer, to be stored with them, because serialised events lose it. */
export function nativesBeside(events: readonly ModelEvent[]): readonly NativeAt[] {
  return events.flatMap((event, place): NativeAt[] => {
    const native = event.type === 'annotation' ? natives.get(event.annotation) : undefined
    return native === undefined ? [] : [[place, native]]
  })
}

/** Attaches it to the same events after they were read back. */
export function putBeside(events: readonly ModelEvent[], found: readonly NativeAt[]): void {
  for (const [place, native] of found) {
    const event = events[place]
    if (event?.type === 'annotation') natives.set(event.annotation, native)
  }
}
