import { expect, it } from 'vitest'
import type { GenerationSummary } from '../../api/schema.ts'
import { costOf, partlyKnown } from './cost.ts'

const summary = (total_cost: number, upstream_inference_cost: number | null, cost_source: GenerationSummary['cost_source']) =>
  ({ total_cost, upstream_inference_cost, cost_source }) as GenerationSummary

it('a cost is the sum over all payers, and an unknown one is not zero', () => {
  expect([costOf(summary(0.5, null, 'catalog')), costOf(summary(0, 0.25, 'upstream')), costOf(summary(0, null, 'unknown'))]).toEqual([
    '$0.5',
    '$0.25',
    'not known',
  ])
})

it('the known part of a cost is shown, marked as a part', () => {
  expect([costOf(summary(0.01, null, 'unknown')), partlyKnown({ total: 0.01 }), partlyKnown({ total: 0 })]).toEqual([
    '$0.01 or more',
    'at least $0.01: part of it has no price',
    'unknown: no price for this model',
  ])
})
