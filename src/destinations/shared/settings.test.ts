import { describe, expect, it } from 'vitest'
import { destinationSettings, httpUrl, joinUrl } from './settings.ts'

describe('settings of every type', () => {
  const settings = destinationSettings({ url: httpUrl('Somewhere.') })
  const accepts = (more: object): boolean => settings.safeParse({ url: 'https://example.com', ...more }).success
  const named = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`x-${i}`, 'v']))

  it('take fifty headers of 8,192 characters and no more', () => {
    expect(accepts({ headers: named(50) })).toBe(true)
    expect(accepts({ headers: named(51) })).toBe(false)
    expect(accepts({ headers: { x: 'v'.repeat(8_192) } })).toBe(true)
    expect(accepts({ headers: { x: 'v'.repeat(8_193) } })).toBe(false)
    expect(accepts({ headers: { ['x'.repeat(201)]: 'v' } })).toBe(false)
  })

  it.each(['Proxy-Authorization', 'host', 'Content-Length', 'transfer-encoding', 'connection', 'TE', 'expect', 'content-encoding'])(
    'take no header %s: it is the sender’s own, and no request with it would ever leave',
    (name) => expect(accepts({ headers: { [name]: 'v' } })).toBe(false),
  )

  it.each(['https://user@example.com', 'https://:secret@example.com', 'https://example.com/#part', 'ftp://example.com', 'example.com', ''])(
    'take no address like %s',
    (url) => expect(accepts({ url })).toBe(false),
  )

  it('join addresses and paths, whatever slashes they bring', () => {
    expect(joinUrl('https://example.com/base/?tenant=1', '/v1/traces')).toBe('https://example.com/base/v1/traces?tenant=1')
    expect(joinUrl('https://example.com', 'v1')).toBe('https://example.com/v1')
  })
})
