import { describe, expect, it } from 'vitest'
import { redirectTarget } from './redirect-target.ts'

/** A header's value as HTTP parsers pass it on: a character for each byte. */
const received = (value: string, encoding: 'utf8' | 'latin1' = 'utf8'): string => Buffer.from(value, encoding).toString('latin1')
const target = (location: string): string | undefined => redirectTarget(location, 'https://a.test/x/y?z')?.href

describe('the target of a redirect', () => {
  it.each([
    ['/z', 'https://a.test/z'],
    ['z?q=1#f', 'https://a.test/x/z?q=1#f'],
    ['//b.test/', 'https://b.test/'],
    ['http://b.test/%C3%BC', 'http://b.test/%C3%BC'],
  ])('%s is relative to the page', (location, href) => expect(target(location)).toBe(href))

  it('may be written in UTF-8, also its host', () => {
    expect(target(received('/straße?q=ü'))).toBe('https://a.test/stra%C3%9Fe?q=%C3%BC')
    expect(target(received('https://bücher.test/東京'))).toBe('https://xn--bcher-kva.test/%E6%9D%B1%E4%BA%AC')
  })

  it('keeps the characters of older encodings', () => expect(target(received('/ü', 'latin1'))).toBe('https://a.test/%C3%BC'))

  it('is null if it is no address', () => expect(redirectTarget('http://[bad', 'https://a.test/')).toBeNull())
})
