import { expect, it } from 'vitest'
import { target } from './__fixtures__/harness.ts'
import type { TargetParts } from './__fixtures__/harness.ts'
import { openAiResponses } from './index.ts'

function encode(tools: readonly { readonly type: string }[], options: TargetParts['options'] = {}) {
  const { body, dropped } = openAiResponses.encodeRequest({ input: [], tools }, target({ options }))
  return { tools: (JSON.parse(body) as { readonly tools: unknown }).tools, dropped }
}

it('a search has no field for which the vendor would refuse the call', () => {
  const search = {
    type: 'web_search',
    engine: 'auto',
    mode: 'fast',
    max_results: 3,
    max_uses: 2,
    search_context_size: 'low',
    external_web_access: false,
    filters: { allowed_domains: null, excluded_domains: ['a.test', 'b.test'], blocked_domains: ['a.test'] },
  }
  const { tools, dropped } = encode([search])
  expect(tools).toEqual([
    { type: 'web_search', search_context_size: 'low', external_web_access: false, filters: { blocked_domains: ['a.test', 'b.test'] } },
  ])
  expect(dropped).toEqual(['tools: web_search.mode', 'tools: web_search.max_results', 'tools: web_search.max_uses'])
  const empty = { type: 'web_search_preview', engine: 'native', max_uses: null, filters: { allowed_domains: [], blocked_domains: null } }
  expect(encode([empty, { type: 'web_search', filters: null } as never])).toEqual({
    tools: [{ type: 'web_search_preview' }, { type: 'web_search' }],
    dropped: [],
  })
})

it('a search keeps supported fields, and uses the vendor’s name for excluded domains', () => {
  const search = { type: 'web_search', engine: 'exa', max_uses: 2, filters: { allowed_domains: ['c.test'], blocked_domains: ['a.test'] } }
  const { tools, dropped } = encode([search], { search_bounds: true, search_exclusions: 'excluded_domains' })
  expect(tools).toEqual([{ ...search, filters: { allowed_domains: ['c.test'], excluded_domains: ['a.test'] } }])
  expect(dropped).toEqual([])
})
