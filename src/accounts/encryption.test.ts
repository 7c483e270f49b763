import { randomBytes } from 'node:crypto'
import { inspect } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { FactStore } from '../core/store.ts'
import { Secret } from '../lib/secret.ts'
import { createStore } from '../store/index.ts'
import { createEncryption, generateSecretKey, parseSecretKey, verifySecretKey } from './encryption.ts'
import { verifies } from '../../e2e/requirements.ts'

const newKey = () => randomBytes(32)
const canary = new Secret('canary-secret-text')

describe('an envelope', () => {
  const current = newKey()
  const encryption = createEncryption({ current })

  it('decrypts to the original text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (text, context) => {
        expect(encryption.open(encryption.seal(new Secret(text), context), context).reveal()).toBe(text)
      }),
    )
  })

  it('shows nothing of the secret, and is different each time', () => {
    const envelopes = Array.from({ length: 20 }, () => encryption.seal(canary, 'c'))
    expect(new Set(envelopes).size).toBe(20)
    for (const envelope of envelopes) expect(Buffer.from(envelope.split('.')[3] ?? '', 'base64url').toString()).not.toContain('canary')
    expect(inspect(encryption.open(envelopes[0] ?? '', 'c'))).toBe('[redacted]')
  })

  it('does not open for another record', () => {
    const envelope = encryption.seal(canary, 'destination:1')
    expect(() => encryption.open(envelope, 'destination:2')).toThrow('cannot be decrypted')
  })

  it(verifies('G2', 'does not open when any character is changed, removed or added'), () => {
    const envelope = encryption.seal(canary, 'c')
    for (let i = 0; i < envelope.length; i++) {
      for (const other of ['A', 'b', '-', '=', '.', ' ']) {
        if (envelope[i] === other) continue
        const changed = envelope.slice(0, i) + other + envelope.slice(i + 1)
        expect(() => encryption.open(changed, 'c')).toThrow()
      }
      expect(() => encryption.open(envelope.slice(0, i) + envelope.slice(i + 1), 'c')).toThrow()
    }
    for (const added of ['A', '=', '.', '\n']) expect(() => encryption.open(envelope + added, 'c')).toThrow()
  })

  it('does not open with parts of two envelopes', () => {
    const [a, b] = [encryption.seal(canary, 'c').split('.'), encryption.seal(canary, 'c').split('.')]
    expect(() => encryption.open([a[0], a[1], a[2], b[3]].join('.'), 'c')).toThrow('cannot be decrypted')
  })

  it('never shows the secret, the key or itself in an error', () => {
    const envelope = encryption.seal(canary, 'c')
    for (const broken of [envelope.slice(0, -2), `${envelope}x`, 'canary-envelope', '']) {
      try {
        encryption.open(broken, 'c')
        expect.unreachable()
      } catch (error) {
        const shown = inspect(error, { depth: 10, showHidden: true })
        for (const text of ['canary', current.toString('base64'), current.toString('hex'), envelope.slice(20)]) expect(shown).not.toContain(text)
      }
    }
  })

  it(verifies('G2', 'does not open with another master key, and says which one it wants'), () => {
    const envelope = encryption.seal(canary, 'c')
    const other = createEncryption({ current: newKey() })
    expect(() => other.open(envelope, 'c')).toThrow(encryption.keyId)
    expect(() => other.open(envelope, 'c')).toThrow(other.keyId)
  })

  it('moves to a new master key without touching the secret', () => {
    const envelope = encryption.seal(canary, 'c')
    const next = newKey()
    const rotating = createEncryption({ current: next, previous: [current] })
    expect(rotating.open(envelope, 'c').reveal()).toBe(canary.reveal())
    const rewrapped = rotating.rewrap(envelope, 'c')
    expect(rewrapped.split('.')[3]).toBe(envelope.split('.')[3])
    expect(rotating.rewrap(rewrapped, 'c')).toBe(rewrapped)
    const after = createEncryption({ current: next })
    expect(after.open(rewrapped, 'c').reveal()).toBe(canary.reveal())
    expect(() => after.open(envelope, 'c')).toThrow(encryption.keyId)
    expect(() => rotating.rewrap(envelope, 'other')).toThrow('cannot be decrypted')
  })
})

describe('a master key', () => {
  it('is 32 bytes in base64, either alphabet', () => {
    const bytes = Buffer.alloc(32, 0xfb)
    expect(parseSecretKey(new Secret(bytes.toString('base64')), 'X')).toEqual(bytes)
    expect(parseSecretKey(new Secret(`${bytes.toString('base64url')}\n`), 'X')).toEqual(bytes)
    expect(parseSecretKey(generateSecretKey(), 'X')).toHaveLength(32)
  })

  it.each([
    '',
    'canary',
    'x'.repeat(32),
    randomBytes(31).toString('base64'),
    randomBytes(33).toString('base64'),
    `${randomBytes(32).toString('base64')}!`,
  ])('is refused as %j with a sentence that says what would be right and not what was given', (text) => {
    const parse = () => parseSecretKey(new Secret(text), 'SIGNALBOX_SECRET_KEY')
    expect(parse).toThrow('SIGNALBOX_SECRET_KEY must be 32 bytes in base64; make one with: openssl rand -base64 32')
  })
})

describe('the canary of the secret key', () => {
  const withFacts = async (use: (facts: FactStore) => Promise<void>) => {
    const store = await createStore({ path: ':memory:' })
    await store.migrate()
    await use(store.facts)
    await store.close()
  }

  it(verifies('G2', 'lets the same key start again and refuses any other, in one sentence'), () =>
    withFacts(async (facts) => {
      const encryption = createEncryption({ current: newKey() })
      await verifySecretKey(encryption, facts)
      await verifySecretKey(encryption, facts)
      const other = createEncryption({ current: newKey() })
      await expect(verifySecretKey(other, facts)).rejects.toMatchObject({
        errorType: 'precondition_failed',
        message: `The secret key (${other.keyId}) is not the one the secrets in this database are encrypted with (${encryption.keyId}): set SIGNALBOX_SECRET_KEY, or secret.key in the data directory, to that key`,
      })
    }),
  )

  it('moves to the new key of a rotation, and the old one is refused from then on', () =>
    withFacts(async (facts) => {
      const [old, next] = [newKey(), newKey()]
      await verifySecretKey(createEncryption({ current: old }), facts)
      await verifySecretKey(createEncryption({ current: next, previous: [old] }), facts)
      await verifySecretKey(createEncryption({ current: next }), facts)
      await expect(verifySecretKey(createEncryption({ current: old }), facts)).rejects.toMatchObject({ errorType: 'precondition_failed' })
    }))

  it('is planted once when several processes start together; a process with another key is refused', () =>
    withFacts(async (facts) => {
      const encryption = createEncryption({ current: newKey() })
      await Promise.all(Array.from({ length: 5 }, () => verifySecretKey(encryption, facts)))
      const rivals = Array.from({ length: 3 }, () => createEncryption({ current: newKey() }))
      const outcomes = await Promise.allSettled(rivals.map((rival) => verifySecretKey(rival, facts)))
      expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true)
      await verifySecretKey(encryption, facts)
    }))

  it('is refused when it was tampered with', () =>
    withFacts(async (facts) => {
      const encryption = createEncryption({ current: newKey() })
      await facts.replace('secret-key-canary', undefined, encryption.seal(new Secret('something else'), 'secret-key-canary'))
      await expect(verifySecretKey(encryption, facts)).rejects.toMatchObject({ errorType: 'precondition_failed' })
    }))
})
