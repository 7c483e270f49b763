import { expect, it } from 'vitest'
import type { Encryption } from '../core/account.ts'
import type { StoredPreset, StoredPresetVersion } from '../core/preset.ts'
import type { Store, StoredOwnKey } from '../core/store.ts'
import { systemClock } from '../lib/clock.ts'
import { Secret } from '../lib/secret.ts'
import { createOwnKeyRing } from './own-keys.ts'
import { createPresetSnapshot } from './preset-snapshot.ts'

/** Opens what is not sealed, and counts how many envelopes were opened in the same turn of the event loop. */
function countingEncryption() {
  let inTurn = 0
  const counts = { most: 0, all: 0 }
  const open = (envelope: string): Secret => {
    if (inTurn === 0) setImmediate(() => (inTurn = 0))
    counts.most = Math.max(counts.most, ++inTurn)
    counts.all++
    return new Secret(envelope)
  }
  return { counts, encryption: { keyId: 'k', open } as unknown as Encryption }
}

const version = () => Promise.resolve(1)
const numbers = Array.from({ length: 300 }, (_, n) => n)

it('own keys that are all new are decrypted a few dozen at a time, and calls are served in between', async () => {
  const { counts, encryption } = countingEncryption()
  const row = (n: number) => ({ id: `${n}`, workspaceId: 'w', sealed: `sk-${n}`, allowedModels: null, allowedKeyHashes: null, allowedUserIds: null })
  const ownKeys = { list: () => Promise.resolve(numbers.map(row) as unknown as readonly StoredOwnKey[]) } as Store['ownKeys']
  const ring = createOwnKeyRing({ store: { version, ownKeys, workspaces: {} as never }, encryption, clock: systemClock })
  await ring.start()
  await ring.close()
  expect(ring.of('w')?.map(({ secret }) => secret.reveal())).toEqual(numbers.map((n) => `sk-${n}`))
  expect(counts).toEqual({ all: 300, most: 64 })
})

it('own keys that are known already are gone through a thousand at a time: any change of the configuration brings them again', async () => {
  const { counts, encryption } = countingEncryption()
  const gone = { inTurn: 0, most: 0 }
  const row = (n: number) => ({
    id: `${n}`,
    workspaceId: 'w',
    sealed: 'sk',
    get disabled() {
      if (gone.inTurn === 0) setImmediate(() => (gone.inTurn = 0))
      gone.most = Math.max(gone.most, ++gone.inTurn)
      return false
    },
    allowedModels: null,
    allowedKeyHashes: null,
    allowedUserIds: null,
  })
  const rows = Array.from({ length: 2_500 }, (_, n) => row(n)) as unknown as readonly StoredOwnKey[]
  const database = { version: 1 }
  const store = { version: () => Promise.resolve(database.version), ownKeys: { list: () => Promise.resolve(rows) } as Store['ownKeys'] }
  const ring = createOwnKeyRing({ store: { ...store, workspaces: {} as never }, encryption, clock: systemClock })
  await ring.start()
  await new Promise(setImmediate)
  gone.most = 0
  database.version++
  await ring.refresh()
  await ring.close()
  expect([counts.all, ring.of('w')?.length, gone.most]).toEqual([2_500, 2_500, 1_000])
})

it.each([
  ['small', 20, 64],
  ['large', 256 * 1024, 2],
])('%s presets that are all new are decrypted a few at a time', async (_, chars, most) => {
  const { counts, encryption } = countingEncryption()
  const sealed = JSON.stringify({ systemPrompt: 'p'.repeat(chars), config: {} })
  const one = (n: number) => ({
    preset: { id: `${n}`, workspaceId: 'w', slug: `s${n}` } as StoredPreset,
    version: { id: `v${n}`, sealed } as StoredPresetVersion,
  })
  const snapshot = createPresetSnapshot({
    store: { version, presets: { designated: () => Promise.resolve(numbers.map(one)) } },
    encryption,
    clock: systemClock,
  })
  await snapshot.start()
  await snapshot.close()
  expect(snapshot.find('w', 's299')).toMatchObject({ id: '299' })
  expect(counts).toEqual({ all: 300, most })
})
