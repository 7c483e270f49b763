import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { findTestPostgres } from '../testing/postgres.ts'
import { migrate } from './check.ts'
import { copyFromSqlite } from './copy-sqlite.ts'
import { createKey, listKeys } from './keys.ts'
import { rotate } from './secrets.ts'

const postgres = await findTestPostgres('signalbox migrate --from-sqlite')

describe('signalbox migrate --from-sqlite', () => {
  let data: string
  let out: string
  beforeEach(async () => {
    data = await mkdtemp(join(tmpdir(), 'signalbox-copy-command-'))
    out = ''
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => (out += String(text)) !== '')
    vi.stubEnv('SIGNALBOX_CONFIG', '/dev/null')
  })
  afterEach(async () => {
    vi.restoreAllMocks()
    vi.unstubAllEnvs()
    await rm(data, { recursive: true })
  })

  it('asks for the URL of PostgreSQL, and for a data directory with a database', async () => {
    await expect(copyFromSqlite({ data })).rejects.toThrow('set SIGNALBOX_DATABASE_URL (or storage.url) to an empty one')
    vi.stubEnv('SIGNALBOX_DATABASE_URL', 'postgres://127.0.0.1:1/nowhere')
    await expect(copyFromSqlite({ data })).rejects.toThrow(`There is no database at ${join(data, 'signalbox.db')}`)
  })

  it.skipIf(!postgres.available)('copies keys and everything else, and shows what', async () => {
    if (!postgres.available) return
    const schema = await postgres.createSchema()
    await migrate({ data })
    await createKey({ name: 'mine', management: false }, { data })
    vi.stubEnv('SIGNALBOX_DATABASE_URL', schema.url.reveal())
    await copyFromSqlite({ data })
    expect(out).toMatch(/^api_keys: 1 row$/m)
    expect(out).toContain(`${join(data, 'signalbox.db')} was copied and is unchanged.`)
    out = ''
    await listKeys({}, { data })
    expect(out).toContain('mine')
    vi.stubEnv('SIGNALBOX_DATABASE_URL', '')
    const outOfUse = {
      errorType: 'precondition_failed',
      message: expect.stringMatching(/was copied to PostgreSQL on \d{4}-.* set SIGNALBOX_DATABASE_URL/),
    }
    for (const use of [() => createKey({ name: 'lost', management: false }, { data }), () => rotate({ data }), () => migrate({ data })])
      await expect(use()).rejects.toMatchObject(outOfUse)
    await rm(join(data, 'signalbox.db.moved'))
    await listKeys({}, { data })
    await schema.drop()
  })

  it.skipIf(!postgres.available)('goes on if nobody reads what it says any more', async () => {
    if (!postgres.available) return
    const schema = await postgres.createSchema()
    await migrate({ data })
    await createKey({ name: 'mine', management: false }, { data })
    vi.stubEnv('SIGNALBOX_DATABASE_URL', schema.url.reveal())
    const ended = vi.fn()
    process.stdout.on('error', ended)
    onTestFinished(() => void process.stdout.removeAllListeners('error'))
    const gone = Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })
    vi.mocked(process.stdout.write).mockImplementation(() => process.stdout.emit('error', gone))
    await copyFromSqlite({ data })
    expect(ended).not.toHaveBeenCalled()
    expect(await readdir(data)).toContain('signalbox.db.moved')
    await schema.drop()
  })
})
