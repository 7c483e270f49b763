import { expect, it, vi } from 'vitest'
import { memoize } from './memoize.ts'

it('asks about each object once, whatever the answer', () => {
  const test = vi.fn(({ n }: { readonly n: number }) => n > 1)
  const [one, two] = [{ n: 1 }, { n: 2 }]
  const ask = memoize(test)
  expect([one, two, one, two, { n: 2 }].map(ask)).toEqual([false, true, false, true, true])
  expect(test).toHaveBeenCalledTimes(3)
})
