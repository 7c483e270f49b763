import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { contextOf } from '../../cli/import.ts'
import type { ImportContext, Imported } from '../shared/importer.ts'
import { bifrost } from './index.ts'

let context: ImportContext
let team: Imported
let current: Imported
const treeOf = (name: string): object => JSON.parse(readFileSync(join(import.meta.dirname, '__fixtures__', name), 'utf8')) as object
beforeAll(async () => {
  context = await contextOf(Date.parse('2026-11-01'))
  team = bifrost.read(treeOf('team.json'), context)
  current = bifrost.read(treeOf('current.json'), context)
})

const provider = (slug: string) => team.file.providers.find((one) => one.slug === slug)
const model = (name: string) => team.file.models.find(({ slug, aliases }) => slug === name || aliases?.includes(name) === true)
const noteAt = (path: string) => team.notes.find((one) => one.path === path)

describe('a configuration of Bifrost', () => {
  it('has a provider for each account, under the name that callers use where it accepts any model', () => {
    expect(provider('openai')).toEqual({
      slug: 'openai',
      api_keys: ['${OPENAI_KEY_1}', '${OPENAI_KEY_2}'],
      headers: { 'x-team': 'search' },
      timeouts: { total: '300s' },
      open_models: true,
    })
    expect(provider('bedrock')).toMatchObject({
      vendor: 'amazon-bedrock',
      api_keys: ['${AWS_SECRET}'],
      settings: { region: 'us-east-1', access_key_id: '${AWS_ID}' },
      open_models: true,
    })
    expect(provider('ollama')).toMatchObject({ base_url: 'http://gpu:11434/v1', api_keys: null })
    expect(provider('google-vertex')).toMatchObject({ settings: { project: '${PROJECT}', location: 'global', credentials: '${VERTEX_CREDENTIALS}' } })
  })

  it('has models with an endpoint for each account that lists them, by weight', () => {
    expect(model('azure/gpt-4o')).toMatchObject({
      only_listed: true,
      endpoints: [
        { provider: 'azure', upstream_model: 'gpt-4o-eu', weight: 3 },
        { provider: 'azure-us-endpoint', upstream_model: 'gpt-4o', weight: 1 },
      ],
    })
    expect(model('vertex/google/gemini-2.5-pro')?.endpoints).toEqual([{ provider: 'google-vertex', upstream_model: 'google/gemini-2.5-pro' }])
    const [lab] = model('lab/small')?.endpoints ?? []
    expect(provider(lab?.provider ?? '')).toMatchObject({ dialect: 'openai-chat', base_url: 'http://10.0.0.5:8000/v1', api_keys: ['${LAB_KEY}'] })
  })

  it('converts settings with a counterpart, and reports the rest', () => {
    expect(team.file).toMatchObject({ server: { body_limit: '100MB', allowed_origins: ['*'] } })
    expect(noteAt('providers.elevenlabs')?.message).toContain('"elevenlabs/..." is not carried')
    expect(noteAt('providers.azure.keys[1].models')).toMatchObject({ kind: 'lost', message: expect.stringContaining('speech') as string })
    expect(noteAt('providers.azure.keys[1].value')?.message).toContain('plain text')
    expect(noteAt('providers.openai.keys[1].weight')?.message).toContain('used in turns')
    expect(noteAt('plugins[0]')?.message).toContain('otel-collector')
    expect(noteAt('plugins[2]')).toMatchObject({ kind: 'fine' })
    expect(noteAt('governance.virtual_keys')?.message).toContain('POST /api/v1/keys')
  })
})

describe('the models of a key', () => {
  const endpointsOf = ({ file }: Imported, name: string) =>
    file.models.find(({ slug, aliases }) => slug === name || aliases?.includes(name))?.endpoints
  const keysOf = ({ file }: Imported) => file.providers.flatMap(({ api_keys: keys }) => keys ?? [])

  it('include listed models for all keys that accept them, also keys for any model', () => {
    expect(endpointsOf(current, 'openai/gpt-4o')).toEqual([
      { provider: 'openai-2', upstream_model: 'gpt-4o', weight: 3 },
      { provider: 'openai', upstream_model: 'gpt-4o', weight: 1 },
    ])
    expect(endpointsOf(current, 'openai/gpt-4o-mini')).toEqual([{ provider: 'openai-2', upstream_model: 'gpt-4o-mini' }])
  })

  it('are none for a key that is disabled', () => {
    expect(keysOf(current)).not.toContain('${OPENAI_OFF}')
    expect(current.notes).toContainEqual({ kind: 'fine', path: 'providers.openai.keys[3]', message: 'is off' })
  })

  it('are none without a list of models, and any in a file of the first version', () => {
    const of = (version: number | undefined) => bifrost.read({ ...treeOf('current.json'), version }, context)
    const path = 'providers.openai.keys[2].models'
    expect(keysOf(current)).not.toContain('${OPENAI_NONE}')
    expect(current.notes.find((note) => note.path === path)).toMatchObject({ kind: 'fine' })
    expect(keysOf(of(1))).toContain('${OPENAI_NONE}')
    expect(keysOf(of(undefined))).toContain('${OPENAI_NONE}')
    expect(of(undefined).notes.find((note) => note.path === path)).toMatchObject({ kind: 'do', message: expect.stringContaining('1.5') as string })
  })

  it('have the id of their alias, and the data of the model behind it', () => {
    expect(endpointsOf(current, 'azure/chat')).toMatchObject([{ provider: 'azure', upstream_model: 'our-chat', pricing: { input: 2.5, output: 10 } }])
    expect(endpointsOf(current, 'azure/short')).toMatchObject([{ provider: 'azure', upstream_model: 'our-short' }])
    expect(current.notes.find(({ path }) => path === 'providers.azure.keys[0].aliases.far.endpoint')?.message).toContain('a provider of its own')
  })

  it('are the one model that a vLLM server has', () => {
    const [[llama], [qwen]] = [endpointsOf(current, 'vllm/llama') ?? [], endpointsOf(current, 'vllm/qwen') ?? []]
    const addressOf = (slug = '') => current.file.providers.find((one) => one.slug === slug)
    expect(addressOf(llama?.provider)).toMatchObject({ base_url: 'http://a:8000/v1' })
    expect(addressOf(qwen?.provider)).toMatchObject({ base_url: 'http://b:8000/v1' })
    expect(current.file.providers.filter(({ slug, open_models: open }) => slug.startsWith('vllm') && open)).toEqual([])
  })

  it('have the key from its variable, however that is written', () => {
    const of = (value: unknown) =>
      bifrost.read({ version: 2, providers: { openai: { keys: [{ name: 'a', value, models: ['*'], weight: 1 }] } } }, context).file.providers[0]
        ?.api_keys
    for (const value of ['env.KEY', { env_var: 'env.KEY', from_env: true }, { type: 'env', ref: 'KEY', value: '' }, { type: 'env', ref: 'env.KEY' }])
      expect(of(value)).toEqual(['${KEY}'])
  })
})
