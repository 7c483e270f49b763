import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readByPeer } from './read-by-peer.ts'

let server: ReturnType<typeof createServer>
let here: Socket
let there: Socket
beforeEach(async () => {
  server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const accepted = once(server, 'connection')
  there = connect((server.address() as AddressInfo).port, '127.0.0.1')
  ;[here] = (await accepted) as [Socket]
})
afterEach(() => {
  here.destroy()
  there.destroy()
  server.close()
})

describe.skipIf(process.platform !== 'linux')('readByPeer', () => {
  it('waits for an end that reads late, so that a reset takes nothing from it', async () => {
    const size = 1_000_000
    here.write(Buffer.alloc(size))
    let reset = false
    const done = readByPeer(here).then(() => {
      reset = true
      here.resetAndDestroy()
    })
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(reset).toBe(false)
    let read = 0
    there.on('data', (bytes: Buffer) => (read += bytes.length))
    const failed = once(there, 'close').catch(() => undefined)
    there.on('error', () => undefined)
    await done
    await failed
    expect(read).toBe(size)
  })

  it('ends with the connection', async () => {
    here.write(Buffer.alloc(1_000_000))
    setTimeout(() => here.destroy(), 30)
    await readByPeer(here)
    expect(here.destroyed).toBe(true)
  })
})
