import { expect, it } from 'vitest'
import { bindsKeyName, bindsSlug, unknownNames } from './configured-names.ts'

const rules = [
  { name: 'by slug', workspaces: ['team-a', 'w-2'], rules: {} },
  { name: 'by key', keys: ['intern', 'abcdef'], rules: {} },
  { name: 'for all', rules: {} },
]

it('recognises slugs and key names that a rule refers to', () => {
  expect(['team-a', 'team-b', 'intern'].map((slug) => bindsSlug(rules, slug))).toEqual([true, false, false])
  expect(['intern', 'boss', 'team-a'].map((name) => bindsKeyName(rules, name))).toEqual([true, false, false])
})

it('lists names that match no workspace and no key', () => {
  expect(unknownNames(rules, [{ id: 'w-2', slug: 'team-b' }], [{ hash: 'abcdef', name: 'boss' }])).toEqual([
    { guardrail: 'by slug', kind: 'workspace', name: 'team-a' },
    { guardrail: 'by key', kind: 'key', name: 'intern' },
  ])
  expect(unknownNames(rules, [{ id: 'w-2', slug: 'team-a' }], [{ hash: 'abcdef', name: 'intern' }])).toEqual([])
})
