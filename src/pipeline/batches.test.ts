import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { BatchLimits, Dialect } from '../core/dialect.ts'
import type { InputItem } from '../core/item.ts'
import { testConnection, testEndpoint } from '../testing/endpoints.ts'
import { estimateItem } from '../router/estimate.ts'
import { batchesOf } from './batches.ts'

const said = (content: string): InputItem => ({ type: 'message', role: 'user', content })
const asking = (input: readonly InputItem[]) => ({ model: 'acme/embed', modalities: ['embeddings'], dimensions: 8, input })

function divide(input: readonly InputItem[], limits: BatchLimits | undefined) {
  const connection = testConnection('acme')
  const dialect: Dialect = { ...connection.dialect, ...(limits === undefined ? {} : { batch: () => limits }) }
  return batchesOf(asking(input), testEndpoint({ connection: { ...connection, dialect } }))
}
const sizes = (input: readonly InputItem[], limits: BatchLimits) => divide(input, limits)?.map((batch) => batch.input.length)
const texts = (count: number, length = 4): readonly InputItem[] => Array.from({ length: count }, () => said('x'.repeat(length)))

describe('a request for embeddings', () => {
  it('is taken as it is by an endpoint without limits, and by one within them', () => {
    expect(divide(texts(5_000), undefined)).toBeUndefined()
    expect(divide(texts(100), { inputs: 100, tokens: 100_000 })).toBeUndefined()
    expect(divide(texts(1, 100_000), { inputs: 1, tokens: 10 })).toBeUndefined()
  })

  it('is made of several where it has more inputs than one may have', () => {
    expect(sizes(texts(201), { inputs: 96 })).toEqual([96, 96, 9])
    expect(sizes(texts(3), { inputs: 1 })).toEqual([1, 1, 1])
  })

  it('is made of several where its inputs have more tokens than one may have, with room for the error of an estimate', () => {
    // 104 tokens each, by the estimate.
    expect(sizes(texts(10, 400), { inputs: 100, tokens: 500 })).toEqual([3, 3, 3, 1])
    expect(sizes([...texts(1), ...texts(1, 40_000), ...texts(2)], { inputs: 100, tokens: 500 })).toEqual([1, 1, 2])
  })

  it('keeps what else it says', () => {
    expect(divide(texts(2), { inputs: 1 })).toEqual([asking(texts(1)), asking(texts(1))])
  })

  it('loses no input and no order', () => {
    const inputs = fc.array(fc.string().map(said), { minLength: 2, maxLength: 60 })
    fc.assert(
      fc.property(
        inputs,
        fc.integer({ min: 1, max: 20 }),
        fc.option(fc.integer({ min: 1, max: 100 }), { nil: undefined }),
        (input, count, tokens) => {
          const batches = divide(input, { inputs: count, tokens })?.map((batch) => batch.input) ?? [input]
          expect(batches.flat()).toEqual(input)
          for (const batch of batches) {
            expect(batch.length).toBeGreaterThan(0)
            expect(batch.length).toBeLessThanOrEqual(count)
            const weight = batch.reduce((sum, item) => sum + estimateItem(item).inputTokens, 0)
            if (batch.length > 1) expect(weight).toBeLessThanOrEqual(tokens ?? Infinity)
          }
        },
      ),
    )
  })
})
