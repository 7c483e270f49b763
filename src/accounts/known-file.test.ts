import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sampleKey } from '../testing/sample-records.ts'
import { createLastKnownGood } from './last-known-good.ts'

describe('the last-known-good file', () => {
  let directory: string
  beforeEach(async () => void (directory = await mkdtemp(join(tmpdir(), 'signalbox-known-'))))
  afterEach(() => rm(directory, { recursive: true }))

  it('removes temporary files of processes that were killed, and no other file', async () => {
    const name = 'last-known-good.json'
    const long = new Date(Date.now() - 2 * 3_600_000)
    const others = ['last-known-good.json.before-upgrade', 'secret.key.20250101']
    for (const old of [`${name}.Ab3dEf7h`, ...others]) {
      await writeFile(join(directory, old), '')
      await utimes(join(directory, old), long, long)
    }
    // The draft of another process that is still writing.
    await writeFile(join(directory, `${name}.Zz9yXw8v`), '')
    const known = createLastKnownGood(join(directory, name))
    await known.write({ version: 1, keys: [], workspaces: [] })
    expect((await readdir(directory)).toSorted()).toEqual([name, `${name}.Zz9yXw8v`, ...others].toSorted())
    expect(await known.read()).toMatchObject({ version: 1 })
  })
  it('writes many keys in pieces, and reads them as they were', async () => {
    const file = join(directory, 'last-known-good.json')
    const keys = Array.from({ length: 2_500 }, (_, n) => sampleKey(`key ${n}`, { name: '"], [' }))
    const known = createLastKnownGood(file)
    await known.write({ version: 7, keys, gone: keys.slice(0, 1_000).map(({ hash }) => hash), workspaces: [] })
    expect(await known.read()).toEqual({ version: 7, keys, gone: keys.slice(0, 1_000).map(({ hash }) => hash), workspaces: [] })
  })
})
