import { describe, expect, it, vi } from 'vitest'
import type { AnswerStore, KeptAnswer, StoredAnswer } from '../core/answer-cache.ts'
import type { Annotation } from '../core/item.ts'
import { keepNative, nativeCitation } from '../core/native-citation.ts'
import { manualClock } from '../testing/deterministic.ts'
import { createAnswerCache } from './answer-cache.ts'
import { createEncryption } from './encryption.ts'

const NOW = 1_800_000_000_000
const answer: KeptAnswer = {
  sourceId: 'gen-1',
  model: 'acme/small',
  endpointId: 'e1',
  strategy: 'direct',
  keptAt: NOW,
  expiresAt: NOW + 1_000,
  events: [{ type: 'text-delta', key: 'm', delta: 'a secret answer' }],
}

function scene(store: Partial<AnswerStore> = {}, size = 1_000_000) {
  const rows = new Map<string, StoredAnswer>()
  const trims: number[] = []
  const troubles: unknown[] = []
  const cache = createAnswerCache({
    store: {
      find: (key) => Promise.resolve(rows.get(key)?.sealed),
      keep: (row) => Promise.resolve(void rows.set(row.key, row)),
      trim: (_now, maxBytes) => Promise.resolve(trims.push(maxBytes)),
      ...store,
    },
    encryption: createEncryption({ current: Buffer.alloc(32, 1) }),
    clock: manualClock(NOW),
    settings: () => ({ enabled: true, size }),
    onTrouble: (error) => troubles.push(error),
  })
  return { cache, rows, trims, troubles }
}

describe('cached answers', () => {
  it('are stored where only the holder of the secret key can read them', async () => {
    const { cache, rows } = scene()
    await cache.keep('k', 'w', answer)
    expect(rows.get('k')).toMatchObject({ workspaceId: 'w', expiresAt: NOW + 1_000 })
    expect(JSON.stringify([...rows])).not.toContain('secret answer')
    expect(await cache.find('k')).toEqual(answer)
  })
  it('keep the vendor’s own form of citations beside the converted ones', async () => {
    const { cache } = scene()
    const cited = (): Annotation => ({ type: 'file_citation', file_id: 'Facts', filename: 'Facts', index: 15 })
    const [plain, native] = [cited(), cited()]
    keepNative(native, 'messages', { type: 'char_location', document_index: 0 })
    const events = [plain, native].map((annotation) => ({ type: 'annotation', key: 'm', annotation }) as const)
    await cache.keep('k', 'w', { ...answer, events: [...answer.events, ...events] })
    const found = await cache.find('k')
    expect(found).toEqual({ ...answer, events: [...answer.events, ...events] })
    const natives = found!.events.map((event) => event.type === 'annotation' && nativeCitation(event.annotation, 'messages'))
    expect(natives).toEqual([false, undefined, { type: 'char_location', document_index: 0 }])
  })
  it('that were moved to another request, changed, or encrypted with another key count as missing', async () => {
    const { cache, rows } = scene()
    await cache.keep('k', 'w', answer)
    rows.set('l', rows.get('k')!)
    rows.set('m', { ...rows.get('k')!, sealed: 'sbe1.x.y.z' })
    expect(await cache.find('l')).toBeUndefined()
    expect(await cache.find('m')).toBeUndefined()
  })
  it('are trimmed to the configured size now and then, and one that is larger is not stored', async () => {
    const { cache, rows, trims } = scene({}, 2_000)
    for (let n = 0; n < 33; n++) await cache.keep(`k${n}`, 'w', answer)
    expect(trims).toEqual([2_000, 2_000])
    await cache.keep('large', 'w', { ...answer, events: [{ type: 'text-delta', key: 'm', delta: 'x'.repeat(2_000) }] })
    expect(rows.has('large')).toBe(false)
  })
})

describe('a store that fails', () => {
  it('is reported once, and models are asked instead', async () => {
    let isAway = true
    const away = { find: () => (isAway ? Promise.reject(new Error('away')) : Promise.resolve(undefined)) }
    const { cache, troubles } = scene(away)
    expect(await cache.find('k')).toBeUndefined()
    expect(await cache.find('k')).toBeUndefined()
    expect(troubles).toEqual([new Error('away')])
    isAway = false
    await cache.find('k')
    expect(troubles).toEqual([new Error('away'), undefined])
  })
  it('is waited for at most half a second, and by a bounded number of answers', async () => {
    vi.useFakeTimers()
    try {
      const kept: string[] = []
      const hangs = {
        find: () => new Promise<never>(() => undefined),
        keep: ({ key }: StoredAnswer) => new Promise<never>(() => void kept.push(key)),
      }
      const { cache } = scene(hangs)
      const found = cache.find('k')
      await vi.advanceTimersByTimeAsync(500)
      expect(await found).toBeUndefined()
      const keeping = Array.from({ length: 100 }, (_, n) => cache.keep(`k${n}`, 'w', answer))
      await vi.advanceTimersByTimeAsync(500)
      await Promise.all(keeping)
      expect(kept).toHaveLength(64)
    } finally {
      vi.useRealTimers()
    }
  })
})
