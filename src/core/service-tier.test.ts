import { expect, it } from 'vitest'
import { tierServed } from './service-tier.ts'

it.each([
  ['what the upstream says', 'default', 'priority', 'flex', 'default'],
  ['the endpoint’s, when the upstream says nothing', undefined, 'flex', 'priority', 'flex'],
  ['the endpoint’s, when the upstream only says that it chose', 'auto', 'flex', undefined, 'flex'],
  ['the endpoint’s, when the upstream says what no answer may say', 'turbo', 'priority', undefined, 'priority'],
  ['what was asked for, when nobody knows more', undefined, undefined, 'scale', 'scale'],
  ['priority when fast was asked for', undefined, undefined, 'fast', 'priority'],
  ['default when auto was asked for', undefined, undefined, 'auto', 'default'],
  ['default when nothing was', undefined, undefined, null, 'default'],
] as const)('the tier of an answer is %s', (_what, told, own, asked, tier) => {
  expect(tierServed(told, own, { service_tier: asked })).toBe(tier)
})

it('the tier of an answer is not the requested one where the upstream never got it', () => {
  expect(tierServed(undefined, undefined, { service_tier: 'priority' }, ['user', 'service_tier'])).toBe('default')
  expect(tierServed('flex', undefined, { service_tier: 'priority' }, ['service_tier'])).toBe('flex')
})
