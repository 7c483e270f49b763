import { expect, test } from 'vitest'
import { computeCost } from '../catalog/cost.ts'
import type { Pricing } from '../core/pricing.ts'
import { createUsage, mendEstimate } from '../core/usage.ts'
import { testEndpoint } from '../testing/endpoints.ts'
import { attemptCost } from './answer-cost.ts'

/** An answer of 1,000 written tokens whose upstream had counted half of them, and charged this much, when it broke off. */
function broken(reportedCost: number, pricing: Pricing) {
  const counted = createUsage({ inputTokens: 10, outputTokens: 500, reportedCost })
  const written = mendEstimate(createUsage({ inputTokens: 5, outputTokens: 1_000, estimated: true }), counted)
  return attemptCost(computeCost, written, { endpoint: testEndpoint({ pricing }), counted })
}

test.each<[string, number, Pricing, object]>([
  ['more than it is worth', 0.5, { input: 0, output: 1 }, { total: 0.5, source: 'upstream' }],
  ['less than it is worth, because more was written since', 0.0005, { input: 0, output: 1 }, { total: 0.001, source: 'catalog' }],
  ['at a price that nobody else knows', 0.5, {}, { total: 0.5, source: 'upstream' }],
  ['nothing', 0, { input: 0, output: 1 }, { total: 0.001, source: 'catalog' }],
  ['nothing, at a price that nobody else knows', 0, {}, { total: 0, source: 'unknown' }],
])('a broken answer costs at least what its upstream had charged by then: %s', (_what, reportedCost, pricing, expected) => {
  expect(broken(reportedCost, pricing)).toMatchObject(expected)
})

test('the charge of an answer that ended is the last one reported', () => {
  const counted = createUsage({ outputTokens: 500, reportedCost: 0.5 })
  const usage = createUsage({ outputTokens: 1_000, reportedCost: 0.4 })
  expect(attemptCost(computeCost, usage, { endpoint: testEndpoint(), counted }).total).toBe(0.4)
})
