import { describe, expect, it } from 'vitest'
import { testCatalog, testEndpoint } from '../testing/endpoints.ts'
import { familyOf, parseModelName, resolveModel } from './variants.ts'

describe('parseModelName', () => {
  it.each([
    ['a/b', { base: 'a/b', effects: {}, latest: false }],
    ['a/b:nitro', { base: 'a/b', effects: { sort: 'throughput', admitTier: 'priority' }, latest: false }],
    ['a/b:floor', { base: 'a/b', effects: { sort: 'price', admitTier: 'flex' }, latest: false }],
    ['a/b:free:online', { base: 'a/b', variant: 'free', effects: { online: true }, latest: false }],
    ['a/b:online:free:nitro', { base: 'a/b', variant: 'free', effects: { online: true, sort: 'throughput', admitTier: 'priority' }, latest: false }],
    ['local/llama3:8b', { base: 'local/llama3:8b', effects: {}, latest: false }],
    ['local/llama3:8b:floor', { base: 'local/llama3:8b', effects: { sort: 'price', admitTier: 'flex' }, latest: false }],
    ['a/b:constructor', { base: 'a/b:constructor', effects: {}, latest: false }],
    ['~a/b-latest', { base: '~a/b-latest', effects: {}, latest: true }],
  ])('%s', (name, expected) => expect(parseModelName(name)).toEqual(expected))
})

describe('resolveModel', () => {
  const catalog = testCatalog([], {
    'x/claw-opus-4.1': { created: 1 },
    'x/claw-opus-4.8': { created: 3 },
    'x/claw-opus-4.8:free': { created: 9 },
    'x/claw-haiku-5': { created: 5, aliases: ['haiku'] },
    'x/gem-3-flash-preview': { created: 2 },
    'x/gem-2.5-flash': { created: 1 },
    'x/odd:online': { created: 1 },
  })
  it.each([
    ['~x/claw-opus-latest', 'x/claw-opus-4.8', 'latest'],
    ['~x/gem-flash-latest', 'x/gem-3-flash-preview', 'latest'],
    ['haiku', 'x/claw-haiku-5', 'alias'],
    ['haiku:nitro', 'x/claw-haiku-5', 'alias'],
    ['x/claw-opus-4.8:free', 'x/claw-opus-4.8:free', 'slug'],
    ['x/odd:online', 'x/odd:online', 'slug'],
  ])('%s is %s by %s', (name, slug, via) => {
    const found = resolveModel(name, catalog)
    expect([found?.model.slug, found?.via]).toEqual([slug, via])
  })
  it('knows no family without models, and no unknown name', () => {
    expect(resolveModel('~x/claw-sonnet-latest', catalog)).toBeUndefined()
    expect(resolveModel('x/none:free', catalog)).toBeUndefined()
  })
  it('prefers an alias of the catalog over its own idea of the latest', () => {
    const pinned = testCatalog([testEndpoint()], { 'x/claw-opus-4.1': { created: 1, aliases: ['~x/claw-opus-latest'] }, 'x/claw-opus-4.8': { created: 3 } })
    expect(resolveModel('~x/claw-opus-latest', pinned)?.model.slug).toBe('x/claw-opus-4.1')
  })
  it.each([
    ['openai/gpt-5.2', 'openai/gpt'],
    ['openai/gpt-5-mini', 'openai/gpt-mini'],
    ['deepseek/deepseek-v3.2', 'deepseek/deepseek'],
    ['qwen/qwen3-max', 'qwen/qwen-max'],
    ['vendor/name-2025-05-14', 'vendor/name'],
  ])('the family of %s is %s', (slug, family) => expect(familyOf(slug)).toBe(family))
})
