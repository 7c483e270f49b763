import { describe, expect, it } from 'vitest'
import { threadTime } from '../testing/thread-time.ts'
import { SourceBook } from './tool-citations.ts'

const moon = 'https://en.wikipedia.org/wiki/Moon_(disambiguation)'

/** The cited addresses of a text, with the words each citation stands on. */
function cited(text: string, ...urls: readonly string[]): readonly (readonly [url: string, words: string])[] {
  const book = new SourceBook()
  book.add(urls.map((url) => ({ url, title: url })))
  return book.cite(text).map(({ url, start_index: start, end_index: end }) => [url, text.slice(start, end)])
}

describe('an address with parentheses is cited', () => {
  it.each([
    [`See [Moon](${moon}).`, `[Moon](${moon})`],
    [`See ${moon} for more.`, moon],
    [`Many things (see ${moon}) have the name.`, moon],
    [`[Moon](${moon}#top), and so on`, `[Moon](${moon}#top)`],
  ])('%s', (text, words) => {
    expect(cited(text, moon)).toEqual([[moon, words]])
  })

  it('if the first parenthesis is never closed', () => {
    expect(cited('at https://a.test/x(y z', 'https://a.test/x(y')).toEqual([['https://a.test/x(y', 'https://a.test/x(y']])
  })
})

it('the parenthesis around a URL is not part of it', () => {
  expect(cited('(https://a.test/x) and (https://a.test/y).', 'https://a.test/x', 'https://a.test/y').map(([, words]) => words)).toEqual([
    'https://a.test/x',
    'https://a.test/y',
  ])
})

it('punctuation at the end of a sentence is not part of a URL', () => {
  expect(cited('See https://a.test/x. Or https://a.test/x?!', 'https://a.test/x').map(([, words]) => words)).toEqual([
    'https://a.test/x',
    'https://a.test/x',
  ])
})

describe('an address in another script', () => {
  it('is cited without the text that follows it', () => {
    const text = '请看https://a.test/x。谢谢，**https://a.test/x**'
    expect(cited(text, 'https://a.test/x').map(([, words]) => words)).toEqual(['https://a.test/x', 'https://a.test/x'])
  })

  it('is cited with letters or escapes, as the search returned it', () => {
    const [letters, escapes] = ['https://bücher.test/月', 'https://xn--bcher-kva.test/%E6%9C%88'] as const
    expect(cited(`see ${letters} now`, escapes)).toEqual([[escapes, letters]])
    expect(cited(`see [it](${escapes}) now`, letters)).toEqual([[letters, `[it](${escapes})`]])
  })
})

it('URLs of punctuation cost no more, because pages can contain any, up to 16 KB', () => {
  const address = `https://a.test/${'!'.repeat(15_000)}x`
  const started = threadTime()
  expect(cited(`at ${`https://a.test/${'!'.repeat(1_900)}x `.repeat(200)}`, ...Array.from({ length: 20 }, (_, n) => `${address}${n}`))).toEqual([])
  expect(threadTime() - started).toBeLessThan(1_000)
})
