import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Provider, ProviderSettings } from '../core/provider.ts'
import { isNameOf } from '../core/provider-names.ts'
import { dialects } from '../dialects/index.ts'
import { Secret } from '../lib/secret.ts'
import { PROVIDERS } from './index.ts'

const slugs = PROVIDERS.map((provider) => provider.slug)
const variablesOf = ({ env }: Provider): readonly string[] => [
  ...(env.apiKey ?? []),
  ...(env.baseUrl ?? []),
  ...Object.values(env.settings ?? {}).flat(),
]

/** Plausible values of vendor-specific settings, by name. */
const SETTINGS: { readonly [name: string]: string } = {
  account_id: 'abc123',
  host: 'https://dbc-1.cloud.databricks.com/',
  account: 'org-acct',
  resource: 'my-resource',
  project: 'my-project',
  region: 'eu-west-1',
  location: 'europe-west4',
}

function settingsFor(provider: Provider): ProviderSettings {
  const extra = Object.fromEntries(Object.keys(provider.env.settings ?? {}).map((name) => [name, SETTINGS[name]]))
  return { apiKeys: [new Secret('sk-test')], options: {}, extra }
}

describe('the list of providers', () => {
  test('no slug is a name of another, and the usual spellings are names', () => {
    const named = (text: string): readonly string[] => PROVIDERS.filter((provider) => isNameOf(text, provider)).map(({ slug }) => slug)
    for (const slug of slugs) expect(named(slug)).toEqual([slug])
    expect(['z-ai', 'arcee-ai', 'sakana-ai', 'meta', 'Z.AI'].map((text) => named(text))).toEqual([
      ['zai'],
      ['arcee'],
      ['sakana'],
      ['meta-llama'],
      ['zai'],
    ])
  })

  test('each is switched on by a variable that a shell can set', () => {
    const firsts = PROVIDERS.flatMap(({ env: { apiKey, baseUrl } }) => [apiKey, baseUrl].flatMap((names) => names?.[0] ?? []))
    expect(firsts.filter((name) => !/^[A-Z_]/.test(name))).toEqual([])
  })

  test('covers the vendors people use', () => {
    expect(slugs.length).toBeGreaterThanOrEqual(100)
    expect(slugs).toEqual(
      expect.arrayContaining([
        'openai',
        'azure',
        'openrouter',
        'groq',
        'deepseek',
        'mistral',
        'together',
        'fireworks',
        'xai',
        'cerebras',
        'perplexity',
        'moonshotai',
        'alibaba',
        'zai',
        'nvidia',
        'huggingface',
        'github-models',
        'ollama',
        'lmstudio',
        'vllm',
        'llamacpp',
        'demo',
        'anthropic',
        'google-ai-studio',
        'google-vertex',
        'amazon-bedrock',
        'cohere',
      ]),
    )
  })
  test('names every slug once, in order', () => {
    expect(new Set(slugs).size).toBe(slugs.length)
    expect(slugs).toEqual(slugs.toSorted())
  })
  test('gives no variable of credentials or addresses to two providers', () => {
    const owners = PROVIDERS.flatMap(({ env }) => [...(env.apiKey ?? []), ...(env.baseUrl ?? [])])
    expect(owners.filter((name, index) => owners.indexOf(name) !== index)).toEqual([])
  })
})

describe.each(PROVIDERS.map((provider) => [provider.slug, provider] as const))('%s', (slug, provider) => {
  test('has a usable slug, name and dialect', () => {
    expect(slug).toMatch(/^[a-z0-9][a-z0-9-]*$/)
    expect(provider.name.length).toBeGreaterThan(1)
    expect([...dialects.keys()]).toContain(provider.dialect)
  })

  test('reads variables that look like variables', () => {
    for (const name of variablesOf(provider)) expect(name).toMatch(/^[A-Z0-9][A-Z0-9_]*$/)
  })

  test('reaches its vendor over https, unless it is local', () => {
    const connected = provider.connect?.(settingsFor(provider)) ?? {}
    const baseUrl = connected.baseUrl ?? provider.baseUrl
    expect(baseUrl).toBeDefined()
    const url = new URL(baseUrl ?? '')
    expect(baseUrl).not.toMatch(/\/$|[?#]/)
    if (provider.keyless === true) expect(url.hostname).toMatch(/^127\.0\.0\.1$|\.invalid$/)
    else expect(url.protocol).toBe('https:')
  })

  test('makes embeddings in dialects that make them', () => {
    const { embeddings = 'none', embeddingsFor = [] } = provider
    const named = [embeddings, ...embeddingsFor.map(([, dialect]) => dialect)].filter((dialect) => dialect !== 'none')
    for (const dialect of named) expect(dialects.get(dialect)?.answers).toBe('embeddings')
  })

  test('declares options its dialects know', () => {
    const declared = { [provider.dialect]: provider.options ?? {}, ...provider.dialectOptions }
    for (const [dialect, options] of Object.entries(declared)) {
      const schema = dialects.get(dialect)?.options
      expect(z.prettifyError(schema?.safeParse(options).error ?? new z.ZodError([]))).toBe('')
      expect(schema).toBeDefined()
    }
  })

  test('signs without changing its input', async () => {
    const sign = provider.connect?.(settingsFor(provider)).sign
    if (sign === undefined) return
    const request = Object.freeze({ method: 'POST' as const, url: 'https://x/y', path: '/y', headers: Object.freeze({ a: 'b' }), body: '{}' })
    const signed = await sign(request, { id: '0', secret: new Secret('sk-test') }, new AbortController().signal)
    expect(Object.values(signed.headers).some((value) => value === 'sk-test' || value === 'Bearer sk-test')).toBe(true)
    expect(signed.headers['a']).toBe('b')
    expect(await sign(request, undefined, new AbortController().signal)).toEqual(request)
  })

  test('links to pages on the web', () => {
    for (const link of [provider.homepage, provider.statusPage, provider.privacyPolicy, provider.termsOfService]) {
      if (link !== undefined) expect(new URL(link).protocol).toBe('https:')
    }
  })

  test('names only dialects it has options for', () => {
    const other = ['gpt-5', 'gpt-4o-search-preview', 'DeepSeek-V3', 'o3']
      .map((model) => provider.dialectFor?.(model))
      .filter((name) => name !== undefined)
    for (const name of other) expect(Object.keys(provider.dialectOptions ?? {})).toContain(name)
  })
})

describe('settings', () => {
  test.each([
    ['azure', { resource: 'acme' }, 'https://acme.openai.azure.com/openai/v1'],
    ['cloudflare', { account_id: 'a1' }, 'https://api.cloudflare.com/client/v4/accounts/a1/ai/v1'],
    ['databricks', { host: 'https://dbc.cloud.databricks.com/' }, 'https://dbc.cloud.databricks.com/serving-endpoints'],
    ['snowflake-cortex', { account: 'org-acct' }, 'https://org-acct.snowflakecomputing.com/api/v2/cortex/v1'],
    [
      'google-vertex',
      { project: 'p', location: 'europe-west4' },
      'https://europe-west4-aiplatform.googleapis.com/v1/projects/p/locations/europe-west4',
    ],
    ['google-vertex', { project: 'p', region: 'us-east5' }, 'https://us-east5-aiplatform.googleapis.com/v1/projects/p/locations/us-east5'],
    ['google-vertex', { project: 'p', location: 'eu' }, 'https://aiplatform.eu.rep.googleapis.com/v1/projects/p/locations/eu'],
    ['google-vertex', { project: 'p' }, 'https://aiplatform.googleapis.com/v1/projects/p/locations/global'],
    ['google-vertex', {}, 'https://aiplatform.googleapis.com/v1'],
    ['amazon-bedrock', { region: 'us-east-1' }, 'https://bedrock-runtime.us-east-1.amazonaws.com'],
    ['amazon-bedrock-mantle', { region: 'us-east-1' }, 'https://bedrock-mantle.us-east-1.api.aws/v1'],
  ])('%s with %j has the URL %s', (slug, extra, expected) => {
    const provider = PROVIDERS.find((candidate) => candidate.slug === slug)
    expect(provider?.connect?.({ apiKeys: [], options: {}, extra }).baseUrl).toBe(expected)
  })

  test('Claude has another host of an Azure resource, however the resource is named', () => {
    const provider = PROVIDERS.find((candidate) => candidate.slug === 'azure')
    const connect = (settings: Partial<ProviderSettings>): unknown =>
      provider?.connect?.({ apiKeys: [], options: {}, extra: {}, ...settings }).baseUrls
    const expected = { 'anthropic-messages': 'https://acme.services.ai.azure.com/anthropic/v1' }
    expect(connect({ extra: { resource: 'acme' } })).toEqual(expected)
    expect(connect({ baseUrl: 'https://acme.openai.azure.com/openai/v1' })).toEqual(expected)
    expect(connect({ baseUrl: 'https://acme.openai.azure.com.evil.test/' })).toBeUndefined()
  })

  test.each([
    ['anthropic.claude-opus-5', 'anthropic/v1'],
    ['openai.gpt-5.5', 'openai/v1'],
    ['openai.gpt-6-sol', 'openai/v1'],
    ['openai.gpt-oss-120b', 'v1'],
    ['global.openai.gpt-5.6-sol', 'openai/v1'],
    ['us.openai.gpt-oss-120b', 'v1'],
    ['google.gemma-4-31b', 'openai/v1'],
    ['xai.grok-4.3', 'openai/v1'],
    ['qwen.qwen3-32b', 'v1'],
  ])("%s has the path %s of Bedrock's second URL", (model, folder) => {
    const provider = PROVIDERS.find((candidate) => candidate.slug === 'amazon-bedrock-mantle')
    const connect = (settings: Partial<ProviderSettings>): string | undefined =>
      provider?.connect?.({ apiKeys: [], options: {}, extra: { region: 'us-east-1' }, ...settings }).baseUrlFor?.(model)
    expect(connect({})).toBe(`https://bedrock-mantle.us-east-1.api.aws/${folder}`)
    expect(connect({ baseUrl: 'https://proxy.test/v1' })).toBeUndefined()
  })

  test('GPT models without open weights use their own format at the first URL of Bedrock', () => {
    const provider = PROVIDERS.find((candidate) => candidate.slug === 'amazon-bedrock')
    const dialects = ['openai.gpt-5.5', 'global.openai.gpt-5.6-sol', 'openai.gpt-oss-120b-1:0', 'us.anthropic.claude-opus-5'].map((model) =>
      provider?.dialectFor?.(model),
    )
    expect(dialects).toEqual(['openai-responses', 'openai-responses', undefined, undefined])
    // It is one of the options and not part of an address, so it also holds for an operator's own base URL.
    expect(provider?.dialectOptions?.['openai-responses']).toMatchObject({ path: '/openai/v1/responses' })
  })

  test('an organisation has a reasoning scope of its own', () => {
    const openai = PROVIDERS.find((provider) => provider.slug === 'openai')
    expect(openai?.connect?.({ apiKeys: [], options: {}, extra: {}, organization: 'org-1' })).toEqual({
      headers: { 'openai-organization': 'org-1' },
      scope: 'openai/org-1',
    })
  })

  test.each([
    ['cloudflare', { account_id: '../evil' }],
    ['snowflake-cortex', { account: 'evil.com/x' }],
    ['amazon-bedrock', { region: 'x.evil.com' }],
    ['azure', { resource: 'a.evil.com' }],
    ['google-vertex', { project: 'p', location: 'x.evil.com' }],
  ])('%s refuses %j, which would lead the credential elsewhere', (slug, extra) => {
    const provider = PROVIDERS.find((candidate) => candidate.slug === slug)
    expect(() => provider?.connect?.({ apiKeys: [], options: {}, extra })).toThrow()
  })
})
