import { expect, it } from 'vitest'
import { placeBreakpoints } from './cache.ts'

const SHORT = { type: 'ephemeral' } as const
const LONG = { type: 'ephemeral', ttl: '1h' } as const
const part = (text: string, mark?: object): object => ({ type: 'text', text, ...(mark === undefined ? {} : { cache_control: mark }) })
const user = (...content: readonly object[]): { role: string; content: readonly object[] } => ({ role: 'user', content })
const PART = /"text":"(\w)"(?:,"cache_control":\{"type":"ephemeral"(?:,"ttl":"(\w+)")?\})?/g
const marksOf = (messages: readonly object[]): string[] =>
  [...JSON.stringify(messages).matchAll(PART)].map(([whole, text, ttl]) => (whole.includes('cache_control') ? `${text} ${ttl ?? 'short'}` : text!))

it('keeps the last four breakpoints, the one the caller asks for at the end among them', () => {
  const messages = [
    user(part('a', SHORT), part('b', SHORT)),
    { role: 'assistant', content: 'x' },
    user(part('c', SHORT), part('d', SHORT), part('e')),
  ]
  const dropped: string[] = []
  const placed = placeBreakpoints(messages, { cache_control: SHORT }, { cache_breakpoints: true }, dropped)
  expect(marksOf(placed)).toEqual(['a', 'b short', 'c short', 'd short', 'e short'])
  expect(dropped).toEqual(['prompt_cache_breakpoint: more than the endpoint takes'])
  expect(marksOf(messages)).toEqual(['a short', 'b short', 'c short', 'd short', 'e'])
})

it('lets those before a long-lived one live as long', () => {
  const dropped: string[] = []
  const placed = placeBreakpoints([user(part('a', SHORT)), user(part('b'))], { cache_control: LONG }, { cache_breakpoints: true }, dropped)
  expect(marksOf(placed)).toEqual(['a 1h', 'b 1h'])
  expect(dropped).toEqual([])
})

it('leaves alone what is valid, and servers that know no breakpoints', () => {
  const messages = [user(part('a', LONG)), user(part('b', LONG))]
  expect(placeBreakpoints(messages, {}, { cache_breakpoints: true }, [])).toBe(messages)
  expect(placeBreakpoints(messages, { cache_control: LONG }, { cache_breakpoints: false }, [])).toBe(messages)
})
