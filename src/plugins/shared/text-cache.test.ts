import { expect, it } from 'vitest'
import type { Clock } from '../../lib/clock.ts'
import { TextCache } from './text-cache.ts'

let now = 0
const clock: Clock = { now: () => now, monotonic: () => now }

it('the cache keeps the most recently used texts within its bound', () => {
  const cache = new TextCache<string>({ maxChars: 100, ttlMs: 1_000 })
  for (const key of ['a', 'b', 'c', 'd']) cache.set(key, key, 25, clock)
  cache.get('a', clock)
  cache.set('e', 'e', 25, clock)
  expect(['a', 'b', 'c', 'd', 'e'].map((key) => cache.get(key, clock))).toEqual(['a', undefined, 'c', 'd', 'e'])
})
it('the cache does not keep a text that would evict all others', () => {
  const cache = new TextCache<string>({ maxChars: 100, ttlMs: 1_000 })
  cache.set('a', 'a', 26, clock)
  expect(cache.get('a', clock)).toBeUndefined()
})
it('the cache forgets texts after a while', () => {
  const cache = new TextCache<string>({ maxChars: 100, ttlMs: 1_000 })
  cache.set('a', 'a', 10, clock)
  now = 1_000
  expect(cache.get('a', clock)).toBeUndefined()
})
it('the cache keeps a bounded number of texts, however short', () => {
  const cache = new TextCache<string>({ maxChars: 100, ttlMs: 1_000, maxEntries: 2 })
  for (const key of ['a', 'b', 'c']) cache.set(key, key, 0, clock)
  expect(['a', 'b', 'c'].map((key) => cache.get(key, clock))).toEqual([undefined, 'b', 'c'])
})
