import type { Destination } from '../core/destination.ts'
import type { DestinationRecord } from '../core/outbox.ts'

export type StoredSettings = { readonly type: Destination; readonly settings: unknown } | { readonly problem: string }

/** A stored configuration as its type reads it. This version may refuse what an older one accepted: the owner is told which setting, never its value. */
export function readSettings(type: Destination | undefined, { type: name, config }: Pick<DestinationRecord, 'type' | 'config'>): StoredSettings {
  if (type === undefined) return { problem: `destination type ${name} is not known` }
  const parsed = type.settings.safeParse(config)
  if (parsed.success) return { type, settings: parsed.data }
  const names = parsed.error.issues.map((issue) => issue.path.join('.'))
  return { problem: `the stored settings are not valid any more: ${[...new Set(names)].join(', ').slice(0, 300)}` }
}
