import { describe, expect, it } from 'vitest'
import type { GuardrailRules } from '../../core/guardrail.ts'
import { testEndpoint, type EndpointParts } from '../../testing/endpoints.ts'
import { listSteps } from '../../testing/list-steps.ts'
import { compileEndpointRule } from './endpoint-rules.ts'

const judge = (rules: GuardrailRules, parts: EndpointParts): string | undefined =>
  compileEndpointRule([{ id: 'g', name: 'g', scope: 'workspace', rules }])?.(testEndpoint(parts))
const keeps: EndpointParts['policies'] = { zdr: false, dataCollection: 'allow' }
const OF_VENDOR: EndpointParts = { provider: 'zai-2', providerName: 'Z.AI (zai-2)', vendor: { slug: 'zai', name: 'Z.AI' } }

describe('an endpoint may serve', () => {
  it.each<[string, GuardrailRules, EndpointParts, boolean]>([
    ['a model that is allowed', { allowed_models: ['acme/small', 'bolt/*'] }, { model: 'bolt/x' }, true],
    ['no other', { allowed_models: ['acme/small'] }, { model: 'acme/smaller' }, false],
    ['a variant by name', { allowed_models: ['acme/small:free'] }, { model: 'acme/small', variant: 'free' }, true],
    ['a model by its alias', { allowed_models: ['small'] }, { model: 'acme/small', aliases: ['small'] }, true],
    ['not one whose alias is forbidden', { ignored_models: ['small'] }, { model: 'acme/small', aliases: ['small'] }, false],
    ['nor a variant of it', { ignored_models: ['small:free'] }, { model: 'acme/small', variant: 'free', aliases: ['small'] }, false],
    ['not one that is forbidden', { ignored_models: ['acme/*'] }, { model: 'acme/small' }, false],
    [
      'not one that is forbidden, under its provider’s own name',
      { ignored_models: ['google/*'] },
      { model: 'vertex/gemini', knownAs: ['google/gemini'] },
      false,
    ],
    ['not as another that is allowed', { allowed_models: ['google/*'] }, { model: 'vertex/gemini', knownAs: ['google/gemini'] }, false],
    [
      'not with retention, under its provider’s own name',
      { enforce_zdr_google: true },
      { model: 'vertex/gemini', knownAs: ['google/gemini'], policies: keeps },
      false,
    ],
    [
      'with retention, if an alias names no author',
      { enforce_zdr_other: true },
      { model: 'openai/small-1', knownAs: ['openai/small', 'small'], policies: keeps },
      true,
    ],
    ['by slug of the provider', { allowed_providers: ['acme'] }, { tag: 'acme/turbo', provider: 'acme' }, true],
    ['by tag', { allowed_providers: ['acme/turbo'] }, { tag: 'acme/turbo', provider: 'acme' }, true],
    ['by name, whatever its case', { allowed_providers: ['ACME Inc'] }, { providerName: 'Acme Inc' }, true],
    ['by name written like a slug', { allowed_providers: ['acme-inc'] }, { providerName: 'Acme Inc' }, true],
    ['not a tag that is forbidden, whatever its case', { ignored_providers: ['acme/EU'] }, { tag: 'acme/EU', provider: 'acme' }, false],
    ['no other provider', { allowed_providers: ['bolt'] }, { provider: 'acme' }, false],
    ['not a provider that is forbidden', { ignored_providers: ['Acme'] }, { provider: 'acme' }, false],
    ['not an account of a vendor that is forbidden', { ignored_providers: ['z-ai'] }, { ...OF_VENDOR, tag: 'zai-2' }, false],
    ['nor its tier that is forbidden', { ignored_providers: ['zai/flex'] }, { ...OF_VENDOR, tag: 'zai-2/flex' }, false],
    ['without retention, where none is wanted', { enforce_zdr: true }, { policies: { zdr: true } }, true],
    ['not with it', { enforce_zdr: true }, { policies: keeps }, false],
    ['with it, where an author’s own field says so', { enforce_zdr: true, enforce_zdr_xai: false }, { model: 'x-ai/m', policies: keeps }, true],
    ['not with it, where only the author’s field forbids it', { enforce_zdr_openai: true }, { model: 'openai/m', policies: keeps }, false],
    ['with it, for authors of other fields', { enforce_zdr_openai: true }, { model: 'google/m', policies: keeps }, true],
    ['not with it, for all others', { enforce_zdr_other: true }, { model: 'acme/m', policies: keeps }, false],
    ['with it, for an author of a field, where only the others are meant', { enforce_zdr_other: true }, { model: 'openai/m', policies: keeps }, true],
    ['not free and collecting', { enable_free_model_training: false }, { policies: keeps, pricing: { input: 0, output: 0 } }, false],
    ['paid and collecting, where only free ones are meant', { enable_free_model_training: false }, { policies: keeps }, true],
    ['not paid and collecting', { enable_paid_model_training: false }, { policies: keeps }, false],
    ['not free and publishing, for all one knows', { enable_free_model_publication: false }, { policies: keeps, variant: 'free' }, false],
    ['when it collects nothing', { enable_free_model_training: false, enable_paid_model_training: false }, {}, true],
  ])('%s', (_, rules, parts, may) => {
    expect(judge(rules, parts) === undefined).toBe(may)
  })
})

it('all guardrails must agree, and the one that does not is named', () => {
  const rule = compileEndpointRule([
    { id: '1', name: 'wide', scope: 'workspace', rules: { allowed_models: ['acme/*'] } },
    { id: '2', name: 'narrow', scope: 'api-key', rules: { allowed_models: ['acme/small'] } },
  ])!
  expect(rule(testEndpoint({ model: 'acme/small' }))).toBeUndefined()
  expect(rule(testEndpoint({ model: 'acme/large' }))).toBe('the guardrail "narrow" does not allow the model')
  expect(compileEndpointRule([{ id: '1', name: 'x', scope: 'workspace', rules: { content_filters: [], enforce_zdr: false } }])).toBeUndefined()
})

it('a list of patterns is compared with the names of an endpoint once, however often it is asked', () => {
  const patterns = Array.from({ length: 200 }, (_, n) => `*${n}*x*y*z`)
  const endpoints = Array.from({ length: 20 }, (_, n) => testEndpoint({ model: `acme/m${n}-xyz` }))
  const listAll = (): unknown => {
    const rule = compileEndpointRule([{ id: 'g', name: 'g', scope: 'workspace', rules: { ignored_models: patterns } }])!
    return endpoints.map(rule)
  }
  const first = listSteps(listAll)
  expect(first).toBeGreaterThan(patterns.length)
  expect(listSteps(listAll)).toBeLessThan(first / 20)
})
