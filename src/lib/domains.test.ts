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
    ['https://a.example.com/', ['.example.com'], true],
    ['https://example.com/', ['//example.com'], true],
    ['https://example.com/docs/a', ['example.com/docs/*'], true],
    ['https://example.com/docsx', ['example.com/docs/*'], false],
    ['https://example.com/docs?a', ['https://example.com/docs?b#c'], true],
    ['https://example.com/', ['*'], true],
    ['https://xn--bcher-kva.example/', ['bücher.example'], true],
    ['https://bücher.example/', ['xn--bcher-kva.example'], true],
    ['https://example.com/docs/..%2fadmin', ['example.com/docs'], false],
    ['https://example.com/x/..%2fdocs', ['example.com/docs'], false],
    ['https://example.com/%64ocs/a', ['example.com/docs'], false],
    ['https://example.com/b%C3%BCcher/a', ['example.com/b%C3%BCcher'], true],
  ])('%s within %j: %s', (url, allowed, fits) => expect(domainRefusal(url, allowed, []) === undefined).toBe(fits))

  it.each([
    ['as it stands', 'https://example.com/private/x', 'example.com/private'],
    ['with a letter encoded', 'https://example.com/%70rivate/x', 'example.com/private'],
    ['with a letter encoded twice', 'https://example.com/%2570rivate/x', 'example.com/private'],
    ['with its end encoded', 'https://example.com/private%2fx', 'example.com/private'],
    ['with bytes that are no text', 'https://example.com/%70rivate/%ff', 'example.com/private'],
    ['after an empty part', 'https://example.com//private/x', 'example.com/private'],
    ['after a detour', 'https://example.com/a/..%2f%2e%2e/private', 'example.com/private'],
    ['after a part that is a dot', 'https://example.com/%252e/private', 'example.com/private'],
    ['behind a backslash', 'https://example.com/%5cprivate', 'example.com/private'],
    ['listed in its encoded form', 'https://example.com/a b', 'example.com/a%20b'],
    ['of a name in another script', 'https://bücher.example/', 'BÜCHER.example'],
    ['of such a name as it is sent', 'https://xn--bcher-kva.example/', 'https://bücher.example/'],
    ['listed with a dot before it', 'https://example.com/', '.example.com'],
    ['listed with all that is in it', 'https://example.com/a', 'example.com/*'],
    ['listed without a scheme', 'https://example.com/a', '//example.com/a'],
    ['listed with a query', 'https://example.com/a', 'https://example.com/a?b'],
    ['like all others', 'https://example.com/', '*'],
    ['at another port', 'https://example.com:8443/', 'example.com'],
  ])('a blocked place is blocked %s', (_how, url, listed) => expect(domainRefusal(url, [], [listed])).toContain('blocked'))

  it('blocks what is listed, and nothing when no list is given', () => {
    expect(domainRefusal('https://a.bad.test/', [], ['bad.test'])).toContain('blocked')
    expect(domainRefusal('https://good.test/', [], ['bad.test'])).toBeUndefined()
    expect(domainRefusal('nonsense', [], [])).toContain('not a URL')
  })
})
