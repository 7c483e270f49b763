import { describe, expect, it } from 'vitest'
import type { Model } from '../core/endpoint.ts'
import { testCatalog } from '../testing/endpoints.ts'
import { parseModelName, resolveModel } from './variants.ts'

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
    'x/claw-opus-4.8': { created: 3, aliases: ['~x/claw-opus-latest'] },
    'x/claw-opus-4.8:free': { created: 9 },
    'x/claw-haiku-5': { created: 5, aliases: ['haiku'] },
    'x/claw-haiku-5:free': { created: 5 },
    'x/odd:online': { created: 1 },
    'x/own': { created: 1, aliases: ['own:free', 'own:nitro'] },
  })
  it.each([
    ['~x/claw-opus-latest', 'x/claw-opus-4.8', 'latest'],
    ['~x/claw-opus-latest:nitro', 'x/claw-opus-4.8', 'latest'],
    ['haiku', 'x/claw-haiku-5', 'alias'],
    ['haiku:nitro', 'x/claw-haiku-5', 'alias'],
    ['haiku:free', 'x/claw-haiku-5:free', 'alias'],
    ['haiku:free:nitro', 'x/claw-haiku-5:free', 'alias'],
    ['haiku:thinking', 'x/claw-haiku-5', 'alias'],
    ['~x/claw-opus-latest:free', 'x/claw-opus-4.8:free', 'latest'],
    ['x/claw-opus-4.8:free', 'x/claw-opus-4.8:free', 'slug'],
    ['x/odd:online', 'x/odd:online', 'slug'],
  ])('%s is %s by %s', (name, slug, via) => {
    const found = resolveModel(name, catalog)
    expect([found?.model.slug, found?.via]).toEqual([slug, via])
  })
  it.each([
    ['x/fine:exacto', 'x/fine:exacto', undefined],
    ['fine:exacto', 'x/fine:exacto', undefined],
    ['x/fine:exacto:nitro', 'x/fine:exacto', 'throughput'],
    ['x/fine:nitro:exacto', 'x/fine:exacto', 'throughput'],
    ['x/claw-haiku-5:exacto', 'x/claw-haiku-5', 'exacto'],
    ['x/claw-haiku-5:floor:exacto', 'x/claw-haiku-5', 'exacto'],
  ])('%s is %s: a suffix that sorts is the variant of that name where there is one', (name, slug, sort) => {
    const listed = testCatalog([], { 'x/fine': { aliases: ['fine'] }, 'x/fine:exacto': {}, 'x/claw-haiku-5': {} })
    // Like the catalog: suffixes that sort are omitted if nothing has the full name.
    const find = (wanted: string): Model | undefined => listed.find(wanted) ?? listed.find(wanted.replace(/(:exacto|:nitro|:floor)+$/, ''))
    const found = resolveModel(name, { ...listed, find })
    expect([found?.model.slug, found?.effects.sort, found?.anyVariant]).toEqual([slug, sort, slug.includes(':')])
  })
  it.each(['own:free', 'own:nitro'])('%s is what an operator called a model, and no variant of it', (name) => {
    expect(resolveModel(name, catalog)).toMatchObject({ model: { slug: 'x/own' }, variant: undefined, anyVariant: false, effects: {}, via: 'alias' })
  })

  it('knows no family without models, and no unknown name', () => {
    expect(resolveModel('~x/claw-sonnet-latest', catalog)).toBeUndefined()
    expect(resolveModel('x/none:free', catalog)).toBeUndefined()
  })
})
