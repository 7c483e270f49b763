import type { JsonObject } from '../core/item.ts'
import type { Read } from '../doors/shared/door.ts'

/** The model a caller wrote, before presets; where its format has it elsewhere than in the body, as it was read. The body has passed the validation. */
export function modelNamed(read: Read, sent: unknown): string | undefined {
  const { model, models } = ('body' in read ? read.body : sent) as JsonObject
  const [first] = (models ?? []) as readonly string[]
  return typeof model === 'string' ? model : first
}
