import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { contextOf } from '../../cli/import.ts'
import type { ImportContext, Imported } from '../shared/importer.ts'
import { portkey } from './index.ts'

let context: ImportContext
beforeAll(async () => {
  context = await contextOf(Date.parse('2026-11-01'))
})

const ofFile = (name: string): Imported => portkey.read(JSON.parse(readFileSync(join(import.meta.dirname, '__fixtures__', name), 'utf8')), context)
const endpoints = ({ file }: Imported, name: string) =>
  file.models.find(({ slug, aliases }) => slug === name || aliases?.includes(name) === true)?.endpoints
const noteAt = ({ notes }: Imported, path: string) => notes.find((one) => one.path === path)

describe('a config of Portkey', () => {
  it('is a model: balanced targets by weight, and what they fall back to', () => {
    const nested = ofFile('nested.json')
    expect(endpoints(nested, 'portkey/config')).toEqual([
      { provider: 'openai', upstream_model: 'gpt-4o', weight: 7 },
      { provider: 'azure', upstream_model: 'gpt-4o-eu', weight: 3 },
      { provider: 'anthropic', upstream_model: 'claude-sonnet-4-5', weight: 0 },
      { provider: 'amazon-bedrock', upstream_model: 'anthropic.claude-3-haiku-20240307-v1:0', weight: 0 },
    ])
    expect(nested.file['defaults']).toEqual({ model: 'portkey/config' })
    expect(nested.file.providers).toEqual([
      { slug: 'openai', api_keys: ['${OPENAI_PROD_API_KEY}'], timeouts: { first_token: '30s' } },
      { slug: 'azure', api_keys: ['sk-plain-text'], settings: { resource: 'our-eu' }, timeouts: { first_token: '30s' } },
      { slug: 'anthropic', api_keys: ['${ANTHROPIC_MAIN_API_KEY}'], timeouts: { first_token: '30s' } },
      {
        slug: 'amazon-bedrock',
        api_keys: ['${AWS_SECRET}'],
        settings: { region: 'us-east-1', access_key_id: '${AWS_ID}' },
        timeouts: { first_token: '30s' },
      },
    ])
    expect(noteAt(nested, 'request_timeout')?.message).toContain('until the answer begins')
    expect(noteAt(nested, 'targets[3]')).toMatchObject({ kind: 'lost' })
    expect(noteAt(nested, 'targets[0].targets[1].api_key')?.message).toContain('plain text')
    expect(noteAt(nested, 'targets[0].targets[0].override_params.temperature')?.message).toContain('preset')
    expect(noteAt(nested, 'targets[1].forward_headers')?.message).toContain('headers of the provider')
    expect(noteAt(nested, 'cache')?.message).toContain('identical')
    expect(noteAt(nested, 'input_guardrails')?.message).toContain('guardrails')
  })

  it('with conditions is a model for each target, with its name', () => {
    const conditional = ofFile('conditional.json')
    expect(endpoints(conditional, 'strong')).toMatchObject([{ provider: 'openai', upstream_model: 'gpt-4o' }])
    expect(endpoints(conditional, 'cheap')).toMatchObject([{ provider: 'ollama' }])
    expect(endpoints(conditional, 'portkey/config')).toMatchObject([{ provider: 'ollama', upstream_model: 'llama3.2' }])
    expect(noteAt(conditional, 'strategy.conditions[0]')?.message).toContain('nothing chooses by conditions')
  })

  it('without models is its providers, and callers name the model', () => {
    const balance = ofFile('balance.json')
    expect(balance.file).toEqual({
      providers: [
        { slug: 'openai', api_keys: ['${OPENAI_A}'] },
        { slug: 'openai-2', vendor: 'openai', api_keys: ['${OPENAI_B}'] },
      ],
      models: [],
    })
    expect(noteAt(balance, 'targets[0].provider')?.message).toContain('takes the model that callers name')
  })

  it('is reported with what to do for members that have a counterpart', () => {
    const target = { provider: 'openai', api_key: '{{K}}', override_params: { model: 'gpt-4o', user: 'u', top_k: 1 }, anthropic_beta: 'b' }
    const inner = { name: 'group', strategy: { mode: 'loadbalance', sticky_session: { ttl: 60 } }, targets: [target] }
    const { notes } = portkey.read({ strategy: { mode: 'fallback' }, drop_params: true, default_input_guardrails: ['g'], targets: [inner] }, context)
    expect(notes.filter(({ message }) => message.includes('or is not known'))).toEqual([])
  })

  it('may name providers in its models alone, as the page of Portkey advises', () => {
    const target = (model: string) => ({ override_params: { model } })
    const targets = [
      target('@openai-prod/gpt-4o'),
      target('@bedrock-eu/eu.anthropic.claude-sonnet-4-5-20250929-v1:0'),
      target('@vertex-prod/gemini-2.5-pro'),
    ]
    const imported = portkey.read({ strategy: { mode: 'fallback' }, targets }, context)
    expect(endpoints(imported, 'portkey/config')).toEqual([
      { provider: 'openai', upstream_model: 'gpt-4o' },
      { provider: 'amazon-bedrock', upstream_model: 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0', weight: 0 },
      { provider: 'google-vertex', upstream_model: 'gemini-2.5-pro', weight: 0 },
    ])
    expect(imported.file.providers[0]).toEqual({ slug: 'openai', api_keys: ['${OPENAI_PROD_API_KEY}'] })
    expect(noteAt(imported, 'targets[0].override_params.model')?.message).toContain('OPENAI_PROD_API_KEY')
    expect(endpoints(portkey.read(target('@openai-prod/gpt-4o'), context), 'portkey/config')).toMatchObject([{ provider: 'openai' }])
  })

  it('asks the provider that the model of a target names, whatever stands around it', () => {
    const targets = [{ override_params: { model: '@openai-prod/gpt-4o' } }, { override_params: { model: 'claude-sonnet-4-5' } }]
    const imported = portkey.read({ provider: '@anthropic-prod', strategy: { mode: 'fallback' }, targets }, context)
    expect(endpoints(imported, 'portkey/config')).toMatchObject([{ provider: 'openai' }, { provider: 'anthropic' }])
  })

  it('with conditions on the model alone keeps the names that callers use', () => {
    const model = (query: unknown, then: string) => ({ query: { 'params.model': query }, then })
    const conditions = [model({ $eq: 'fast' }, 'a'), model({ $in: ['smart', 'smarter'] }, 'b'), model('plain', 'b'), model({ $regex: '^x' }, 'a')]
    const targets = [
      { name: 'a', override_params: { model: '@openai-prod/gpt-4o-mini' } },
      { name: 'b', override_params: { model: '@anthropic-prod/claude-sonnet-4-5' } },
    ]
    const imported = portkey.read({ strategy: { mode: 'conditional', conditions, default: 'a' }, targets }, context)
    expect(endpoints(imported, 'fast')).toMatchObject([{ provider: 'openai' }])
    for (const name of ['b', 'smart', 'smarter', 'plain']) expect(endpoints(imported, name)).toMatchObject([{ provider: 'anthropic' }])
    expect(imported.notes.map(({ path }) => path).filter((path) => path.startsWith('strategy.conditions'))).toEqual(['strategy.conditions[3]'])
  })

  it('leaves out targets that balancing gives no call', () => {
    const target = (model: string, weight: number) => ({ override_params: { model }, weight })
    const targets = [target('@openai-prod/gpt-4o', 1), target('@azure-old/gpt-4o', 0)]
    const imported = portkey.read({ strategy: { mode: 'loadbalance' }, targets }, context)
    expect(imported.file.providers.map(({ slug }) => slug)).toEqual(['openai'])
    expect(endpoints(imported, 'portkey/config')).toEqual([{ provider: 'openai', upstream_model: 'gpt-4o' }])
    expect(noteAt(imported, 'targets[1]')).toMatchObject({ kind: 'fine', message: expect.stringContaining('weight 0') as string })
  })

  it('balances as it says: a target without a weight has 1, and what is balanced within has a share of its own', () => {
    const target = (model: string, weight?: number) => ({ override_params: { model }, ...(weight === undefined ? {} : { weight }) })
    const inner = { strategy: { mode: 'loadbalance' }, weight: 2, targets: [target('@groq/a', 3), target('@cerebras/a')] }
    const targets = [target('@openai/gpt-4o', 4), target('@azure/gpt-4o'), inner]
    const imported = portkey.read({ strategy: { mode: 'loadbalance' }, targets }, context)
    expect(endpoints(imported, 'portkey/config')?.map(({ provider, weight }) => [provider, weight])).toEqual([
      ['openai', 8],
      ['azure', 2],
      ['groq', 3],
      ['cerebras', 1],
    ])
  })

  it('merges the parameters of a target with those around it', () => {
    const targets = [{ provider: '@openai', override_params: { max_tokens: 9 } }, { provider: '@azure' }]
    const imported = portkey.read({ strategy: { mode: 'loadbalance' }, override_params: { model: 'gpt-4o' }, targets }, context)
    expect(endpoints(imported, 'portkey/config')).toMatchObject([
      { provider: 'openai', upstream_model: 'gpt-4o' },
      { provider: 'azure', upstream_model: 'gpt-4o' },
    ])
  })
})
