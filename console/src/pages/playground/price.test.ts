import { expect, it } from 'vitest'
import { priceOf } from './price.ts'

it('prices of models are shown per million tokens, an unknown one as a dash, and nothing if both are unknown', () => {
  expect(priceOf({ prompt: '0.0000025', completion: '0.00001' })).toBe('$2.50 in, $10.00 out')
  expect(priceOf({ prompt: '0', completion: '0' })).toBe('free')
  expect(priceOf({ prompt: '-1', completion: '-1' })).toBe('')
  expect(priceOf({ prompt: '0.0000025', completion: '-1' })).toBe('$2.50 in, – out')
})
