import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const room = (path: string): string => JSON.stringify(new URL(path, import.meta.url).href)
const SCRIPT = `
  import { closeSync, openSync } from 'node:fs'
  import { createServer } from 'node:http'
  import { createHttpClient } from ${room('./http-client.ts')}
  const server = createServer((_request, response) => response.end('fine')).listen(0, '127.0.0.1', async () => {
    const { port } = server.address()
    const client = createHttpClient()
    const ask = () =>
      client.send({ url: 'http://127.0.0.1:' + port + '/', method: 'GET', headers: {}, connectTimeoutMs: 2_000 }).head.then(
        ({ status }) => status,
        ({ kind, sent }) => ({ kind, sent }),
      )
    const files = []
    try {
      for (;;) files.push(openSync('/dev/null'))
    } catch {}
    const without = await ask()
    for (const file of files) closeSync(file)
    console.log(JSON.stringify([without, await ask()]))
    process.exit()
  })`

it.runIf(process.platform === 'linux')('a process without free file descriptors reports its own failure, and recovers', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'no-files-'))
  try {
    writeFileSync(join(folder, 'ask.mjs'), SCRIPT)
    const { stdout } = await promisify(execFile)('sh', ['-c', 'ulimit -n 256 && exec "$0" "$1"', process.execPath, join(folder, 'ask.mjs')])
    expect(JSON.parse(stdout)).toEqual([{ kind: 'exhausted', sent: false }, 200])
  } finally {
    rmSync(folder, { recursive: true })
  }
})
