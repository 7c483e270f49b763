import { describe, expect, it } from 'vitest'
import type { ModelRequest } from '../../core/request.ts'
import { target } from './__fixtures__/harness.ts'
import type { TargetParts } from './__fixtures__/harness.ts'
import { openAiResponses } from './index.ts'

function reasoning(fields: ModelRequest['reasoning'], options: TargetParts['options'] = {}): unknown {
  const { body } = openAiResponses.encodeRequest({ input: [], reasoning: fields }, target({ options }))
  return (JSON.parse(body) as { readonly reasoning?: unknown }).reasoning
}

describe('reasoning that is switched off', () => {
  const off = { enabled: false, effort: 'high' } as const

  it('is off, whatever effort or budget is set beside the switch', () => {
    expect(reasoning(off)).toEqual({ effort: 'none' })
    expect(reasoning({ enabled: false, max_tokens: 8000 })).toEqual({ effort: 'none' })
    expect(reasoning(off, { reasoning_efforts: ['low', 'high'] })).toEqual({ effort: 'low' })
  })
  it('can be switched off by a budget of zero tokens', () => {
    expect(reasoning({ max_tokens: 0 })).toEqual({ effort: 'none' })
  })
  it('is sent as the switch itself where that is supported', () => {
    expect(reasoning(off, { reasoning_budget: true })).toEqual({ enabled: false })
    expect(reasoning({ max_tokens: 0 }, { reasoning_budget: true })).toEqual({ max_tokens: 0 })
  })
})
