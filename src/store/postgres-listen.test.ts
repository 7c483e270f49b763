import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { Secret } from '../lib/secret.ts'
import { listenForChanges } from './postgres-listen.ts'

it('a listener whose certificate file is missing for a moment connects when it is there', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'signalbox-listen-'))
  let connections = 0
  const server = createServer((socket) => {
    connections++
    socket.destroy()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const file = join(folder, 'ca.pem')
  const url = `postgres://box@127.0.0.1:${port}/box?sslmode=verify-full&sslrootcert=${encodeURIComponent(file)}`
  const listening = listenForChanges(new Secret(url), () => undefined)
  try {
    // Time for the first try.
    await sleep(150)
    expect(connections).toBe(0)
    await writeFile(file, 'a certificate')
    await expect.poll(() => connections, { timeout: 5_000 }).toBeGreaterThan(0)
  } finally {
    await listening.close()
    server.close()
    await rm(folder, { recursive: true })
  }
})
