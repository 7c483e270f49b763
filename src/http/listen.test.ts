import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { connect, createServer as createNetServer, Server as Listener, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { closePort, holdPort, listen } from './listen.ts'

const HERE = { port: 0, host: '127.0.0.1' }
let server: Server
const callers: Socket[] = []

beforeEach(() => {
  server = createServer((_request, response) => void response.end('fine'))
})
afterEach(async () => {
  for (const caller of callers.splice(0)) caller.destroy()
  server.closeAllConnections()
  await new Promise<void>((resolve) => closePort(server, resolve))
})

function call(port: number, words = ''): Socket {
  const caller = connect(port, HERE.host)
  callers.push(caller)
  caller.on('error', () => undefined)
  caller.write(words)
  return caller
}
/** What becomes of a caller who has asked. */
const endOf = (caller: Socket): Promise<'served' | 'closed'> =>
  new Promise((resolve) => caller.once('data', () => resolve('served')).once('close', () => resolve('closed')))
const GET = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n'

describe.runIf(process.platform === 'linux')('many callers who connect at once', () => {
  /** In how many turns of the event loop they were let in. */
  async function turnsFor(count: number, sockets: number): Promise<number> {
    const { port } = await listen(server, HERE, { sockets })
    let turn = 0
    const seen = new Set<number>()
    let left = count
    const all = Promise.withResolvers<void>()
    server.on('connection', () => {
      seen.add(turn)
      if (--left === 0) all.resolve()
    })
    const tick = (): void => {
      turn++
      if (left > 0) setImmediate(tick)
    }
    tick()
    for (let i = 0; i < count; i++) call(port)
    await all.promise
    return seen.size
  }

  it('are accepted several per turn of the event loop, so that a busy loop does not delay them', async () => {
    expect(await turnsFor(64, 16)).toBeLessThan(32)
  })

  it('would be accepted one per turn by a single socket', async () => {
    expect(await turnsFor(64, 1)).toBe(64)
  })

  it('are served, whichever socket accepted them', async () => {
    const { port } = await listen(server, HERE)
    const answers = await Promise.all(Array.from({ length: 64 }, async () => String((await once(call(port, GET), 'data'))[0])))
    expect(answers.filter((answer) => answer.startsWith('HTTP/1.1 200 OK'))).toHaveLength(64)
  })

  it('count together for the limit of connections', async () => {
    server.maxConnections = 20
    const { port } = await listen(server, HERE)
    const all = Array.from({ length: 60 }, () => call(port, GET))
    const ends = await Promise.all(all.map(endOf))
    expect(ends.filter((end) => end === 'served')).toHaveLength(20)
    for (const caller of all) caller.destroy()
    await expect.poll(() => endOf(call(port, GET))).toBe('served')
  })
})

describe('the port', () => {
  it('of another process is not taken', async () => {
    const { port } = await listen(server, HERE)
    const second = createServer()
    await expect(listen(second, { ...HERE, port })).rejects.toMatchObject({ code: 'EADDRINUSE' })
    expect(second.listening).toBe(false)
    const plain = createNetServer().listen(port, HERE.host)
    const [error] = (await once(plain, 'error')) as [NodeJS.ErrnoException]
    expect(error.code).toBe('EADDRINUSE')
  })

  it.runIf(process.platform === 'linux')('that two processes chose at the same moment goes to one of them, and the other gets another', async () => {
    const { port } = await listen(server, HERE)
    // What is free is looked for once; the first to be asked for it finds the port that has just been taken.
    const choose = vi.spyOn(Listener.prototype, 'address').mockImplementationOnce(() => ({ address: HERE.host, family: 'IPv4', port }))
    const second = createServer()
    const { port: other } = await listen(second, HERE)
    choose.mockRestore()
    expect(other).not.toBe(port)
    await new Promise<void>((resolve) => closePort(second, resolve))
  })

  it('is closed by all sockets at once, and who is connected is served to the end', async () => {
    const asked = Promise.withResolvers<void>()
    const answer = Promise.withResolvers<void>()
    server.removeAllListeners('request').on('request', (_request, response) => {
      asked.resolve()
      void answer.promise.then(() => response.end('late'))
    })
    const { port } = await listen(server, HERE)
    const caller = call(port, GET.replace('\r\n\r\n', '\r\nconnection: close\r\n\r\n'))
    await asked.promise
    let closed = false
    closePort(server, () => (closed = true))
    for (let i = 0; i < 40; i++) {
      const [error] = (await once(connect(port, HERE.host), 'error')) as [NodeJS.ErrnoException]
      expect(error.code).toBe('ECONNREFUSED')
    }
    expect(closed).toBe(false)
    answer.resolve()
    expect(String((await once(caller, 'data'))[0])).toContain('late')
    await expect.poll(() => closed).toBe(true)
  })
})

describe.runIf(process.platform === 'linux')('a port that several processes share', () => {
  const takenBy = async (port: number): Promise<string | undefined> => {
    const plain = createNetServer().listen(port, HERE.host)
    const error = await Promise.race([once(plain, 'error'), once(plain, 'listening')])
    plain.close()
    return (error[0] as NodeJS.ErrnoException | undefined)?.code
  }

  it('is held for them if it was chosen at random, until they listen', async () => {
    const held = await holdPort(HERE)
    expect(await takenBy(held.port)).toBe('EADDRINUSE')
    await listen(server, { ...HERE, port: held.port }, { shared: true })
    held.release()
    for (let i = 0; i < 20; i++) expect(await endOf(call(held.port, GET))).toBe('served')
  })

  it('is not held if it is configured, because callers would be accepted by a process that does not serve', async () => {
    const { port, release } = await holdPort(HERE)
    release()
    const held = await holdPort({ ...HERE, port })
    expect(held.port).toBe(port)
    expect(await endOf(call(port))).toBe('closed')
    held.release()
  })

  it('cannot be taken by another gateway before they listen', async () => {
    const { port, release } = await holdPort(HERE)
    release()
    const held = await holdPort({ ...HERE, port })
    const others = Promise.allSettled([holdPort({ ...HERE, port }), listen(createServer(), { ...HERE, port })])
    await listen(server, { ...HERE, port }, { shared: true })
    held.release()
    const refused = { status: 'rejected', reason: { code: 'EADDRINUSE' } }
    expect(await others).toMatchObject([refused, refused])
  })

  it('cannot be taken from them', async () => {
    const { port } = await listen(server, HERE)
    await expect(holdPort({ ...HERE, port })).rejects.toMatchObject({ code: 'EADDRINUSE' })
  })

  it('spreads callers over all of them, and over the others when one has closed it', async () => {
    const { port } = await listen(server, HERE, { shared: true })
    const second = createServer((_request, response) => void response.end('second'))
    await listen(second, { ...HERE, port }, { shared: true })
    const answers = async (): Promise<ReadonlySet<string>> => {
      const all = Array.from({ length: 64 }, async () =>
        String((await once(call(port, GET), 'data'))[0])
          .slice(-6)
          .trim(),
      )
      return new Set(await Promise.all(all))
    }
    expect(await answers()).toEqual(new Set(['fine', 'second']))
    second.closeAllConnections()
    await new Promise<void>((resolve) => closePort(second, resolve))
    expect(await answers()).toEqual(new Set(['fine']))
  })
})

describe('a port whose connections a process manager hands round', () => {
  const MANAGER = `
    import cluster from 'node:cluster'
    import { createServer } from 'node:http'
    import { listen } from ${JSON.stringify(new URL('listen.ts', import.meta.url).href)}
    if (cluster.isWorker) {
      await listen(createServer(), { port: 0, host: '127.0.0.1' }).then(({ port }) => process.send({ port }), ({ code }) => process.send({ code }))
    } else {
      const heard = []
      const start = () => cluster.fork().on('message', (message) => (heard.push(message), heard.length < 3 ? start() : end()))
      const end = () => (process.stdout.write(JSON.stringify(heard)), process.exit())
      start()
    }`

  it('is listened on by all processes it has started', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'handed-'))
    try {
      writeFileSync(join(folder, 'manager.mjs'), MANAGER)
      const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'manager.mjs')])
      const [first, ...others] = JSON.parse(stdout) as readonly unknown[]
      expect(first).toEqual({ port: expect.any(Number) as number })
      expect(others).toEqual([first, first])
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
