import type { Annotation, JsonObject } from './item.ts'

/**
 * Citations in the words of the model's vendor, by the annotations made of them: these say less (no pages, no places in a document), and stand in
 * answers whose shape is fixed. A front door of the vendor's own format tells the words themselves.
 */
const natives = new WeakMap<Annotation, { readonly format: Format; readonly citation: JsonObject }>()

type Format = 'messages'

export function keepNative(annotation: Annotation, format: Format, citation: JsonObject): void {
  natives.set(annotation, { format, citation })
}

export function nativeCitation(annotation: Annotation, format: Format): JsonObject | undefined {
  const native = natives.get(annotation)
  return native?.format === format ? native.citation : undefined
}
