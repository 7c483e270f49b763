import { expect, it } from 'vitest'
import { isNameOf, writtenName } from './provider-names.ts'

it.each([
  ['zai', 'Z.AI', 'z-ai'],
  ['acme-cn', 'Acme', 'acme-cn'],
  ['acme', 'Müller & Söhne', 'müller-söhne'],
  ['acme', '東京 Infra', '東京-infra'],
  ['acme', '東京', '東京'],
  ['Acme', '***', 'acme'],
])('%s, named %s, is written %s', (slug, name, written) => {
  expect(writtenName({ slug, name })).toBe(written)
})

it('a part of a name matches no provider: prompts could go to the wrong one', () => {
  expect(isNameOf('infra', { slug: 'acme', name: '東京 Infra' })).toBe(false)
  expect(isNameOf(' ', { slug: 'acme', name: '***' })).toBe(false)
  expect(isNameOf('東京 infra', { slug: 'acme', name: '東京 Infra' })).toBe(true)
})
