import { once } from 'node:events'
import {
  connect,
  createServer,
  getDefaultAutoSelectFamilyAttemptTimeout,
  setDefaultAutoSelectFamilyAttemptTimeout,
  type AddressInfo,
  type LookupFunction,
} from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { waitForAddresses } from './address-patience.ts'

it('an address that answers while this process is busy is not given up for one where nobody is', async () => {
  const before = getDefaultAutoSelectFamilyAttemptTimeout()
  onTestFinished(() => setDefaultAutoSelectFamilyAttemptTimeout(before))
  waitForAddresses()
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const lookup: LookupFunction = (_host, _options, found) =>
    void setImmediate(() => {
      found(
        null,
        ['127.0.0.1', '127.0.0.2'].map((address) => ({ address, family: 4 })),
      )
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400)
    })
  const socket = connect({ host: 'database.test', port: (server.address() as AddressInfo).port, lookup })
  await once(socket, 'connect')
  expect(socket.remoteAddress).toBe('127.0.0.1')
  socket.destroy()
})
