import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createEncryption } from '../accounts/encryption.ts'
import { rotateSecrets } from '../accounts/rotate-secrets.ts'
import type { Store } from '../core/store.ts'
import type { DurableOutbox } from '../core/outbox.ts'
import { describeOnBothEngines, type OpenedStore } from '../testing/both-engines.ts'
import { sampleContent, sampleDestination, sampleEntry } from '../testing/sample-records.ts'
import { createStore } from './index.ts'

const OLD = Buffer.alloc(32, 7)
const NEW = Buffer.alloc(32, 8)
const DAY = 86_400_000

await describeOnBothEngines('an outbox that cannot read its own content', createStore, (name, open) => {
  let opened: OpenedStore
  let store: Store
  let problems: string[]
  beforeEach(async () => {
    opened = await open()
    store = opened.store
    problems = []
    await store.migrate()
    await store.workspaces.default()
    await store.destinations.insert(sampleDestination('d1'), 5)
  })
  afterEach(() => opened.dispose())
  const withKey = (current: Buffer): DurableOutbox => store.outbox(createEncryption({ current }), (message) => void problems.push(message))
  const lease = (outbox: DurableOutbox, now = Date.now()) =>
    outbox.lease('d1', { owner: 'o', records: 1_000, bytes: 100_000_000, leaseMs: 60_000, now })
  const seen = async (outbox: DurableOutbox, now?: number) =>
    (await lease(outbox, now)).map(({ generation, content }) => [generation.id, content !== undefined])
  const spent = async () => (await store.spend.activity({ from: 0, to: Date.now() + DAY })).reduce((sum, { usd }) => sum + usd, 0)

  describe(`${name}: a process that continues after the secret key was rotated`, () => {
    beforeEach(async () => {
      await rotateSecrets(store, OLD, NEW)
    })

    it('records every call and its cost, and enters its event without content, which it counts and reports', async () => {
      const before = await spent()
      const running = withKey(OLD)
      await running.record([sampleEntry('gen-1', ['d1'])])
      expect(await store.generations.get('gen-1')).toMatchObject({ id: 'gen-1' })
      expect(await spent()).toBeGreaterThan(before)
      expect(await running.status('d1')).toMatchObject({ queued: 1, bodiesDropped: 1 })
      expect(problems).toEqual([expect.stringContaining('restart it with the new one')])
      expect(await seen(running)).toEqual([['gen-1', false]])
    })

    it('leaves events encrypted by another process in the queue for it, and sends the rest', async () => {
      await withKey(NEW).record([sampleEntry('gen-1', ['d1'])])
      const running = withKey(OLD)
      await running.record([sampleEntry('gen-2', ['d1'])])
      expect(await seen(running)).toEqual([['gen-2', false]])
      expect(problems.at(-1)).toContain('events wait')
      const leaseEnded = Date.now() + 120_000
      expect(await seen(withKey(NEW), leaseEnded)).toContainEqual(['gen-1', true])
    })
  })

  describe(`${name}: an event that cannot be read`, () => {
    it('is sent without content when its data key was tampered with; the others of its batch are sent completely', async () => {
      await withKey(OLD).record([sampleEntry('gen-1', ['d1'])])
      await store.rewrapSecrets((envelope) => `${envelope.slice(0, -6)}AAAAAA`)
      const fresh = withKey(OLD)
      await fresh.record([sampleEntry('gen-2', ['d1'], { withContent: false })])
      expect(await seen(fresh)).toEqual([
        ['gen-1', false],
        ['gen-2', false],
      ])
      expect(problems).toEqual([expect.stringContaining('events go without what was said')])
    })

    it('becomes a dead letter when its record is not JSON; the others of its batch are sent', async () => {
      await withKey(OLD).record([sampleEntry('gen-1', ['d1'], { record: '{"id":' }), sampleEntry('gen-2', ['d1'])])
      const fresh = withKey(OLD)
      expect((await lease(fresh)).map(({ generation, content }) => [generation.id, content])).toEqual([['gen-2', sampleContent]])
      const { letters } = await fresh.deadLetters('d1', { offset: 0, limit: 10 })
      expect(letters).toMatchObject([{ generationId: 'gen-1', reason: 'encode-failed', error: expect.stringContaining('not valid JSON') }])
      // Nothing is left that would come due again.
      expect(await seen(fresh, Date.now() + DAY)).toEqual([['gen-2', true]])
    })
  })
})
