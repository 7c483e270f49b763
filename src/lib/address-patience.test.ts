import { once } from 'node:events'
import { connect, createServer, getDefaultAutoSelectFamilyAttemptTimeout, setDefaultAutoSelectFamilyAttemptTimeout, type AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { finding, ONE_WORKS } from '../testing/lookups.ts'
import { waitForAddresses } from './address-patience.ts'

it('an address that answers while this process is busy is not given up for one that does not answer', async () => {
  const before = getDefaultAutoSelectFamilyAttemptTimeout()
  onTestFinished(() => setDefaultAutoSelectFamilyAttemptTimeout(before))
  waitForAddresses()
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const socket = connect({ host: 'database.test', port: (server.address() as AddressInfo).port, lookup: finding(ONE_WORKS, 400) })
  await once(socket, 'connect')
  expect(socket.remoteAddress).toBe('127.0.0.1')
  socket.destroy()
})
