import type { Annotation, JsonObject } from './item.ts'

/**
 * Citations in the words of the model's vendor, by the annotations made of them: these say less (no pages, no places in a document), and stand in
 * answers whose shape is fixed. A front door of the vendor's own format tells the words themselves.
 */
const natives = new WeakMap<Annotation, Native>()

type Format = 'messages'

export interface Native {
  readonly format: Format
  readonly citation: JsonObject
}

export function keepNative(annotation: Annotation, format: Format, citation: JsonObject): void {
  natives.set(annotation, { format, citation })
}

/** The words with their format, for those who keep an annotation as JSON, which they are no part of. */
export const nativeOf = (annotation: Annotation): Native | undefined => natives.get(annotation)

export function nativeCitation(annotation: Annotation, format: Format): JsonObject | undefined {
  const native = natives.get(annotation)
  return native?.format === format ? native.citation : undefined
}
