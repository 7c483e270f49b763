import { describe, expect, test } from 'vitest'
import type { Config } from '../core/config.ts'
import { Secret } from '../lib/secret.ts'
import { checkExposure, weakKeyNote, wrongKeysPerMinute } from './exposure.ts'
import { verifies } from '../../e2e/requirements.ts'

const key = new Secret('a-key-of-16-chars')
const short = new Secret('only-15-chars-k')

const server = {
  port: 8787,
  bodyLimit: 1,
  console: true,
  allowedOrigins: [],
  shutdownGrace: 1,
  shutdownDelay: 0,
  keepAliveTimeout: 65_000,
  role: 'all' as const,
  workers: 1,
  wrongKeysPerMinute: 100,
}

function exposure(host: string, keys: Config['keys'] = {}): string | undefined {
  return checkExposure({ server: { ...server, host }, keys })
}

test.each(['127.0.0.1', '127.8.9.10', '::1', '[::1]', 'localhost', 'LOCALHOST', 'box.localhost', '::ffff:127.0.0.1'])('%s is loopback', (host) => {
  expect(exposure(host)).toBeUndefined()
})

describe.each(['0.0.0.0', '::', '192.168.1.5', '10.0.0.1', 'box.example.com', '128.0.0.1', ''])('listening on %j', (host) => {
  test(verifies('F9', 'P38', 'without keys is refused, and says what to set'), () => {
    expect(exposure(host)).toBe(
      `Refusing to listen on ${host}, which other machines can reach: set SIGNALBOX_API_KEY, SIGNALBOX_MANAGEMENT_KEY and SIGNALBOX_SECRET_KEY ` +
        '(32 bytes in base64: openssl rand -base64 32), or listen on 127.0.0.1.',
    )
  })
  test('names only what is missing', () => {
    expect(exposure(host, { apiKey: key, secretKey: key })).toContain('set SIGNALBOX_MANAGEMENT_KEY, or listen')
    expect(exposure(host, { apiKey: key, managementKey: key })).toContain('set SIGNALBOX_SECRET_KEY (32')
  })
  test('with keys that can be guessed is refused, and says which', () => {
    expect(exposure(host, { apiKey: short, managementKey: key, secretKey: key })).toBe(
      `Refusing to listen on ${host}, which other machines can reach: set SIGNALBOX_API_KEY to 16 characters or more (openssl rand -hex 24), ` +
        'or listen on 127.0.0.1.',
    )
    expect(exposure(host, { apiKey: short, managementKey: short, secretKey: key })).toContain(
      'set SIGNALBOX_API_KEY and SIGNALBOX_MANAGEMENT_KEY to 16',
    )
  })
  test('with fixed keys and a secret key is fine', () => {
    expect(exposure(host, { apiKey: key, managementKey: key, secretKey: key })).toBeUndefined()
  })
})

test('keys that can be guessed are accepted on loopback, with a warning', () => {
  const note = (host: string, keys: Config['keys']) => weakKeyNote({ server: { ...server, host }, keys })
  expect(exposure('127.0.0.1', { apiKey: short })).toBeUndefined()
  expect(note('127.0.0.1', { apiKey: short, managementKey: key })).toMatch(/^Fewer than 16 characters in SIGNALBOX_API_KEY: /)
  expect(note('127.0.0.1', { apiKey: key })).toBeUndefined()
  // There the start is refused with them.
  expect(note('0.0.0.0', { apiKey: short })).toBeUndefined()
})

test.each([
  ['127.0.0.1', undefined, null],
  ['::1', undefined, null],
  ['0.0.0.0', undefined, 100],
  ['10.0.0.1', undefined, 100],
  ['0.0.0.0', null, null],
  ['0.0.0.0', 7, 7],
  ['127.0.0.1', 7, 7],
])(
  'wrong keys per address are limited where others reach the gateway, unless configured otherwise: at %s with %j the limit is %j',
  (host, chosen, most) => {
    const { wrongKeysPerMinute: _, ...unset } = server
    expect(wrongKeysPerMinute({ server: { ...unset, host, ...(chosen === undefined ? {} : { wrongKeysPerMinute: chosen }) } }, host)).toBe(most)
  },
)

test('the limit goes by the listening address, which a reload does not change', () => {
  const { wrongKeysPerMinute: _, ...unset } = server
  expect(wrongKeysPerMinute({ server: { ...unset, host: '127.0.0.1' } }, '0.0.0.0')).toBe(100)
})
