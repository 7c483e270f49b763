import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { joinSecrets, maskConfig, maskSecret, mergeConfig, splitSecrets } from './destination-config.ts'
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

  it('takes any other value as a new secret, even one that looks like a mask', () => {
    expect(mergeConfig(stored, { secretKey: 'sk-x...AbCd' }, secrets)['secretKey']).toBe('sk-x...AbCd')
  })

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
