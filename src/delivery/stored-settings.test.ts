import { expect, it } from 'vitest'
import { z } from 'zod'
import type { Destination } from '../core/destination.ts'
import type { DestinationRecord } from '../core/outbox.ts'
import { systemClock } from '../lib/clock.ts'
import { createConnectionTests } from './connection-tests.ts'
import { readSettings } from './stored-settings.ts'

const type: Destination = {
  type: 'plain',
  name: 'Plain',
  settings: z.strictObject({ url: z.url(), token: z.string().min(1) }),
  secrets: ['token'],
  limits: { records: 1, bytes: 10_000 },
  encode: () => [],
  probe: () => [],
}
/** As an older version may have taken it. */
const config = { url: 'nowhere', token: '', 'api-key': 'canary-secret' }
const destination = { id: 'd', workspaceId: 'w', type: 'plain', config, privacyMode: false } as unknown as DestinationRecord
const PROBLEM = 'the stored settings are not valid any more: url, token'

it('stored settings are read by the schema of their type, and reported by name where they are invalid', () => {
  const valid = { url: 'https://receiver.example', token: 't' }
  expect(readSettings(type, { ...destination, config: valid })).toEqual({ type, settings: valid })
  const read = readSettings(type, destination)
  expect(read).toMatchObject({ problem: expect.stringContaining(PROBLEM) })
  expect(JSON.stringify(read)).not.toContain('canary')
  expect(readSettings(undefined, destination)).toEqual({ problem: 'destination type plain is not known' })
})

it('a test of a destination whose settings are not valid any more says so', async () => {
  const tests = createConnectionTests({
    types: new Map([['plain', type]]),
    gatewayContext: { service: { name: 's', version: '1' }, baseUrls: {}, directory: '/nowhere' },
    transport: () => Promise.reject(new Error('nothing is sent')),
    clock: systemClock,
    newId: () => 'x',
  })
  for (const result of [await tests.test(destination), await tests.sendTest(destination)])
    expect(result).toMatchObject({ ok: false, steps: [{ ok: false, status: 0, message: expect.stringContaining(PROBLEM) }] })
})
