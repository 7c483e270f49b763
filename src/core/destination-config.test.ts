import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isMask, joinSecrets, maskConfig, maskSecret, mergeConfig, splitSecrets, unknownMask } from './destination-config.ts'
import { verifies } from '../../e2e/requirements.ts'

const secrets = ['secretKey', 'headers.*']
const stored = {
  secretKey: 'sk-lf-0123456789-AbCd',
  publicKey: 'pk-1',
  baseUrl: 'https://a.example',
  headers: { Authorization: 'Bearer long-enough-value', 'X-Short': 'abc' },
}

describe('maskSecret', () => {
  it.each([
    ['sk-lf-0123456789-AbCd', 'sk-l...AbCd'],
    ['123456789012', '1234...9012'],
    ['12345678901', '********'],
    ['', '********'],
  ])('%s reads %s', (value, mask) => expect(maskSecret(value)).toBe(mask))

  it('makes masks that are recognised as such, whatever the secret', () => {
    fc.assert(fc.property(fc.string(), (secret) => isMask(maskSecret(secret))))
  })

  it('holds no half of a character, which strict clients refuse with the whole list', () => {
    for (const password of ['abc\u{1f600}efghijkl', 'abcdefgh\u{1f600}jkl']) {
      const mask = maskSecret(password)
      expect([mask.isWellFormed(), isMask(mask)]).toEqual([true, true])
      expect(mergeConfig({ secretKey: password }, { secretKey: mask }, secrets)).toEqual({ secretKey: password })
    }
  })

  it.each(['', 'abc', '*******', '*********', 'sk-lf-0123456789-AbCd', 'abcd..efgh', 'abcd...efghi', 'a...b'])('%j is none', (text) =>
    expect(isMask(text)).toBe(false),
  )
})

describe('a read', () => {
  it(verifies('G5', 'masks secrets and header values, and nothing else'), () => {
    expect(maskConfig(stored, secrets)).toEqual({
      secretKey: 'sk-l...AbCd',
      publicKey: 'pk-1',
      baseUrl: 'https://a.example',
      headers: { Authorization: 'Bear...alue', 'X-Short': '********' },
    })
  })
})

describe('a PATCH', () => {
  it('keeps what it does not name and what it sends back masked', () => {
    expect(mergeConfig(stored, maskConfig(stored, secrets), secrets)).toEqual(stored)
    expect(mergeConfig(stored, { baseUrl: 'https://b.example' }, secrets)).toEqual({ ...stored, baseUrl: 'https://b.example' })
  })

  it('keeps each of two headers whose names differ in case alone', () => {
    const twice = { headers: { 'x-key': 'the first of two values', 'X-Key': 'the second of two values' } }
    expect(mergeConfig(twice, maskConfig(twice, secrets), secrets)).toEqual(twice)
  })

  it('takes any other value as a new secret', () => {
    expect(mergeConfig(stored, { secretKey: 'sk-lf-new' }, secrets)['secretKey']).toBe('sk-lf-new')
  })

  it.each(['sk-x...OlD1', '********', '****...AbCd'])(verifies('G5', 'ignores the mask %s of a value that was stored before'), (mask) => {
    const patch = { secretKey: mask, headers: { authorization: mask, 'x-short': mask } }
    expect(mergeConfig(stored, patch, secrets)).toEqual({
      ...stored,
      headers: { authorization: stored.headers.Authorization, 'x-short': stored.headers['X-Short'] },
    })
    expect(unknownMask(stored, patch, secrets)).toBeUndefined()
  })

  it.each([
    ['a header nothing is stored for', stored, { headers: { 'X-Other': '********' } }, 'headers.X-Other'],
    ['a key nothing is stored for', { publicKey: 'pk-1' }, { secretKey: 'sk-l...AbCd' }, 'secretKey'],
    ['anything when nothing is stored', {}, maskConfig(stored, secrets), 'secretKey'],
  ])('recognises the mask for %s', (_what, before, patch, path) => expect(unknownMask(before, patch, secrets)).toBe(path))

  it('replaces headers as a whole, keeping masked values of the same name in any case', () => {
    expect(mergeConfig(stored, { headers: { authorization: 'Bear...alue', 'X-New': 'n' } }, secrets)['headers']).toEqual({
      authorization: 'Bearer long-enough-value',
      'X-New': 'n',
    })
  })

  it('removes what it sets to null', () => {
    expect(mergeConfig(stored, { headers: null }, secrets)).not.toHaveProperty('headers')
  })
})

describe('at rest', () => {
  it('secrets are stored apart, and joining gives the whole back', () => {
    const { open, secret } = splitSecrets(stored, secrets)
    expect(open).toEqual({ publicKey: 'pk-1', baseUrl: 'https://a.example' })
    expect(joinSecrets(open, secret)).toEqual(stored)
  })

  it('no secret value is left in the open half or in a read', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 12 }), fc.string({ minLength: 12 }), (key, header) => {
        const config = { secretKey: `S1${key}`, headers: { h: `S2${header}` }, other: 1 }
        const text = JSON.stringify([splitSecrets(config, secrets).open, maskConfig(config, secrets)])
        expect(text).not.toContain(JSON.stringify(config.secretKey))
        expect(text).not.toContain(JSON.stringify(config.headers.h))
      }),
    )
  })
})
