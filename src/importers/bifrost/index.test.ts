import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { contextOf } from '../../cli/import.ts'
import type { ImportContext, Imported } from '../shared/importer.ts'
import { bifrost } from './index.ts'

let context: ImportContext
let team: Imported
beforeAll(async () => {
  context = await contextOf(Date.parse('2026-11-01'))
  team = bifrost.read(JSON.parse(readFileSync(join(import.meta.dirname, '__fixtures__/team.json'), 'utf8')), context)
})

const provider = (slug: string) => team.file.providers.find((one) => one.slug === slug)
const model = (name: string) => team.file.models.find(({ slug, aliases }) => slug === name || aliases?.includes(name) === true)
const told = (path: string) => team.notes.find((one) => one.path === path)

describe('a configuration of Bifrost', () => {
  it('has a provider for each account, under the name that callers say where it takes any model', () => {
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

  it('carries what the server has, and tells the rest', () => {
    expect(team.file).toMatchObject({ server: { body_limit: '100MB', allowed_origins: ['*'] } })
    expect(told('providers.elevenlabs')?.message).toContain('"elevenlabs/..." is not carried')
    expect(told('providers.azure.keys[1].models')).toMatchObject({ kind: 'lost', message: expect.stringContaining('speech') as string })
    expect(told('providers.azure.keys[1].value')?.message).toContain('plain text')
    expect(told('providers.openai.keys[1].weight')?.message).toContain('used in turns')
    expect(told('plugins[0]')?.message).toContain('otel-collector')
    expect(told('plugins[2]')).toMatchObject({ kind: 'fine' })
    expect(told('governance.virtual_keys')?.message).toContain('POST /api/v1/keys')
  })
})
