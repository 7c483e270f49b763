import { mkdtemp, rm } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createEncryption } from '../accounts/encryption.ts'
import { DEFAULT_WORKSPACE_ID, type Store } from '../core/store.ts'
import { SECRET_KEY_CANARY } from '../core/secret-context.ts'
import { Secret } from '../lib/secret.ts'
import { describeOnBothEngines, type OpenedStore } from '../testing/both-engines.ts'
import { sampleWorkspace } from '../testing/sample-records.ts'
import { threadTime } from '../testing/thread-time.ts'
import { createStore } from './index.ts'

const NOW = 1_800_000_000_000
const encryption = createEncryption({ current: Buffer.alloc(32, 1) })

async function opened(open: () => Promise<OpenedStore>, work: (under: OpenedStore) => Promise<void>): Promise<void> {
  const under = await open()
  try {
    await under.store.migrate()
    await under.store.workspaces.default()
    await work(under)
  } finally {
    await under.dispose()
  }
}

const keep = ({ answers }: Store, key: string, sealed: string, expiresAt: number, workspaceId = DEFAULT_WORKSPACE_ID): Promise<void> =>
  answers.keep({ key, workspaceId, sealed, expiresAt })

await describeOnBothEngines('kept answers', createStore, (name, open) => {
  it(`${name}: are found by every process until they expire; a later one replaces an earlier one`, () =>
    opened(open, async ({ store, openAnother }) => {
      const other = await openAnother()
      await keep(store, 'k', 'first', NOW + 10)
      expect(await other.answers.find('k', NOW)).toBe('first')
      await keep(other, 'k', 'second', NOW + 20)
      expect(await store.answers.find('k', NOW + 19)).toBe('second')
      expect(await store.answers.find('k', NOW + 20)).toBeUndefined()
      expect(await store.answers.find('l', NOW)).toBeUndefined()
      await other.close()
    }))
  it(`${name}: are kept within a size, those that expire first being deleted first`, () =>
    opened(open, async ({ store }) => {
      for (const [key, expiresAt] of [
        ['a', 40],
        ['b', 10],
        ['c', 30],
        ['d', 20],
      ] as const)
        await keep(store, key, 'x'.repeat(100), NOW + expiresAt)
      expect(await store.answers.trim(NOW, 400)).toBe(0)
      expect(await store.answers.trim(NOW, 250)).toBe(2)
      const left = await Promise.all(['a', 'b', 'c', 'd'].map((key) => store.answers.find(key, NOW)))
      expect(left.map((found) => found !== undefined)).toEqual([true, false, true, false])
      expect(await store.answers.trim(NOW + 30, 250)).toBe(1)
      expect(await store.answers.find('a', NOW)).toBeDefined()
    }))
  it(`${name}: expire`, () =>
    opened(open, async ({ store }) => {
      await keep(store, 'over', 'x', NOW)
      await keep(store, 'runs', 'x', NOW + 1)
      expect(await store.retention.expire('answers', NOW, 10)).toEqual({ deleted: 1, more: false })
      expect(await store.answers.find('runs', NOW)).toBe('x')
    }))
  it(`${name}: are deleted with their workspace, and with the secret key they were encrypted with`, () =>
    opened(open, async ({ store }) => {
      await store.workspaces.insert(sampleWorkspace('w2'))
      await keep(store, 'theirs', 'x', NOW + 1, 'w2')
      await store.workspaces.remove('w2')
      expect(await store.answers.find('theirs', NOW)).toBeUndefined()
      const seal = (context: string): string => encryption.seal(new Secret('x'), context)
      await store.facts.replace(SECRET_KEY_CANARY, undefined, seal(SECRET_KEY_CANARY))
      await keep(store, 'k', seal('answer:k'), NOW + 1)
      const next = createEncryption({ current: Buffer.alloc(32, 2), previous: [Buffer.alloc(32, 1)] })
      await store.rewrapSecrets((envelope, context) => next.rewrap(envelope, context))
      expect(await store.answers.find('k', NOW)).toBeUndefined()
      await expect(keep(store, 'k', seal('answer:k'), NOW + 1)).rejects.toMatchObject({ errorType: 'precondition_failed' })
    }))
})

/** SQLite works in the thread that asks it, and this is asked with every few answers that are kept: nobody is served meanwhile. */
it('very many cached answers are counted in steps', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'signalbox-answers-'))
  const path = join(folder, 'signalbox.db')
  const store = await createStore({ path })
  try {
    await store.migrate()
    await store.workspaces.default()
    const database = new DatabaseSync(path)
    database.exec(`with recursive n(i) as (select 1 union all select i + 1 from n where i < 150000)
      insert into kept_answers (key, workspace_id, sealed, bytes, expires_at) select 'k' || i, '${DEFAULT_WORKSPACE_ID}', 'x', 1, ${NOW} + i from n`)
    database.close()
    for (const [size, deleted] of [
      [150_000, 0],
      [149_900, 100],
    ] as const) {
      const before = threadTime()
      expect(await store.answers.trim(NOW, size)).toBe(deleted)
      expect(threadTime() - before).toBeLessThan(60)
    }
    expect(await store.answers.find('k100', NOW)).toBeUndefined()
    expect(await store.answers.find('k101', NOW)).toBe('x')
  } finally {
    await store.close()
    await rm(folder, { recursive: true })
  }
})
