import { expect, it } from 'vitest'
import type { ModelRequest } from '../../core/request.ts'
import { bedrockTarget, CLAUDE, NOVA } from './__fixtures__/target.ts'
import { bedrockConverse } from './index.ts'

const most = (model: string, fields: Partial<ModelRequest>): number | undefined =>
  bedrockConverse.mostOutput!({ input: [], ...fields }, bedrockTarget({ model, maxOutputTokens: 64_000 }))

it('mostOutput gives the limit that is sent when reasoning raises the caller’s, and nothing otherwise', () => {
  expect(most(CLAUDE, { max_output_tokens: 16, reasoning: { max_tokens: 50_000 } })).toBe(50_016)
  expect(most(CLAUDE, { max_output_tokens: 60_000, reasoning: { max_tokens: 60_000 } })).toBe(64_000)
  expect(most(CLAUDE, { max_output_tokens: 16 })).toBeUndefined()
  expect(most(CLAUDE, { reasoning: { max_tokens: 50_000 } })).toBeUndefined()
  expect(most(NOVA, { max_output_tokens: 16, reasoning: { max_tokens: 50_000 } })).toBeUndefined()
})
