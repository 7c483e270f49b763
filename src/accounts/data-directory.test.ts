import { chmod, chown, mkdir, mkdtemp, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Secret } from '../lib/secret.ts'
import { findStagedKey, notWritable, openDataDirectory, stageSecretKey } from './data-directory.ts'
import { generateSecretKey } from './encryption.ts'

describe('the data directory', () => {
  let parent: string
  let path: string
  beforeEach(async () => {
    parent = await mkdtemp(join(tmpdir(), 'signalbox-data-'))
    path = join(parent, 'deep', 'data')
  })
  afterEach(() => rm(parent, { recursive: true }))
  const modeOf = async (file: string) => (await stat(file)).mode & 0o777

  it.skipIf(process.platform !== 'linux')(
    'is refused where it cannot be created, even if a parent directory exists',
    { timeout: 10_000 },
    async () => {
      await expect(openDataDirectory({ path: '/proc/nothing/of/this' })).rejects.toThrow(/\/proc\/nothing\/of\/this cannot be made \(ENOENT\)/)
    },
  )

  it('is created readable by its owner alone, like the secret key in it', async () => {
    const first = await openDataDirectory({ path })
    expect(await modeOf(path)).toBe(0o700)
    expect(await modeOf(join(path, 'secret.key'))).toBe(0o600)
    expect(first).toMatchObject({ path, databaseFile: join(path, 'signalbox.db'), secretKeySource: 'created' })
    expect(first.secretKey).toHaveLength(32)
    const second = await openDataDirectory({ path })
    expect(second.secretKeySource).toBe('file')
    expect(second.secretKey).toEqual(first.secretKey)
  })

  it('gives all processes that start together the same key, and leaves no temporary files', async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => openDataDirectory({ path })))
    expect(new Set(all.map(({ secretKey }) => secretKey.toString('hex'))).size).toBe(1)
    expect(all.filter(({ secretKeySource }) => secretKeySource === 'created')).toHaveLength(1)
    expect(await readdir(path)).toEqual(['secret.key'])
  })

  it('uses the key of the environment and then creates no file', async () => {
    const secretKey = generateSecretKey()
    const opened = await openDataDirectory({ path, secretKey })
    expect(opened.secretKeySource).toBe('environment')
    expect(opened.secretKey.toString('base64')).toBe(secretKey.reveal())
    expect(await readdir(path)).toEqual([])
  })

  it('is refused when it cannot be written, wherever the key comes from: with the path, the user and what to do', async () => {
    // A file cannot contain files, not even for root.
    await writeFile(join(parent, 'file'), '')
    const uid = process.getuid?.()
    for (const given of [{}, { secretKey: generateSecretKey() }]) {
      await expect(openDataDirectory({ path: join(parent, 'file'), existing: true, ...given })).rejects.toMatchObject({
        errorType: 'invalid_request',
        message:
          `${parent}/file cannot be written (ENOTDIR): the data directory and everything in it must belong to user id ${uid}, which this process ` +
          `runs as (chown -R ${uid} ${parent}/file), or choose another with --data or SIGNALBOX_DATA_DIR`,
      })
    }
  })

  it('is left unchanged by commands that only read: nothing is created, and what is missing is reported', async () => {
    await expect(openDataDirectory({ path, existing: true })).rejects.toMatchObject({
      errorType: 'not_found',
      message: expect.stringContaining(join(path, 'secret.key')),
    })
    expect((await openDataDirectory({ path, existing: true, secretKey: generateSecretKey() })).secretKeySource).toBe('environment')
    expect(await readdir(parent)).toEqual([])
  })

  it('makes the key file private when other users could read it', async () => {
    await openDataDirectory({ path })
    await chmod(join(path, 'secret.key'), 0o644)
    await openDataDirectory({ path })
    expect(await modeOf(join(path, 'secret.key'))).toBe(0o600)
  })

  // Only root can change the owner of files, as does an administrator who rotates the key for the gateway's user.
  it.runIf(process.getuid?.() === 0)('keeps the owner of a rotated key file', async () => {
    await openDataDirectory({ path })
    const file = join(path, 'secret.key')
    await chown(file, 65_534, 65_533)
    const staged = await stageSecretKey(path, generateSecretKey())
    await staged.adopt()
    expect(await stat(file)).toMatchObject({ uid: 65_534, gid: 65_533 })
    expect(await modeOf(file)).toBe(0o600)
    expect((await openDataDirectory({ path })).secretKey).toEqual(staged.key)
  })

  it.each([
    ['at the first start', () => openDataDirectory({ path })],
    ['of a rotation', () => stageSecretKey(path, generateSecretKey())],
  ])('has a new key %s completely on the disk before it is used, or not at all, even if the disk is full', async (_name, make) => {
    await mkdir(path, { recursive: true })
    const handle = await open(parent, 'r')
    await handle.close()
    const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
    const sync = vi.spyOn(Object.getPrototypeOf(handle) as typeof handle, 'sync').mockRejectedValue(full)
    try {
      await expect(make()).rejects.toMatchObject({
        message: expect.stringContaining('cannot be written (ENOSPC): its disk is full; make room there, or choose another'),
      })
    } finally {
      sync.mockRestore()
    }
    expect(await readdir(path)).toEqual([])
    await make()
  })

  it.skipIf(process.getuid?.() !== 0)('a staged key that an administrator leaves behind can be read by the owner of the key', async () => {
    await openDataDirectory({ path })
    await chown(join(path, 'secret.key'), 1234, 5678)
    await stageSecretKey(path, generateSecretKey())
    expect(await stat(join(path, 'secret.key.next'))).toMatchObject({ uid: 1234, gid: 5678 })
  })

  it('keeps the key that the database uses when a second rotation replaced the staged key of an unfinished one', async () => {
    await openDataDirectory({ path })
    const first = await stageSecretKey(path, generateSecretKey())
    // To the second rotation the first one looks like an interrupted one.
    await (await findStagedKey(path))?.discard()
    const second = await stageSecretKey(path, generateSecretKey())
    await first.adopt()
    expect((await openDataDirectory({ path })).secretKey).toEqual(first.key)
    expect((await findStagedKey(path))?.key).toEqual(second.key)
    await second.discard()
    expect(await readdir(path)).toEqual(['secret.key'])
  })

  it('refuses a malformed key, with its place and without its value', async () => {
    const malformed = openDataDirectory({ path, secretKey: new Secret('canary-key') })
    await expect(malformed).rejects.toMatchObject({
      errorType: 'invalid_request',
      message: expect.stringMatching(/^SIGNALBOX_SECRET_KEY must be 32 bytes/),
    })
    await writeFile(join(path, 'secret.key'), 'canary-key')
    const error: unknown = await openDataDirectory({ path }).catch((reason: unknown) => reason)
    expect(String(error)).toContain(join(path, 'secret.key'))
    expect(String(error)).not.toContain('canary-key')
    expect(await readFile(join(path, 'secret.key'), 'utf8')).toBe('canary-key')
  })

  it('says what is in the way, and which setting to change, when it cannot be made', async () => {
    await writeFile(join(parent, 'file'), '')
    await expect(openDataDirectory({ path: join(parent, 'file', 'data') })).rejects.toMatchObject({
      errorType: 'invalid_request',
      message: expect.stringMatching(/a part of its path is a file; .* --data or SIGNALBOX_DATA_DIR/),
    })
    await expect(openDataDirectory({ path: join(parent, 'file') })).rejects.toThrow(/cannot be made \(EEXIST\): it is a file; move it away/)
  })
})

it('a data directory on a read-only file system is reported as that, not as a wrong owner', () => {
  const refusal = notWritable('/data', '/data', Object.assign(new Error('read-only'), { code: 'EROFS' }))
  expect(refusal.message).toBe(
    '/data cannot be written (EROFS): its file system is mounted read-only; mount one that can be written there, or choose another with --data or SIGNALBOX_DATA_DIR',
  )
})
