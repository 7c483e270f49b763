import { copyFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { noteMove } from '../accounts/moved-database.ts'
import { loadConfig } from '../config/load.ts'
import { silentLogger } from '../lib/logger.ts'
import { boot } from './boot.ts'

let path: string
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'signalbox-boot-'))
})
afterEach(() => rm(path, { recursive: true }))

const start = async () =>
  boot(await loadConfig({ env: { SIGNALBOX_DATA_DIR: path }, read: {} }), silentLogger, () => {
    throw new Error('not expected')
  })

it('a start refuses a database whose secret key is gone, and creates no other key', async () => {
  await (await start()).close()
  const key = await readFile(join(path, 'secret.key'))
  await rm(join(path, 'secret.key'))
  for (const _ of [1, 2]) await expect(start()).rejects.toThrow('set SIGNALBOX_SECRET_KEY, or secret.key in the data directory, to that key')
  expect(await readdir(path)).not.toContain('secret.key')
  await writeFile(join(path, 'secret.key'), key)
  await (await start()).close()
})

it('a start does not replace a wrong key file', async () => {
  await (await start()).close()
  const wrong = Buffer.alloc(32, 1).toString('base64')
  await writeFile(join(path, 'secret.key'), wrong)
  await expect(start()).rejects.toThrow('is not the one the secrets in this database are encrypted with')
  expect(await readFile(join(path, 'secret.key'), 'utf8')).toBe(wrong)
})

it('a start after an interrupted rotation says where the key is and what finishes it', async () => {
  await (await start()).close()
  const left = Buffer.alloc(32, 1).toString('base64')
  await copyFile(join(path, 'secret.key'), join(path, 'secret.key.next'))
  await writeFile(join(path, 'secret.key'), left)
  await expect(start()).rejects.toThrow(/is not the one .* secret\.key\.next .*run signalbox secrets rotate/)
  expect(await readFile(join(path, 'secret.key'), 'utf8')).toBe(left)
  // The key of a rotation that changed nothing is no help.
  await writeFile(join(path, 'secret.key.next'), Buffer.alloc(32, 2).toString('base64'))
  await expect(start()).rejects.toThrow(/to that key$/)
})

it('a start refuses a database that was moved to another one, and goes on with it only if told to', async () => {
  await (await start()).close()
  const note = await noteMove(path)
  await expect(start()).rejects.toThrow(/signalbox\.db was copied to PostgreSQL on \d{4}-\d\d-\d\d and is out of use: set SIGNALBOX_DATABASE_URL/)
  await rm(note)
  await (await start()).close()
})
