import { describe, expect, it } from 'vitest'
import type { Preset } from '../../core/preset.ts'
import { applyPreset } from './apply-preset.ts'

const mail: Preset = {
  id: 'p1',
  slug: 'mail',
  systemPrompt: 'You write mails.',
  config: { model: 'acme/large', models: ['acme/small'], temperature: 0.7, provider: { zdr: true }, tools: [{ type: 'function', name: 'send' }] },
}
const bare: Preset = { id: 'p2', slug: 'bare', systemPrompt: null, config: { top_p: 0.5 } }
const find = (slug: string): Preset | undefined => [mail, bare].find((preset) => preset.slug === slug)
const apply = (body: unknown): unknown => applyPreset(body, find).body

describe('a preset is named', () => {
  it('as the model', () => {
    expect(applyPreset({ model: '@preset/mail', input: 'hi' }, find)).toEqual({
      body: { ...mail.config, instructions: 'You write mails.', input: 'hi' },
      preset: mail,
    })
  })

  it('behind a model, which wins over the preset’s own', () => {
    expect(apply({ model: 'acme/tiny@preset/mail', input: 'hi' })).toMatchObject({ model: 'acme/tiny', models: ['acme/small'], temperature: 0.7 })
  })

  it('by its field, as a slug or in full', () => {
    for (const preset of ['mail', '@preset/mail']) {
      expect(apply({ model: 'acme/tiny', preset, input: 'hi' })).toMatchObject({ model: 'acme/tiny', temperature: 0.7 })
      expect(apply({ preset, input: 'hi' })).toMatchObject({ model: 'acme/large' })
    }
  })

  it('as the first of the models, when no model is given', () => {
    expect(apply({ models: ['@preset/mail', 'acme/last'], input: 'hi' })).toMatchObject({ models: ['acme/large', 'acme/last'], temperature: 0.7 })
  })

  it.each<readonly [readonly string[], readonly string[]]>([
    [
      ['acme/tiny', 'acme/last'],
      ['acme/tiny', 'acme/last'],
    ],
    [
      ['acme/tiny@preset/mail', 'acme/last'],
      ['acme/tiny', 'acme/last'],
    ],
    [['@preset/mail:nitro'], ['acme/large:nitro']],
  ])('and yields to the models the body names: %j', (models, expected) => {
    const applied = apply({ models, preset: 'mail' }) as { readonly model?: unknown; readonly models?: unknown }
    expect([applied.model, applied.models]).toEqual([undefined, expected])
  })

  it('with variants, which belong to the model', () => {
    expect(apply({ model: '@preset/mail:online:nitro' })).toMatchObject({ model: 'acme/large:online:nitro' })
    expect(apply({ model: 'acme/tiny@preset/mail:floor' })).toMatchObject({ model: 'acme/tiny:floor' })
  })

  it('and need not name a model', () => {
    expect(apply({ model: '@preset/bare', input: 'hi' })).toEqual({ model: undefined, top_p: 0.5, input: 'hi' })
  })
})

describe('fields of the request', () => {
  it('win, one by one and whole', () => {
    const body = { model: '@preset/mail', temperature: 0, provider: { sort: 'price' }, instructions: '' }
    expect(apply(body)).toMatchObject({ temperature: 0, provider: { sort: 'price' }, instructions: '', models: ['acme/small'] })
  })

  it('that are null count as absent', () => {
    expect(apply({ model: '@preset/mail', temperature: null, instructions: null })).toMatchObject({
      temperature: 0.7,
      instructions: 'You write mails.',
    })
  })

  it('are left as they were', () => {
    const body = Object.freeze({ model: '@preset/mail', tools: Object.freeze([]) })
    expect(() => apply(body)).not.toThrow()
    const without = { model: 'acme/tiny', input: 'hi' }
    expect(apply(without)).toBe(without)
  })
})

describe('tools are joined', () => {
  const agents = (...names: string[]) => names.map((name) => ({ type: 'gateway:helper', parameters: { name } }))
  const join = (stored: unknown, own: unknown): unknown =>
    (applyPreset({ preset: 'x', tools: own }, () => ({ ...bare, slug: 'x', config: { tools: stored } })).body as { readonly tools: unknown }).tools

  it('by identity, the preset’s order first', () => {
    const mine = { type: 'function', name: 'b', description: 'mine' }
    expect(
      join(
        [
          { type: 'function', name: 'a' },
          { type: 'function', name: 'b' },
        ],
        [{ type: 'function', name: 'c' }, mine],
      ),
    ).toEqual([{ type: 'function', name: 'a' }, mine, { type: 'function', name: 'c' }])
  })

  it('by the name among the parameters, where a tool may stand several times', () => {
    const mine = { type: 'gateway:helper', parameters: { name: 'two', model: 'acme/large' } }
    expect(join(agents('one', 'two'), [mine, ...agents('three')])).toEqual([...agents('one'), mine, ...agents('three')])
  })

  it.each([
    ['in the vendor’s form', (label: string) => ({ type: 'mcp', server_label: label, server_url: `https://${label}.test` })],
    ['among parameters', (label: string) => ({ type: 'gateway:mcp', parameters: { server_label: label, server_url: `https://${label}.test` } })],
  ])('by the label of MCP servers, %s', (_, server) => {
    const mine = { ...server('two'), require_approval: 'never' }
    expect(join([server('one'), server('two')], [mine, server('three')])).toEqual([server('one'), mine, server('three')])
  })

  it('whatever the spelling of their type', () => {
    expect(join([{ type: 'openrouter:datetime' }], [{ type: 'gateway:datetime', parameters: {} }])).toEqual([
      { type: 'gateway:datetime', parameters: {} },
    ])
  })

  it('and anything but a list is left to the validation', () => {
    expect(join([{ type: 'function', name: 'a' }], 'nonsense')).toBe('nonsense')
    expect(() => join([{ type: 'function', name: 'a' }], [null, 7])).not.toThrow()
  })
})

describe('refused are', () => {
  it.each<[string, object, string, string]>([
    ['a preset nobody has', { model: '@preset/none' }, 'not_found', 'There is no preset "none" in this workspace'],
    ['a name that is none', { model: '@preset/' }, 'invalid_request', 'model: must have the slug of a preset after @preset/'],
    ['a name that could be a path', { preset: '../keys' }, 'invalid_request', 'preset: must be the slug of a preset'],
    ['a field that is no text', { preset: 5 }, 'invalid_request', 'preset: must be the slug of a preset'],
    ['two presets', { model: '@preset/mail', preset: 'bare' }, 'invalid_request', 'preset: is another preset than the one of the model, "mail"'],
    [
      'one further down the models',
      { model: 'a/b', models: ['a/b', '@preset/mail'] },
      'invalid_request',
      'models[1]: names a preset; only the first model may',
    ],
    ['a variant of no model', { model: '@preset/bare:nitro' }, 'invalid_request', 'model: asks for :nitro, but the preset names no model'],
  ])('%s', (_, body, errorType, message) => {
    expect(() => apply(body)).toThrow(expect.objectContaining({ errorType, message }) as Error)
  })

  it('and anything but an object is left to the validation', () => {
    for (const body of [null, 'x', [1], 5]) expect(apply(body)).toBe(body)
  })
})
