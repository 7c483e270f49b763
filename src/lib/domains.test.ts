import { describe, expect, it } from 'vitest'
import { domainRefusal } from './domains.ts'

describe('domain lists', () => {
  it.each([
    ['https://example.com/', ['example.com'], true],
    ['https://www.example.com/', ['example.com'], true],
    ['https://EXAMPLE.com./', ['Example.com'], true],
    ['https://notexample.com/', ['example.com'], false],
    ['https://example.com.evil.test/', ['example.com'], false],
    ['https://evil.test/example.com', ['example.com'], false],
    ['https://example.com@evil.test/', ['example.com'], false],
    ['https://example.com/docs/a', ['example.com/docs'], true],
    ['https://example.com/docsx', ['example.com/docs'], false],
    ['https://example.com/docs/../admin', ['example.com/docs'], false],
    ['https://a.example.com/', ['*.example.com', 'https://other.test/'], true],
    ['https://example.com/', [''], false],
  ])('%s within %j: %s', (url, allowed, fits) => expect(domainRefusal(url, allowed, []) === undefined).toBe(fits))

  it('blocks what is listed, and nothing when no list is given', () => {
    expect(domainRefusal('https://a.bad.test/', [], ['bad.test'])).toContain('blocked')
    expect(domainRefusal('https://good.test/', [], ['bad.test'])).toBeUndefined()
    expect(domainRefusal('nonsense', [], [])).toContain('not a URL')
  })
})
