import { hash } from 'node:crypto'
import type { Encryption } from '../core/account.ts'
import { GatewayError } from '../core/error.ts'
import type { Preset, Presets, StoredPreset, StoredPresetVersion } from '../core/preset.ts'
import type { Store } from '../core/store.ts'
import type { Clock } from '../lib/clock.ts'
import { betweenEnvelopes } from './decrypt-in-steps.ts'
import type { LastKnownGood } from './known-file.ts'
import type { KnownPresets } from './last-known-good.ts'
import { openVersion } from './preset-content.ts'
import { createRememberedCopy, UNKNOWN_RETRY_MS, type CopyStart } from './remembered-copy.ts'

/** The length of the part of an envelope that identifies its key. */
const KEY_CHARS = 80

export interface PresetSnapshotOptions {
  readonly store: { readonly version: Store['version']; readonly presets: Pick<Store['presets'], 'designated'> }
  readonly encryption: Encryption
  readonly clock: Clock
  /** Reports a preset that cannot be decrypted; it is left out, and the others stay in use. */
  readonly onUnreadable?: (id: string, error: unknown) => void
  /** For a start without the database: requests that name a preset are served as before. */
  readonly lastKnownGood?: LastKnownGood<KnownPresets>
  readonly pollMs?: number
}

/** Presets in memory, for the hot path. They follow the database like the API keys do, and stay in force when it is unavailable. */
export interface PresetSnapshot extends Presets {
  /** Reads the store and then follows it. Rejects if it cannot be read, but continues to follow it. */
  start(start?: CopyStart): Promise<void>
  refresh(): Promise<void>
  close(): Promise<void>
}

export function createPresetSnapshot(options: PresetSnapshotOptions): PresetSnapshot {
  const { store, encryption, onUnreadable = () => undefined } = options
  let bySlug = new Map<string, Preset>()
  /** By version, so that a version that is still designated is not decrypted again. */
  let opened = new Map<string, Preset>()

  async function install({ presets }: KnownPresets): Promise<() => void> {
    const pause = betweenEnvelopes()
    const next = new Map<string, Preset>()
    const nextOpened = new Map<string, Preset>()
    for (const { preset, version: designated } of presets) {
      let readable = opened.get(designated.id)
      if (readable === undefined) {
        await pause(designated.sealed)
        readable = read(preset, designated)
      }
      if (readable === undefined) continue
      nextOpened.set(designated.id, readable)
      next.set(keyOf(preset.workspaceId, preset.slug), readable)
    }
    return () => {
      bySlug = next
      opened = nextOpened
    }
  }

  function read(preset: StoredPreset, designated: StoredPresetVersion): Preset | undefined {
    try {
      const { systemPrompt, config } = openVersion(encryption, designated)
      return { id: preset.id, slug: preset.slug, systemPrompt, config }
    } catch (error) {
      onUnreadable(preset.id, error)
      return undefined
    }
  }

  const copy = createRememberedCopy<KnownPresets>({
    version: () => store.version(),
    load: async () => ({ presets: await store.presets.designated() }),
    install,
    lastKnownGood: options.lastKnownGood,
    fingerprint: ({ presets }) =>
      hash(
        'sha256',
        // The same content has another ciphertext under another secret key.
        presets.map(({ preset, version }) => `${preset.id} ${preset.updatedAt} ${version.id} ${version.sealed.slice(0, KEY_CHARS)}`).join('\n'),
      ),
    clock: options.clock,
    pollMs: options.pollMs,
  })
  return {
    find(workspaceId, slug) {
      const preset = bySlug.get(keyOf(workspaceId, slug))
      // The file may lack presets that were made since it was written.
      if (preset === undefined && !copy.current) throw unknownYet()
      return preset
    },
    start: (start) => copy.start(start),
    refresh: () => copy.refresh(),
    close: () => copy.close(),
  }
}

// Neither slugs nor workspace ids contain spaces.
const keyOf = (workspaceId: string, slug: string): string => `${workspaceId} ${slug}`

const unknownYet = (): GatewayError =>
  new GatewayError('provider_overloaded', 'The presets cannot be read at the moment; try again', {
    retryAfterMs: UNKNOWN_RETRY_MS,
    failover: 'never',
  })
