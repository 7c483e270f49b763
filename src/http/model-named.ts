import type { JsonObject } from '../core/item.ts'
import type { Read } from '../doors/shared/door.ts'

/** The model that the caller wrote, before presets; if its format does not have it in the body, as the door read it. The body is valid. */
export function modelNamed(read: Read, sent: unknown): string | undefined {
  const { model, models } = ('body' in read ? read.body : sent) as JsonObject
  const [first] = (models ?? []) as readonly string[]
  return typeof model === 'string' ? model : first
}
