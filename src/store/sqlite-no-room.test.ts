import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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

it.runIf(process.platform === 'linux')('a journal that finds no room for its file is no fault of the file, and passes', async () => {
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
