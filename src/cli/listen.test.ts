import { createServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import { listenOr } from './listen.ts'

const open = (host: string, port: number) => () =>
  new Promise<never>((_resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(port, host, () => server.close(() => reject(new Error('it could be opened'))))
  })

describe('an address that cannot be listened on', () => {
  it('is refused with what to choose when the port is taken', async () => {
    const taken = createServer()
    const port = await new Promise<number>((resolve) => taken.listen(0, '127.0.0.1', () => resolve((taken.address() as { port: number }).port)))
    try {
      await expect(listenOr(open('127.0.0.1', port), { host: '127.0.0.1', port })).rejects.toMatchObject({
        errorType: 'invalid_request',
        message: `Port ${port} is in use; choose another with --port or SIGNALBOX_PORT.`,
      })
    } finally {
      taken.close()
    }
  })

  it('is refused with what to choose when it belongs to another machine', async () => {
    const host = '192.0.2.1'
    await expect(listenOr(open(host, 0), { host, port: 0 })).rejects.toMatchObject({
      errorType: 'invalid_request',
      message: '192.0.2.1 is no address of this machine; set --host or SIGNALBOX_HOST to one it has, such as 127.0.0.1, or 0.0.0.0 for all.',
    })
  })

  it.each([
    ['EACCES', 'Port 80 may not be opened by the user this process runs as; choose one above 1023 with --port or SIGNALBOX_PORT.'],
    [
      'ENOTFOUND',
      'gateway.invalid is no address of this machine; set --host or SIGNALBOX_HOST to one it has, such as 127.0.0.1, or 0.0.0.0 for all.',
    ],
  ])('is refused in a sentence for %s', async (code, message) => {
    const failing = () => Promise.reject(Object.assign(new Error('listen'), { code }))
    await expect(listenOr(failing, { host: 'gateway.invalid', port: 80 })).rejects.toMatchObject({ errorType: 'invalid_request', message })
  })

  it('is reported with the original error for any other reason', async () => {
    const error = Object.assign(new Error('listen'), { code: 'EMFILE' })
    await expect(listenOr(() => Promise.reject(error), { host: '127.0.0.1', port: 80 })).rejects.toBe(error)
  })
})
