import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { createStore } from './index.ts'

const room = (path: string): string => JSON.stringify(new URL(path, import.meta.url).href)
// One file is left, which is the database's: its journal finds none, as on a disk that has room for no more files.
const SCRIPT = `
  import { closeSync, openSync } from 'node:fs'
  import { createStore, fileFaultOf } from ${room('./index.ts')}
  const store = await createStore({ path: process.argv[2] })
  const files = []
  try {
    for (;;) files.push(openSync('/dev/null'))
  } catch {}
  closeSync(files.pop())
  const without = await store.ping().then(
    () => 'answers',
    (error) => ({ said: error.cause.message, fault: fileFaultOf(error) ?? 'none' }),
  )
  for (const file of files) closeSync(file)
  console.log(JSON.stringify([without, await store.ping().then(() => 'answers')]))
  process.exit()`

it.runIf(process.platform === 'linux')('a journal without disk space is not reported as a damaged file, and recovers', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'no-room-'))
  try {
    const path = join(folder, 'signalbox.db')
    const store = await createStore({ path })
    await store.migrate()
    await store.close()
    writeFileSync(join(folder, 'open.mjs'), SCRIPT)
    const { stdout } = await promisify(execFile)('sh', [
      '-c',
      'ulimit -n 256 && exec "$0" "$1" "$2"',
      process.execPath,
      join(folder, 'open.mjs'),
      path,
    ])
    expect(JSON.parse(stdout)).toEqual([{ said: expect.stringMatching(/^EMFILE: /), fault: 'none' }, 'answers'])
  } finally {
    rmSync(folder, { recursive: true })
  }
})

// Beyond its size the file cannot grow, nor any other: as on a disk that is full.
const FULL = `
  import { createStore } from ${room('./index.ts')}
  process.on('SIGXFSZ', () => undefined)
  const store = await createStore({ path: process.argv[2] })
  const outcome = (work) => work.then(() => 'done', (error) => error.cause.message)
  console.log(JSON.stringify([await outcome(store.ping()), await outcome(store.proveWritable()), await outcome(store.proveRoom())]))
  process.exit()`

it.runIf(process.platform === 'linux')(
  'a full disk still answers reads and fails the check for space, or says why it cannot; a disk with space keeps no probe data',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'no-room-'))
    try {
      const path = join(folder, 'signalbox.db')
      const store = await createStore({ path })
      await store.migrate()
      await store.proveRoom()
      await store.close()
      const facts = new DatabaseSync(path)
      expect(facts.prepare('select name from facts').all()).toEqual([])
      facts.close()
      writeFileSync(join(folder, 'full.mjs'), FULL)
      const outcomes = async (blocks: string): Promise<unknown> => {
        const command = ['ulimit -f "$3" && exec "$0" "$1" "$2"', process.execPath, join(folder, 'full.mjs'), path, blocks]
        return JSON.parse((await promisify(execFile)('sh', ['-c', ...command])).stdout)
      }
      // Not even room for the index of the journal, of which SQLite says "disk I/O error".
      expect(await outcomes('16')).toEqual(Array(3).fill(expect.stringMatching(/^EFBIG: /)))
      expect(await outcomes('64')).toEqual(['done', 'done', expect.stringMatching(/^ERR_SQLITE_ERROR: /)])
    } finally {
      rmSync(folder, { recursive: true })
    }
  },
)
