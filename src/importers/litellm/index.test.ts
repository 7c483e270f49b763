import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { contextOf } from '../../cli/import.ts'
import { parseSource } from '../../config/source.ts'
import type { EndpointDraft, ImportContext, Imported, ModelDraft, ProviderDraft } from '../shared/importer.ts'
import { litellm } from './index.ts'
import { PREFIXES } from './names.ts'

let context: ImportContext
let team: Imported
let gallery: Imported
beforeAll(async () => {
  context = await contextOf(Date.parse('2026-11-01'))
  team = ofFile('team.yaml')
  gallery = ofFile('gallery.yaml')
})

const ofText = (text: string): Imported => litellm.read(parseSource(text, 'config.yaml').tree, context)
const ofFile = (name: string): Imported => ofText(readFileSync(join(import.meta.dirname, '__fixtures__', name), 'utf8'))
/** The result for a single entry. */
const ofEntry = (params: object, more: object = {}, rest: object = {}): Imported =>
  litellm.read({ model_list: [{ model_name: 'm', litellm_params: params, ...more }], ...rest }, context)

const named = ({ file }: Imported, name: string): ModelDraft | undefined =>
  file.models.find(({ slug, aliases }) => slug === name || aliases?.includes(name) === true)
const endpoints = (imported: Imported, name: string): readonly EndpointDraft[] => named(imported, name)?.endpoints ?? []
const provider = ({ file }: Imported, slug: string): ProviderDraft | undefined => file.providers.find((one) => one.slug === slug)
const noteAt = ({ notes }: Imported, path: string): string | undefined => {
  const note = notes.find((one) => one.path === path)
  return note === undefined ? undefined : `${note.kind}: ${note.message}`
}

describe('names', () => {
  it('stay those that callers use, as aliases of the catalog model, so that its data apply', () => {
    expect(named(team, 'gpt-4o-mini')).toMatchObject({ slug: 'openai/gpt-4o-mini', aliases: ['gpt-4o-mini'], only_listed: true })
    expect(named(team, 'claude')).toMatchObject({ slug: 'anthropic/claude-sonnet-4.5' })
    expect(named(team, 'team/llama')).toMatchObject({ slug: 'team/llama' })
    expect(named(gallery, 'llama3:8b')?.aliases).toEqual(['llama3:8b'])
  })

  it('of one model with several groups are apart', () => {
    const entry = (name: string, key: string): object => ({ model_name: name, litellm_params: { model: 'gpt-4o', api_key: key } })
    const imported = litellm.read(
      { model_list: [entry('gpt-4o', 'os.environ/A'), entry('research', 'os.environ/B'), entry('openai/gpt-4o', 'os.environ/C')] },
      context,
    )
    expect(imported.file.models.map(({ slug, aliases, endpoints: [only] }) => [slug, aliases, only?.provider])).toEqual([
      ['openai/gpt-4o-gpt-4o', ['gpt-4o'], 'openai'],
      ['openai/gpt-4o-research', ['research'], 'openai-2'],
      ['openai/gpt-4o', undefined, 'openai-3'],
    ])
  })

  it('of a wildcard do not become those of a group elsewhere', () => {
    expect(named(gallery, 'gpt-5')?.slug).toBe('openai/gpt-5-gpt-5')
  })

  it('beside the first are aliases, or models where they have an author', () => {
    expect(named(team, 'gpt-4')).toBe(named(team, 'gpt-4o'))
    expect(named(team, 'gpt-4-turbo')).toBe(named(team, 'gpt-4o'))
    expect(endpoints(team, 'openai/gpt-4o')).toEqual(endpoints(team, 'gpt-4o'))
    expect(noteAt(gallery, 'router_settings.model_group_alias.slow')).toMatch(/^lost: "slow" is not carried/)
  })
})

describe('several entries of one name', () => {
  it('are endpoints, with weights and limits', () => {
    expect(endpoints(team, 'gpt-4o').slice(0, 2)).toEqual([
      {
        provider: 'azure',
        upstream_model: 'gpt-4o-eu',
        weight: 3,
        rate_limits: { requests_per_minute: 600 },
        pricing: { input: 2.5, output: 10, cache_read: 1.25 },
      },
      {
        provider: 'azure-api-base-us',
        upstream_model: 'gpt-4o',
        weight: 1,
        rate_limits: { requests_per_minute: 200, tokens_per_minute: 100_000 },
      },
    ])
  })

  it('have whole weights in the same proportions, and what is listed twice counts twice', () => {
    const [first, second, ...others] = endpoints(gallery, 'gpt-5')
    expect([first?.weight, second?.weight]).toEqual([9, 2])
    expect(others).toEqual([])
  })

  it('share by their limits where nobody gave weights', () => {
    const entry = (key: string, rpm: number): object => ({ model_name: 'm', litellm_params: { model: 'gpt-4o', api_key: `os.environ/${key}`, rpm } })
    const imported = litellm.read({ model_list: [entry('A', 60), entry('B', 600), entry('C', 60_000)] }, context)
    expect(endpoints(imported, 'm').map(({ weight }) => weight)).toEqual([1, 10, 1000])
  })

  it('of a later order serve only while the first are away', () => {
    expect(endpoints(team, 'claude').map(({ provider: at, weight }) => [at, weight])).toEqual([
      ['amazon-bedrock', 1],
      ['anthropic', 0],
      ['groq', 0],
    ])
  })
})

describe('fallbacks', () => {
  it('are endpoints of weight 0, those of the fallbacks and of wildcards as well', () => {
    const spares = endpoints(team, 'gpt-4o').filter(({ weight }) => weight === 0)
    expect(spares.map(({ upstream_model: id }) => id)).toEqual([
      'gpt-4o-mini',
      'anthropic.claude-sonnet-4-5-20250929-v1:0',
      'claude-sonnet-4-5-20250929',
      'gemini-2.5-pro',
      'llama-3.3-70b-versatile',
    ])
    expect(endpoints(gallery, 'phi').slice(1, 2)).toMatchObject([{ provider: 'openai', upstream_model: 'gpt-4.1-mini', weight: 0 }])
  })

  it('of all are those of models without one of their own', () => {
    expect(endpoints(gallery, 'qwen').some(({ upstream_model: id, weight }) => id === 'gpt-5-deployment' && weight === 0)).toBe(true)
    expect(noteAt(gallery, 'litellm_settings.fallbacks[0].*')).toMatch(/^do: "nobody" is left out/)
    expect(noteAt(gallery, 'litellm_settings.fallbacks[1].lake[0].temperature')).toMatch(/^do: /)
  })
})

describe('fallbacks between several kinds of them', () => {
  const models = (...names: readonly string[]) =>
    names.map((model_name) => ({ model_name, litellm_params: { model: `openai/${model_name}`, api_key: 'os.environ/K' } }))
  const asked = (imported: Imported, name: string): readonly string[] => endpoints(imported, name).map(({ upstream_model: id }) => id)
  const read = (model_list: readonly object[], router_settings: object): Imported => litellm.read({ model_list, router_settings }, context)

  it('for prompts that are too long leave those for everybody standing', () => {
    const part = { default_fallbacks: ['gpt-5-mini'], context_window_fallbacks: [{ 'gpt-4o': ['gpt-4.1'] }], fallbacks: [{ 'gpt-4.1': [] }] }
    expect(asked(read(models('gpt-4o', 'gpt-4.1', 'gpt-5-mini'), part), 'gpt-4o')).toEqual(['gpt-4o', 'gpt-4.1', 'gpt-5-mini'])
  })

  it('may be named by an alias', () => {
    const imported = read(models('gpt-4o', 'gpt-4.1'), { model_group_alias: { smart: 'gpt-4.1' }, fallbacks: [{ 'gpt-4o': ['smart'] }] })
    expect(asked(imported, 'gpt-4o')).toEqual(['gpt-4o', 'gpt-4.1'])
    expect(noteAt(imported, 'router_settings.fallbacks[0].gpt-4o')).toBeUndefined()
  })

  it('and the default model may be named by an alias', () => {
    const tree = {
      model_list: models('gpt-4.1'),
      router_settings: { model_group_alias: { smart: 'gpt-4.1' } },
      general_settings: { completion_model: 'smart' },
    }
    expect(litellm.read(tree, context).file['defaults']).toEqual({ model: 'smart' })
  })

  it('of an alias are those of its model, with a note', () => {
    const part = {
      model_group_alias: { smart: 'gpt-4.1', also: { model: 'gpt-4.1' } },
      fallbacks: [{ smart: ['gpt-4o'] }],
      context_window_fallbacks: [{ also: ['gpt-5-mini'] }],
    }
    const imported = read(models('gpt-4o', 'gpt-4.1', 'gpt-5-mini'), part)
    expect(asked(imported, 'smart')).toEqual(['gpt-4.1', 'gpt-5-mini', 'gpt-4o'])
    expect(noteAt(imported, 'router_settings.fallbacks[0].smart')).toContain('gpt-4.1')
  })

  it('are of the same kind as the model: embeddings do not fall back to text models', () => {
    const imported = read(models('gpt-4o', 'text-embedding-3-small', 'text-embedding-3-large'), {
      default_fallbacks: ['gpt-4o', 'text-embedding-3-large'],
    })
    expect(asked(imported, 'text-embedding-3-small')).toEqual(['text-embedding-3-small', 'text-embedding-3-large'])
    expect(asked(imported, 'gpt-4o')).toEqual(['gpt-4o'])
  })
})

describe('accounts', () => {
  it('are providers: the first of a vendor under its own slug', () => {
    expect(provider(team, 'azure')).toEqual({
      slug: 'azure',
      base_url: 'https://team-eu.openai.azure.com',
      api_keys: ['${AZURE_API_KEY_EU}'],
      timeouts: { total: '300s' },
    })
    expect(provider(team, 'azure-api-base-us')).toMatchObject({
      vendor: 'azure',
      base_url: '${AZURE_API_BASE_US}',
      api_keys: ['${AZURE_API_KEY_US}'],
    })
    expect(provider(gallery, 'azure')?.base_url).toBe('https://one.openai.azure.com')
  })

  it('have the settings of their vendor', () => {
    expect(provider(team, 'amazon-bedrock')?.settings).toEqual({ region: 'us-west-2', access_key_id: '${AWS_ACCESS_KEY_ID}' })
    expect(provider(team, 'google-vertex')).toMatchObject({
      settings: { project: 'my-project', location: 'europe-west4', credentials: '/secrets/vertex.json' },
    })
    expect(provider(gallery, 'amazon-bedrock')).toMatchObject({
      api_keys: ['${AWS_SECRET}'],
      settings: { region: 'eu-central-1', access_key_id: '${AWS_ID}' },
    })
    expect(noteAt(gallery, 'model_list[20].litellm_params.aws_role_name')).toMatch(/^do: keys or a bearer token/)
  })

  it('are custom servers where the URL is unknown, and vendors where it is theirs', () => {
    expect(provider(team, '10.0.0.5-8000')).toMatchObject({
      dialect: 'openai-chat',
      base_url: 'http://10.0.0.5:8000/v1',
      headers: { 'x-team': 'search' },
    })
    expect(endpoints(gallery, 'kimi')[0]).toMatchObject({ provider: 'together', upstream_model: 'moonshotai/Kimi-K2-Instruct' })
    expect(endpoints(gallery, 'phi')[0]?.provider).toBe('phi-serverless.eastus2.models.ai.azure.com')
    expect(endpoints(gallery, 'foundry-claude')[0]?.provider).toBe('azure-two')
    expect(provider(gallery, 'own-base')).toMatchObject({ base_url: '${OWN_BASE}', api_keys: ['${OPENAI_API_KEY:-none}'] })
  })

  it('without a key of their own have that of the usual variable, local servers none', () => {
    expect(provider(gallery, 'fireworks')?.api_keys).toEqual(['${FIREWORKS_API_KEY}'])
    expect(provider(gallery, 'ollama')).toMatchObject({ base_url: '${OLLAMA_API_BASE:-http://127.0.0.1:11434}/v1', api_keys: null })
    expect(provider(gallery, 'databricks')?.base_url).toBe('${DATABRICKS_API_BASE}')
  })

  it('of several organizations are several', () => {
    expect(
      endpoints(gallery, 'organizations')
        .slice(0, 2)
        .map(({ provider: slug }) => provider(gallery, slug)?.organization),
    ).toEqual(['org-1', 'org-2'])
  })

  it('with a key in plain text keep it, and it is said', () => {
    expect(provider(team, '10.0.0.5-8000')?.api_keys).toEqual(['sk-plain-text'])
    expect(noteAt(team, 'model_list[6].litellm_params.api_key')).toMatch(/^do: is written there in plain text/)
    expect(provider(ofEntry({ model: 'gpt-4o', api_key: 'a${b}c' }), 'openai')?.api_keys).toEqual(['a$${b}c'])
  })
})

describe('ids', () => {
  it.each([
    ['azure/gpt5_series/mine', 'mine'],
    ['bedrock/converse/us.anthropic.claude-x-v1:0', 'us.anthropic.claude-x-v1:0'],
    ['bedrock/eu-west-1/anthropic.claude-x', 'anthropic.claude-x'],
    ['fireworks_ai/llama-v3p1-8b', 'accounts/fireworks/models/llama-v3p1-8b'],
    ['fireworks_ai/accounts/me/models/x', 'accounts/me/models/x'],
    ['huggingface/together/Qwen/Qwen3-32B', 'Qwen/Qwen3-32B:together'],
    ['vertex_ai/1234567890', 'endpoints/1234567890'],
    ['openrouter/anthropic/claude-sonnet-4.5', 'anthropic/claude-sonnet-4.5'],
    ['claude-sonnet-4-5', 'claude-sonnet-4-5'],
  ])('%s is %s', (model, id) => {
    expect(
      endpoints(ofEntry({ model, api_key: 'os.environ/K', api_base: model.startsWith('azure') ? 'https://a.openai.azure.com' : undefined }), 'm')[0]
        ?.upstream_model,
    ).toBe(id)
  })

  it('of every prefix lead to a provider that there is', () => {
    const slugs = Object.values(PREFIXES).flatMap(({ provider: slug }) => slug ?? [])
    expect(slugs.filter((slug) => !context.vendors.has(slug))).toEqual([])
  })
})

describe('wildcards', () => {
  it('are providers that take any id, under the name that callers say', () => {
    expect(provider(team, 'groq')).toMatchObject({ open_models: true, timeouts: { total: '300s' } })
    expect(provider(team, 'gemini')).toMatchObject({ vendor: 'google-ai-studio', open_models: true, api_keys: ['${GEMINI_API_KEY}'] })
    expect(provider(gallery, 'lab')).toMatchObject({ vendor: 'vllm', base_url: 'http://lab.internal:8000/v1', open_models: true })
  })

  it('that cannot be expressed are reported, and their provider is on', () => {
    expect(noteAt(gallery, 'model_list[0]')).toMatch(/^do: stands for every provider/)
    expect(noteAt(gallery, 'model_list[2].model_name')).toMatch(/^do: "anthropic\/\*" for "anthropic\/\*" cannot be said.*openrouter\/ID/)
    expect(noteAt(gallery, 'model_list[3].model_name')).toMatch(/^do: "claude-\*" stands for no list here/)
    expect(provider(gallery, 'openrouter')).toBeDefined()
    expect(provider(gallery, 'anthropic')).toBeDefined()
  })
})

describe('what is known of a model', () => {
  it('includes prices per million tokens, of long prompts as well', () => {
    expect(endpoints(gallery, 'long-prompts')[0]?.pricing).toEqual({
      input: 1.25,
      output: 10,
      cache_read: 0.31,
      tiers: [{ from_input_tokens: 200_001, input: 2.5, output: 15 }],
    })
    expect(noteAt(gallery, 'model_list[18].litellm_params.input_cost_per_image')).toMatch(/^do: /)
  })

  it('includes that it makes embeddings', () => {
    expect(named(team, 'local-embed')).not.toHaveProperty('answers')
    expect(named(ofEntry({ model: 'openai/mine', api_base: 'http://x.test/v1' }, { model_info: { mode: 'embedding' } }), 'm')?.answers).toBe(
      'embeddings',
    )
  })

  it('leaves out kinds of models that are not supported, by name', () => {
    expect(named(team, 'whisper')).toBeUndefined()
    expect(noteAt(team, 'model_list[9]')).toMatch(/^lost: "whisper".*audio_transcription/)
    expect(noteAt(team, 'model_list[10]')).toMatch(/^lost: "sage".*the provider of "sagemaker\/jumpstart-llama" is not known/)
    expect(noteAt(ofEntry({ model: 'openai_like/x' }), 'model_list[0]')).toMatch(/^lost: "m".*without api_base/)
    expect(noteAt(ofEntry({}), 'model_list[0]')).toMatch(/^lost: "m".*litellm_params.model/)
  })
})

describe('settings that no provider can have', () => {
  const azure = (base: string): Imported => ofEntry({ model: 'azure/gpt-4o', api_base: base, api_key: 'os.environ/K' })

  it('are reported at their entry, and the rest loads', () => {
    const ollama = ofEntry({ model: 'ollama/mistral', api_base: 'your_ollama_api_base' })
    expect(noteAt(ollama, 'model_list[0]')).toBe('lost: "m" is not carried: api_base is no http or https URL')
    expect(noteAt(ofEntry({ model: 'openai/x', api_base: 'https://me:hidden@x.test/v1' }), 'model_list[0]')).toMatch(/^lost: .*holds credentials/)
    expect(noteAt(ofEntry({ model: 'openai/x', api_base: 'https://x.test/v1?a=b' }), 'model_list[0]')).toMatch(/^lost: .*has a query/)
    expect(noteAt(ofEntry({ model: 'azure/', api_base: 'https://a.openai.azure.com', api_key: 'os.environ/K' }), 'model_list[0]')).toMatch(
      /no model of it/,
    )
    const spaced = ofEntry({ model: 'gpt-4o', api_key: 'os.environ/K', extra_headers: { 'AI-Resource Group': 'x', 'x-team': 'y' } })
    expect(provider(spaced, 'openai')?.headers).toEqual({ 'x-team': 'y' })
    expect(noteAt(spaced, 'model_list[0].litellm_params.extra_headers.AI-Resource Group')).toBe('do: left out: no header that can be sent')
  })

  it('keeps the path of what stands before a provider', () => {
    expect(provider(azure('https://apim.test/llm/eu/'), 'azure')?.base_url).toBe('https://apim.test/llm/eu/openai/v1')
    expect(provider(azure('https://apim.test/llm/openai/deployments/x?api-version=1'), 'azure')?.base_url).toBe('https://apim.test/llm/openai/v1')
    expect(noteAt(azure('https://apim.test/llm/eu/'), 'model_list[0].litellm_params.api_base')).toMatch(/^do: is asked at \/llm\/eu\/openai\/v1/)
    expect(provider(azure('https://apim.test/'), 'azure')?.base_url).toBe('https://apim.test')
  })

  it.each([
    ['openai/dall-e-3', 'images'],
    ['whisper-1', 'speech'],
    ['openai/gpt-4o-mini-tts', 'speech'],
    ['cohere/rerank-english-v3.0', 'ranking'],
    ['gpt-4o-realtime-preview', 'live sessions'],
    ['omni-moderation-latest', 'moderation'],
  ])('knows %s by its name for one that nothing here serves', (model, kind) => {
    const imported = ofEntry({ model, api_key: 'os.environ/K' })
    expect(noteAt(imported, 'model_list[0]')).toContain(`nothing here serves models for ${kind}`)
    expect(imported.file.models).toEqual([])
  })

  it('trusts the mode in the file', () => {
    expect(named(ofEntry({ model: 'openai/our-tts', api_key: 'os.environ/K' }, { model_info: { mode: 'chat' } }), 'm')).toBeDefined()
  })

  it('reports other secrets in the result', () => {
    const key = ofEntry({ model: 'vertex_ai/gemini-2.5-pro', vertex_project: 'p', vertex_credentials: { private_key: 'x' } })
    expect(noteAt(key, 'model_list[0].litellm_params.vertex_credentials')).toMatch(/plain text/)
    const header = ofEntry({ model: 'gpt-4o', api_key: 'os.environ/K', extra_headers: { Authorization: 'Bearer x' } })
    expect(noteAt(header, 'model_list[0].litellm_params.extra_headers.Authorization')).toMatch(/plain text/)
  })

  it('may be spread over files, which are joined as LiteLLM joins them', () => {
    const { filesOf, join } = litellm.included!
    const first = { include: ['models.yaml', 'more.yaml'], model_list: [1], litellm_settings: { drop_params: true }, other: [2] }
    const parts = [{ model_list: [3], litellm_settings: { num_retries: 2 } }, null, { model_list: [4], include: ['not.yaml'], added: [5] }]
    expect(filesOf(first)).toEqual(['models.yaml', 'more.yaml'])
    expect(join(first, parts)).toEqual({ model_list: [1, 3, 4], litellm_settings: { num_retries: 2 }, other: [2], added: [5] })
    for (const include of ['models.yaml', [1], undefined]) {
      expect(filesOf({ include })).toEqual([])
      expect(join({ include }, [])).toEqual({ include })
    }
  })
})

describe('a deployment with an opaque id', () => {
  const costing = (base: string, params: object = {}): Imported =>
    ofEntry({ model: 'azure/ours', api_base: 'https://a.openai.azure.com', api_key: 'os.environ/K', ...params }, { model_info: { base_model: base } })

  it('has the prices of its base model, so that budgets count it', () => {
    const pricing = { input: 2.5, output: 10, cache_read: 1.25 }
    expect(endpoints(costing('azure/gpt-4o'), 'm')[0]?.pricing).toMatchObject(pricing)
    expect(endpoints(costing('azure/global-standard/gpt-4o'), 'm')[0]?.pricing).toMatchObject(pricing)
    expect(noteAt(costing('azure/gpt-4o'), 'model_list[0].model_info.base_model')).toMatch(/^do: its prices of today/)
  })

  it('has the prices of the file, or a note that they are unknown', () => {
    expect(endpoints(costing('azure/gpt-4o', { input_cost_per_token: 0.000001 }), 'm')[0]?.pricing).toEqual({ input: 1 })
    expect(noteAt(costing('azure/unheard-of'), 'model_list[0].model_info.base_model')).toMatch(/its cost is null/)
    expect(endpoints(ofEntry({ model: 'gpt-4o', api_key: 'os.environ/K' }, { model_info: { base_model: 'gpt-4o' } }), 'm')[0]).not.toHaveProperty(
      'pricing',
    )
  })
})

describe('settings', () => {
  it('that have a counterpart are carried', () => {
    expect(team.file).toMatchObject({ server: { body_limit: '50MB' }, defaults: { model: 'gpt-4o' }, destinations: { privacy_locked: true } })
    expect(gallery.file).toMatchObject({ routing: { retries: false, cooldown: false } })
    expect(provider(gallery, 'openai')?.timeouts).toEqual({ first_token: '30s' })
  })

  it('without one are reported with what to do instead', () => {
    expect(noteAt(team, 'general_settings.master_key')).toMatch(/^do: as SIGNALBOX_API_KEY/)
    expect(noteAt(team, 'litellm_settings.success_callback[0]')).toMatch(/^do: a destination of type langfuse/)
    expect(noteAt(team, 'router_settings.routing_strategy')).toMatch(/^do: default_provider_sort: latency/)
    expect(noteAt(gallery, 'guardrails')).toMatch(/^do: guardrails/)
    expect(noteAt(ofEntry({ model: 'gpt-4o', api_key: 'os.environ/K', no_such: 1 }), 'model_list[0].litellm_params.no_such')).toMatch(
      /^do: has no counterpart/,
    )
  })

  it('with one in keys, workspaces or requests are reported with it', () => {
    const entry = { model: 'gpt-4o', api_key: 'os.environ/K', service_tier: 'flex', extra_body: { store: false } }
    const imported = ofEntry(
      entry,
      { model_info: { team_id: 't', access_via_team_ids: ['t'] } },
      {
        litellm_settings: { default_team_params: { max_budget: 1 }, max_end_user_budget: 1, forward_traceparent_to_llm_provider: true },
        router_settings: { provider_budget_config: { openai: { budget_limit: 1, time_period: '1d' } }, default_max_parallel_requests: 3 },
        general_settings: { enable_jwt_auth: true, allowed_ips: ['10.0.0.1'], forward_client_headers_to_llm_api: true, key_management_system: 'aws' },
        files_settings: [{ custom_llm_provider: 'openai' }],
        prompts: [{ prompt_id: 'p' }],
      },
    )
    const unknown = imported.notes.filter(({ message }) => message.includes('or is not known')).map(({ path }) => path)
    expect(unknown).toEqual([])
    expect(noteAt(imported, 'litellm_settings.forward_traceparent_to_llm_provider')).toContain('trace_context')
  })

  it('for its auto router name the counterpart', () => {
    const [note] = ofEntry({ model: 'auto_router/auto_router_1', auto_router_config_path: 'r.json' }).notes
    expect(note).toMatchObject({ kind: 'lost', message: expect.stringContaining('gateway/auto') as string })
  })

  it('distinguish callbacks that check calls from those that log', () => {
    const imported = ofEntry({ model: 'gpt-4o', api_key: 'os.environ/K' }, {}, { litellm_settings: { callbacks: ['presidio', 'newrelic'] } })
    expect(noteAt(imported, 'litellm_settings.callbacks[0]')).toMatch(/^do: guardrails/)
    expect(noteAt(imported, 'litellm_settings.callbacks[1]')).toMatch(/^do: a destination of type newrelic/)
  })

  it('with several timeouts become the longest, with a note', () => {
    expect(provider(team, 'openai')?.timeouts).toEqual({ total: '300s' })
    expect(noteAt(team, 'model_list[2].litellm_params.stream_timeout')).toMatch(/^do: the provider openai has one patience/)
  })
})
