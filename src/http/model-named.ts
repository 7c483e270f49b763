import type { Read } from '../doors/shared/door.ts'

/** The model that the caller wrote, before presets, wherever the door has it from. The body is valid. */
export function modelNamed(read: Read): string | undefined {
  const { model, models } = ('body' in read ? read.body : read.request) as {
    readonly model?: string | null
    readonly models?: readonly string[] | null
  }
  return model ?? models?.[0]
}
