import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startFakeUpstream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { chatConfig, startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'

/** Whatever the management API can set is returned as it was set, in every answer that shows it, and a change affects nothing else. */

type Json = { readonly [field: string]: unknown }

let upstream: FakeUpstream
let gateway: TestGateway
let schemas: { readonly [name: string]: Json }
beforeAll(async () => {
  upstream = await startFakeUpstream()
  gateway = await startGateway(chatConfig([upstream.url]))
  const document = (await (await gateway.api('GET', '/openapi.json')).json()) as { readonly components: { readonly schemas: typeof schemas } }
  schemas = document.components.schemas
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

async function call(method: string, path: string, body?: unknown): Promise<Json> {
  const response = await gateway.api(method, `/api/v1${path}`, body)
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  return JSON.parse(text) as Json
}
const dataOf = (answer: Json): Json => answer['data'] as Json
const fieldsOf = (schema: string): readonly string[] => Object.keys(schemas[schema]!['properties'] as Json).toSorted()
const without = (object: Json, ...names: readonly string[]): Json =>
  Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)))

interface Kind {
  readonly path: string
  /** Every field that may be sent at creation, each with a value other than its default. */
  readonly made: Json
  /** Every field that may be changed, each with a different value than before. */
  readonly changed: Json
  readonly schemas: readonly [string, string]
  /** The last part of its address. */
  readonly id: (data: Json) => string
  /** The form in which an answer shows the sent fields. */
  readonly shown?: (sent: Json) => Json
}

let slugs = 0
const ofWorkspace = async (): Promise<{ readonly workspace: string; readonly hash: string }> => {
  const workspace = dataOf(await call('POST', '/workspaces', { name: 'Round', slug: `round-${++slugs}` }))['id'] as string
  const key = dataOf(await call('POST', '/keys', { name: 'k', workspace_id: workspace }))
  return { workspace, hash: key['hash'] as string }
}

const filters = {
  content_filter_builtins: [{ slug: 'regex-prompt-injection', action: 'flag', label: 'attack', scan_scope: 'all_messages' }],
  content_filters: [{ pattern: 'secret-[0-9]+', action: 'redact', label: 'project' }],
}
const KINDS: { readonly [name: string]: (workspace: string, hash: string) => Kind } = {
  keys: (workspace) => ({
    path: '/keys',
    made: {
      name: 'made',
      limit: 5.25,
      limit_reset: 'weekly',
      include_byok_in_limit: true,
      rate_limits: { requests_per_minute: 7, tokens_per_minute: 8, concurrent_requests: 9 },
      expires_at: '2099-12-31T22:00:00.000Z',
      creator_user_id: 'someone',
      workspace_id: workspace,
    },
    changed: {
      name: 'changed',
      disabled: true,
      limit: 0,
      limit_reset: 'daily',
      include_byok_in_limit: false,
      rate_limits: { requests_per_minute: 70, tokens_per_minute: 80, concurrent_requests: 90 },
      expires_at: '2100-12-31T22:00:00.000Z',
    },
    schemas: ['CreateKeyRequest', 'UpdateKeyRequest'],
    id: ({ hash }) => hash as string,
  }),
  workspaces: (_workspace, hash) => ({
    path: '/workspaces',
    made: {
      name: 'made',
      slug: `made-${hash.slice(0, 12)}`,
      description: 'what for',
      default_text_model: 'acme/small',
      default_image_model: 'acme/picture',
      default_provider_sort: 'latency',
      io_logging_api_key_ids: [hash, 7],
      io_logging_sampling_rate: 0.25,
      is_data_discount_logging_enabled: true,
      is_observability_broadcast_enabled: false,
      is_observability_io_logging_enabled: true,
      rate_limits: { requests_per_minute: 7, tokens_per_minute: 8, concurrent_requests: 9 },
    },
    changed: {
      name: 'changed',
      slug: `changed-${hash.slice(0, 12)}`,
      description: 'another purpose',
      default_text_model: 'acme/large',
      default_image_model: 'acme/painting',
      default_provider_sort: 'price',
      io_logging_api_key_ids: [hash],
      io_logging_sampling_rate: 0.5,
      is_data_discount_logging_enabled: false,
      is_observability_broadcast_enabled: true,
      is_observability_io_logging_enabled: false,
      rate_limits: { requests_per_minute: 70, tokens_per_minute: 80, concurrent_requests: 90 },
    },
    schemas: ['CreateWorkspaceRequest', 'UpdateWorkspaceRequest'],
    id: ({ id }) => id as string,
  }),
  guardrails: (workspace) => ({
    path: '/guardrails',
    made: {
      name: 'made',
      description: 'what for',
      workspace_id: workspace,
      allowed_models: ['acme/*'],
      ignored_models: ['acme/large'],
      allowed_providers: ['acme', 'other'],
      ignored_providers: ['third'],
      enforce_zdr: true,
      enforce_zdr_anthropic: false,
      enforce_zdr_google: true,
      enforce_zdr_openai: false,
      enforce_zdr_xai: true,
      enforce_zdr_other: false,
      enable_free_model_training: false,
      enable_paid_model_training: true,
      enable_free_model_publication: false,
      ...filters,
      limit_usd: 2.5,
      reset_interval: 'weekly',
      include_byok_in_budgets: true,
    },
    changed: {
      name: 'changed',
      description: 'another purpose',
      allowed_models: ['acme/small'],
      ignored_models: ['acme/huge'],
      allowed_providers: ['acme'],
      ignored_providers: ['fourth'],
      enforce_zdr: false,
      enforce_zdr_anthropic: true,
      enforce_zdr_google: false,
      enforce_zdr_openai: true,
      enforce_zdr_xai: false,
      enforce_zdr_other: true,
      enable_free_model_training: true,
      enable_paid_model_training: false,
      enable_free_model_publication: true,
      content_filter_builtins: [{ slug: 'email', action: 'redact' }],
      content_filters: [{ pattern: 'other-[0-9]+', action: 'block', label: null }],
      limit_usd: 7,
      reset_interval: 'daily',
      include_byok_in_budgets: false,
    },
    schemas: ['CreateGuardrailRequest', 'UpdateGuardrailRequest'],
    id: ({ id }) => id as string,
  }),
  'own provider keys': (workspace, hash) => ({
    path: '/byok',
    made: {
      provider: 'acme',
      key: 'sk-own-key-of-them-1',
      workspace_id: workspace,
      name: 'made',
      disabled: true,
      is_fallback: true,
      allowed_models: ['acme/*'],
      allowed_api_key_hashes: [hash],
      allowed_user_ids: ['someone'],
    },
    changed: {
      key: 'sk-other-key-of-them',
      name: 'changed',
      disabled: false,
      is_fallback: false,
      allowed_models: ['acme/small', 'acme/large'],
      allowed_api_key_hashes: [hash, hash],
      allowed_user_ids: ['somebody else'],
    },
    schemas: ['CreateBYOKKeyRequest', 'UpdateBYOKKeyRequest'],
    id: ({ id }) => id as string,
    // Only the ends of a credential are shown.
    shown: ({ key, ...sent }) => ({
      ...sent,
      ...(key === undefined ? {} : { label: `${(key as string).slice(0, 2)}...${(key as string).slice(-2)}` }),
    }),
  }),
  destinations: (workspace, hash) => ({
    path: '/observability/destinations',
    made: {
      type: 'webhook',
      name: 'made',
      config: { url: 'http://127.0.0.1:9/made', method: 'PUT' },
      workspace_id: workspace,
      regions: ['global'],
      enabled: false,
      privacy_mode: true,
      sampling_rate: 0.25,
      api_key_hashes: [hash],
      filter_rules: { enabled: true, groups: [{ logic: 'or', rules: [{ field: 'model', operator: 'contains', value: 'small' }] }] },
      broadcast_generation_cost: true,
      broadcast_generation_identity: true,
      broadcast_generation_request_context: true,
    },
    changed: {
      name: 'changed',
      config: { url: 'http://127.0.0.1:9/changed', method: 'POST' },
      enabled: true,
      privacy_mode: false,
      sampling_rate: 0.5,
      api_key_hashes: [hash, 'a'.repeat(64)],
      filter_rules: { enabled: false, groups: [{ logic: 'and', rules: [{ field: 'total_cost', operator: 'gt', value: 1 }] }] },
      broadcast_generation_cost: false,
      broadcast_generation_identity: false,
      broadcast_generation_request_context: false,
    },
    schemas: ['CreateObservabilityDestinationRequest', 'UpdateObservabilityDestinationRequest'],
    id: ({ id }) => id as string,
  }),
}

describe.each(Object.entries(KINDS))('%s', (_name, kindOf) => {
  it('are read back as they were made and changed, field by field, and are gone when they are deleted', async () => {
    const { workspace, hash } = await ofWorkspace()
    const { path, made, changed, schemas: names, id, shown = (sent) => sent } = kindOf(workspace, hash)
    const fixed = ['type', 'workspace_id', 'regions', 'id', 'created_at', 'updated_at']
    expect(Object.keys(made).toSorted()).toEqual(fieldsOf(names[0]))
    expect(Object.keys(without(changed, ...fixed)).toSorted()).toEqual(fieldsOf(names[1]).filter((name) => !fixed.includes(name)))
    const first = dataOf(await call('POST', path, made))
    expect(first).toMatchObject(shown(made))
    const own = `${path}/${id(first)}`
    const listed = async (): Promise<unknown> => {
      const query = path === '/workspaces' ? '?limit=100' : `?workspace_id=${workspace}&include_disabled=true`
      return (dataOf(await call('GET', `${path}${query}`)) as unknown as readonly Json[]).find((one) => id(one) === id(first))
    }
    expect(dataOf(await call('GET', own))).toEqual(first)
    expect(await listed()).toEqual(first)
    let before = first
    for (const [field, value] of Object.entries(changed)) {
      const after = dataOf(await call('PATCH', own, { [field]: value }))
      const touched = ['updated_at', ...Object.keys(shown({ [field]: value })), ...(field.startsWith('limit') ? ['limit_remaining'] : [])]
      expect(after).toMatchObject(shown({ [field]: value }))
      expect(without(after, ...touched)).toEqual(without(before, ...touched))
      before = after
    }
    expect(dataOf(await call('GET', own))).toEqual(before)
    expect(await listed()).toEqual(before)
    expect(await call('DELETE', own)).toEqual({ deleted: true })
    expect((await gateway.api('GET', `/api/v1${own}`)).status).toBe(404)
    expect(await listed()).toBeUndefined()
  })
})

it('presets are read back as they were made and changed, field by field, and are gone when they are deleted', async () => {
  const { workspace } = await ofWorkspace()
  const query = `?workspace_id=${workspace}`
  const made = {
    slug: 'round',
    name: 'made',
    description: 'what for',
    workspace_id: workspace,
    system_prompt: 'Be brief.',
    config: { model: 'acme/small', temperature: 0.5, cache_enabled: true, cache_ttl_seconds: 86_400 },
  }
  const changed = { name: 'changed', description: null, status: 'disabled', system_prompt: null, config: { temperature: 1 }, designated_version: 1 }
  expect(Object.keys(made).toSorted()).toEqual(fieldsOf('CreatePresetRequest'))
  expect(Object.keys(changed).toSorted()).toEqual(fieldsOf('UpdatePresetRequest'))
  const { system_prompt, config, ...fields } = made
  const first = dataOf(await call('POST', '/presets', made))
  expect(first).toMatchObject({ ...fields, status: 'active', designated_version: { version: 1, system_prompt, config } })
  const read = async () => dataOf(await call('GET', `/presets/round${query}`))
  expect(await read()).toEqual(first)
  const change = async (body: object) => dataOf(await call('PATCH', `/presets/round${query}`, body))
  expect(await change({ name: changed.name })).toMatchObject({
    ...fields,
    name: 'changed',
    designated_version: { version: 1, system_prompt, config },
  })
  expect(await change({ description: null })).toMatchObject({ name: 'changed', description: null, status: 'active' })
  expect(await change({ status: changed.status })).toMatchObject({ status: 'disabled', designated_version: { version: 1 } })
  expect(await change({ system_prompt: null })).toMatchObject({ designated_version: { version: 2, system_prompt: null, config } })
  expect(await change({ config: changed.config })).toMatchObject({ designated_version: { version: 3, system_prompt: null, config: changed.config } })
  const last = await change({ designated_version: 1 })
  expect(last).toMatchObject({ name: 'changed', designated_version: { version: 1, system_prompt, config } })
  expect(await read()).toEqual(last)
  expect(dataOf(await call('GET', `/presets${query}`))).toEqual([without(last, 'designated_version')])
  expect(await call('DELETE', `/presets/round${query}`)).toEqual({ deleted: true })
  expect((await gateway.api('GET', `/api/v1/presets/round${query}`)).status).toBe(404)
})

it('nullable fields are cleared by null', async () => {
  const { workspace, hash } = await ofWorkspace()
  for (const [name, nullable] of [
    ['keys', ['limit', 'limit_reset']],
    ['workspaces', ['description', 'default_text_model', 'default_image_model', 'default_provider_sort', 'io_logging_api_key_ids']],
    ['guardrails', Object.keys(without(KINDS['guardrails']!(workspace, hash).changed, 'name', 'include_byok_in_budgets'))],
    ['own provider keys', ['name', 'allowed_models', 'allowed_api_key_hashes', 'allowed_user_ids']],
    ['destinations', ['api_key_hashes', 'filter_rules']],
  ] as const) {
    const { path, made, id } = KINDS[name]!(workspace, hash)
    const own = `${path}/${id(dataOf(await call('POST', path, made)))}`
    for (const field of nullable) expect(dataOf(await call('PATCH', own, { [field]: null }))).toMatchObject({ [field]: null })
  }
  const { hash: own } = dataOf(await call('POST', '/keys', KINDS['keys']!(workspace, hash).made)) as { hash: string }
  expect(dataOf(await call('PATCH', `/keys/${own}`, { rate_limits: null }))).not.toHaveProperty('rate_limits')
})
