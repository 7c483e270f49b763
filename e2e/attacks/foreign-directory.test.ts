import { execFile } from 'node:child_process'
import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { verifies } from '../requirements.ts'

/** A data directory, or its content, that belongs to a user other than the current one. */
const MAIN = join(import.meta.dirname, '../../bin/signalbox.js')
const isRoot = process.getuid?.() === 0
// Root may read everything, so another user is needed.
const somebody = isRoot ? { uid: 65_534, gid: 65_534 } : {}

let directory: string
beforeEach(async () => (directory = await mkdtemp(join(tmpdir(), 'signalbox-foreign-'))))
afterEach(() => rm(directory, { recursive: true }))

const run = (...command: readonly string[]) => promisify(execFile)(process.execPath, [MAIN, ...command], { cwd: directory, env: {}, ...somebody })

describe.runIf(process.platform === 'linux')('what belongs to another user of the system', () => {
  it.runIf(isRoot)(verifies('I1', 'is a secret key: the start is refused, and says who has to own it'), async () => {
    await chown(directory, 65_534, 65_534)
    await writeFile(join(directory, 'secret.key'), Buffer.alloc(32, 7).toString('base64'), { mode: 0o600 })
    await expect(run('serve', '--data', directory, '--port', '0')).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^.*secret\.key cannot be read \(EACCES\): .* must belong to user id 65534, .*chown -R 65534/),
    })
  })

  it(verifies('I1', 'is the directory: commands beside the gateway say so, and not that there is no database'), async () => {
    const closed = join(directory, 'closed')
    await mkdir(closed, { mode: 0o000 })
    await chmod(directory, 0o755)
    await expect(run('keys', 'list', '--data', closed)).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/signalbox\.db cannot be read \(EACCES\): the data directory and everything in it must belong to user id/),
    })
  })

  it.runIf(isRoot)(verifies('I1', 'is the database: commands beside the gateway say what has to be done, and not to try again'), async () => {
    await chmod(directory, 0o755)
    await writeFile(join(directory, 'signalbox.db'), '', { mode: 0o644 })
    for (const command of [['keys', 'list'], ['keys', 'create', '--name', 'ci'], ['reconcile']])
      await expect(run(...command, '--data', directory)).rejects.toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/signalbox\.db cannot be written \(EACCES\): .* must belong to user id 65534, .*chown -R 65534/),
      })
  })
})
