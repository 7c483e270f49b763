import { describe, expect, it } from 'vitest'
import { verifies } from '../../e2e/requirements.ts'
import { GatewayError } from '../core/error.ts'
import { Secret } from '../lib/secret.ts'
import { threadTime } from '../testing/thread-time.ts'
import { withoutCredential } from './without-credential.ts'

const credential = (secret: string) => ({ id: 'c', secret: new Secret(secret) })
const failure = (text: string): GatewayError =>
  new GatewayError('authentication', `refused: ${text}`, {
    source: 'provider',
    raw: `{"error":"${text}"}`,
    providerCode: `bad_${text}`,
    credentialDead: true,
  })

describe('a failure that quotes the credential', () => {
  it(verifies('G4', 'has it removed, whatever it looks like, and keeps the rest'), () => {
    const clean = withoutCredential(failure('my-own-token-of-no-known-form'), credential('my-own-token-of-no-known-form'))
    expect(clean.message).toBe('refused: [redacted]')
    expect(clean.details).toEqual({ source: 'provider', raw: '{"error":"[redacted]"}', providerCode: 'bad_[redacted]', credentialDead: true })
  })

  it(verifies('G4', 'has every part of it removed, if it has several'), () => {
    const key = credential('{"access_key_id":"AKIACANARY00","secret":"wJalrXUtnFEMI/K7MDENG"}')
    expect(withoutCredential(failure('AKIACANARY00 and wJalrXUtnFEMI/K7MDENG'), key).message).toBe('refused: [redacted] and [redacted]')
    expect(withoutCredential(failure('hunter2hunter2'), credential('user:hunter2hunter2')).message).toBe('refused: [redacted]')
  })
})

describe('a failure that quotes the credential as its server writes texts', () => {
  const KEY = 'Zm9vYmFy/cGFzc3dvcmQ+c2VjcmV0MTIz=='

  it.each([
    ['with escaped slashes', KEY.replaceAll('/', '\\/')],
    ['with characters as numbers', KEY.replaceAll('=', '\\u003d').replaceAll('+', '\\u002B')],
    ['as JSON within JSON', KEY.replaceAll('/', '\\\\\\/').replaceAll('=', '\\\\u003d')],
    ['as a part of an address', encodeURIComponent(KEY)],
    ['as a part of a page', KEY.replaceAll('/', '&#x2F;').replaceAll('=', '&#61;')],
  ])(verifies('G4', '%s has it removed'), (_how, quoted) => {
    const { details } = withoutCredential(failure(quoted), credential(KEY))
    expect(details.raw).toBe('{"error":"[redacted]"}')
  })

  it('is searched in linear time, whatever the answer and the key are', () => {
    const run = '\\'.repeat(60_000)
    const begun = threadTime()
    for (const key of ['////////////', '\\\\\\\\//\\\\//', 'Zm9vYmFy/\\\\=='])
      for (const text of [run, `/${run}`, 'Zm9vYmFy'.repeat(7_000) + run.slice(5), run.repeat(20)]) withoutCredential(failure(text), credential(key))
    expect(threadTime() - begun).toBeLessThan(2_000)
  })
})

describe('a failure that quotes a header the operator has configured', () => {
  it(verifies('G4', 'has it removed, with a credential or without'), () => {
    const quoted = failure('corp-token-4242424242, my-own-token-of-no-known-form')
    const secrets = ['corp-token-4242424242']
    expect(withoutCredential(quoted, credential('my-own-token-of-no-known-form'), secrets).message).toBe('refused: [redacted], [redacted]')
    expect(withoutCredential(quoted, undefined, secrets).details.raw).toBe('{"error":"[redacted], my-own-token-of-no-known-form"}')
  })
})

describe('a failure that quotes a secret that begins like another', () => {
  it(verifies('G4', 'keeps nothing of the longer one'), () => {
    const quoted = failure('corp-key-1234-live')
    expect(withoutCredential(quoted, credential('corp-key-1234'), ['corp-key-1234-live']).message).toBe('refused: [redacted]')
    expect(withoutCredential(quoted, undefined, ['corp-key-1234', 'corp-key-1234-live']).message).toBe('refused: [redacted]')
  })
})

describe('a failure that does not', () => {
  it('is the same object', () => {
    const error = failure('of no interest')
    expect(withoutCredential(error, credential('another-secret'))).toBe(error)
    expect(withoutCredential(error, undefined)).toBe(error)
  })
  it('keeps short words that equal a short credential', () => {
    const error = failure('no key at all')
    expect(withoutCredential(error, credential('key'))).toBe(error)
  })
})
