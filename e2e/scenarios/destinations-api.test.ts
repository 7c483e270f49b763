import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { OpenRouter } from '@openrouter/sdk'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startFakeDestination } from '../../src/testing/fake-destination.ts'
import { sampleDestination, sampleWorkspace } from '../../src/testing/sample-records.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { expectKnown } from '../clients/expect-known.ts'
import { verifies } from '../requirements.ts'

/** The destinations API over real sockets: its formats, its rules, its isolation. */
const BASE = '/api/v1/observability/destinations'
const SECOND = '00000000-0000-4000-8000-000000000002'
const SECRET = 'canary-secret-key-0123456789'
let gateway: TestGateway
let otherKey: string

beforeAll(async () => {
  gateway = await startGateway()
  const { store, accounts } = gateway.app.boot
  await store.workspaces.insert(sampleWorkspace(SECOND))
  otherKey = (await accounts.keys.create({ name: 'second', kind: 'management', workspaceId: SECOND })).secret.reveal()
})
afterAll(() => gateway.close())
afterEach(async () => {
  for (const key of [gateway.managementKey, otherKey]) {
    const { data } = (await (await gateway.api('GET', `${BASE}?limit=100`, undefined, key)).json()) as { data: { id: string }[] }
    for (const { id } of data) await gateway.api('DELETE', `${BASE}/${id}`, undefined, key)
  }
})

interface Destination {
  readonly id: string
  readonly config: { readonly [key: string]: unknown }
  readonly [field: string]: unknown
}
const webhook = { type: 'webhook', name: 'hook', config: { url: 'https://receiver.example/hook', headers: { authorization: SECRET } } }
const langfuse = { type: 'langfuse', name: 'traces', config: { publicKey: 'pk-lf-0123456789', secretKey: SECRET } }

async function create(body: object = langfuse, key?: string): Promise<Destination> {
  const response = await gateway.api('POST', BASE, body, key)
  const text = await response.text()
  expect([response.status, text]).toEqual([201, text])
  return (JSON.parse(text) as { data: Destination }).data
}
async function get(id: string): Promise<Destination> {
  return ((await (await gateway.api('GET', `${BASE}/${id}`)).json()) as { data: Destination }).data
}
async function patch(id: string, body: object): Promise<Destination> {
  const response = await gateway.api('PATCH', `${BASE}/${id}`, body)
  const text = await response.text()
  expect([response.status, text]).toEqual([200, text])
  return (JSON.parse(text) as { data: Destination }).data
}
/** The status, error type, and path or message of a refusal. */
async function refusal(method: string, path: string, body?: unknown, key?: string) {
  const response = await gateway.api(method, path, body, key)
  const { error } = (await response.json()) as { error: { code: number; message: string; metadata: { error_type: string } } }
  expect(error.code).toBe(response.status)
  expect(error.message.length).toBeLessThan(1_000)
  return { status: response.status, type: error.metadata.error_type, message: error.message }
}

/** The secret that this destination would send, as the delivery thread sees it. */
async function storedSecret(id: string): Promise<string> {
  const { store, encryption } = gateway.app.boot
  const stored = await store.destinations.get(id)
  return encryption.open(stored!.sealed!, `destination:${id}:${stored!.type}`).reveal()
}

describe('creating', () => {
  it('answers 201 with defaults filled in and secrets masked', async () => {
    const made = await create()
    expect(made).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
      workspace_id: '00000000-0000-4000-8000-000000000001',
      type: 'langfuse',
      name: 'traces',
      enabled: true,
      config: { publicKey: 'pk-l...6789', secretKey: 'cana...6789', baseUrl: 'https://us.cloud.langfuse.com' },
      api_key_hashes: null,
      filter_rules: null,
      regions: ['global'],
      sampling_rate: 1,
      privacy_mode: false,
      broadcast_generation_cost: false,
      broadcast_generation_identity: false,
      broadcast_generation_request_context: false,
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
      updated_at: made['created_at'],
    })
    expect(await get(made.id)).toEqual(made)
    expect(await storedSecret(made.id)).toContain(SECRET)
  })

  it('takes every field', async () => {
    const rules = { enabled: true, groups: [{ logic: 'or', rules: [{ field: 'model', operator: 'regex', value: '^acme/' }] }] }
    const fields = {
      enabled: false,
      privacy_mode: true,
      sampling_rate: 0.0001,
      api_key_hashes: ['abc'],
      filter_rules: rules,
      broadcast_generation_cost: true,
      broadcast_generation_identity: true,
      broadcast_generation_request_context: true,
    }
    expect(await create({ ...langfuse, ...fields })).toMatchObject(fields)
  })

  it.each([
    ['an unknown type', { ...webhook, type: 'carrier-pigeon' }, 'type'],
    ['no type', { name: 'x', config: {} }, 'type'],
    ['no name', { type: 'webhook', config: webhook.config }, 'name'],
    ['an empty name', { ...webhook, name: ' ' }, 'name'],
    ['a name with a null character', { ...webhook, name: 'a\0b' }, 'name'],
    ['no config', { type: 'webhook', name: 'x' }, 'config'],
    ['an unknown key in config', { ...webhook, config: { ...webhook.config, speed: 1 } }, 'config'],
    ['a missing key in config', { ...langfuse, config: { publicKey: 'x' } }, 'config.secretKey: missing'],
    ['a misspelt key in config', { ...langfuse, config: { publickey: 'x', secretKey: 'y' } }, 'config.publickey: unknown; did you mean publicKey?'],
    ['a URL with credentials', { ...webhook, config: { url: 'https://user:pass@receiver.example' } }, 'config.url'],
    ['a header the gateway sets', { ...webhook, config: { ...webhook.config, headers: { host: 'x' } } }, 'config.headers.host'],
    ['a header value no header can hold', { ...webhook, config: { ...webhook.config, headers: { 'x-key': 'ключ' } } }, 'ASCII or Latin-1'],
    ['a key no header can hold', { type: 'langsmith', name: 'x', config: { apiKey: 'ls–key' } }, 'config.apiKey: is sent in a header'],
    ['a sampling rate of 0', { ...webhook, sampling_rate: 0 }, 'sampling_rate'],
    ['a sampling rate above 1', { ...webhook, sampling_rate: 1.01 }, 'sampling_rate'],
    ['a sampling rate as text', { ...webhook, sampling_rate: '0.5' }, 'sampling_rate'],
    ['an empty allowlist', { ...webhook, api_key_hashes: [] }, 'api_key_hashes'],
    [
      'an unknown filter field',
      { ...webhook, filter_rules: { groups: [{ rules: [{ field: 'x', operator: 'equals', value: 'y' }] }] } },
      'filter_rules.groups.0.rules.0.field',
    ],
    [
      'a filter without value',
      { ...webhook, filter_rules: { groups: [{ rules: [{ field: 'model', operator: 'equals' }] }] } },
      'filter_rules.groups.0.rules.0.value',
    ],
    [
      'a filter with a list for a value',
      { ...webhook, filter_rules: { groups: [{ rules: [{ field: 'model', operator: 'equals', value: ['a'] }] }] } },
      'filter_rules.groups.0.rules.0.value: a text of at most 4000 characters or a number is expected',
    ],
    [
      'a filter with null for a value',
      { ...webhook, filter_rules: { groups: [{ rules: [{ field: 'model', operator: 'exists', value: null }] }] } },
      'filter_rules.groups.0.rules.0.value: a text of at most 4000 characters or a number is expected; exists and not_exists do without',
    ],
    [
      'a broken regex',
      { ...webhook, filter_rules: { groups: [{ rules: [{ field: 'model', operator: 'regex', value: '(' }] }] } },
      'filter_rules.groups.0.rules.0.value',
    ],
    ['an unknown field', { ...webhook, colour: 'green' }, 'colour'],
    ['a workspace named by its slug', { ...webhook, workspace_id: 'default' }, 'workspace_id'],
    ['an unknown workspace', { ...webhook, workspace_id: '11111111-1111-4111-8111-111111111111' }, 'workspace_id'],
    ['a list', [webhook], ''],
  ])('refuses %s and names it', async (_name, body, path) => {
    const { status, type, message } = await refusal('POST', BASE, body)
    expect({ status, type }).toEqual({ status: 400, type: 'invalid_request' })
    expect(message).toContain(path)
    expect(message).not.toContain(SECRET)
  })

  it('takes a name of 256 characters, however many units one of them takes, and none of 257', async () => {
    expect([...String((await create({ ...webhook, name: '🚀'.repeat(256) }))['name'])]).toHaveLength(256)
    expect(await refusal('POST', BASE, { ...webhook, name: '🚀'.repeat(257) })).toMatchObject({ status: 400 })
  })

  it('refuses the sixth of a type, counting neither deleted ones nor other types', async () => {
    const made = []
    for (let i = 0; i < 5; i++) made.push(await create({ ...webhook, name: `hook ${i}` }))
    expect(await refusal('POST', BASE, webhook)).toMatchObject({ status: 409, type: 'conflict' })
    await create(langfuse)
    await create(webhook, otherKey)
    await gateway.api('DELETE', `${BASE}/${made[0]!.id}`)
    await create(webhook)
  })
})

describe('changing', () => {
  it(verifies('P39', 'touches only what it names'), async () => {
    const before = await create({ ...langfuse, sampling_rate: 0.5, broadcast_generation_cost: true })
    const after = await patch(before.id, { name: 'renamed', broadcast_generation_identity: true })
    expect(after).toEqual({ ...before, name: 'renamed', broadcast_generation_identity: true, updated_at: after['updated_at'] })
    expect(await patch(before.id, {})).toEqual({ ...after, updated_at: expect.any(String) })
  })

  it(verifies('G5', 'keeps a secret whose mask is written back, and takes a new one'), async () => {
    const { id, config } = await create()
    await patch(id, { config: { ...config, publicKey: 'pk-lf-9876543210' } })
    expect(await storedSecret(id)).toContain(SECRET)
    expect((await get(id)).config).toMatchObject({ publicKey: 'pk-l...3210', secretKey: 'cana...6789' })
    expect((await patch(id, { config: { secretKey: 'another-secret-abcdef' } })).config['secretKey']).toBe('anot...cdef')
    expect(await storedSecret(id)).toContain('another-secret-abcdef')
  })

  it(verifies('G5', 'ignores the mask of a secret that was replaced since, and of a part of it'), async () => {
    const { id, config: stale } = await create()
    await patch(id, { config: { secretKey: 'rotated-secret-0123456789' } })
    for (const secretKey of [stale['secretKey'], '********', '****...6789']) await patch(id, { config: { ...stale, secretKey } })
    expect(await storedSecret(id)).toContain('rotated-secret-0123456789')
    const hook = await create(webhook)
    await patch(hook.id, { config: { headers: { Authorization: '********' } } })
    expect(await storedSecret(hook.id)).toContain(SECRET)
  })

  it('refuses a mask where no secret is stored, in a new destination too', async () => {
    const { id } = await create(webhook)
    const mask = { status: 400, type: 'invalid_request', message: expect.stringContaining('mask') }
    const refused = await refusal('PATCH', `${BASE}/${id}`, { config: { headers: { 'x-other': '********' } } })
    expect(refused).toEqual(mask)
    expect(refused.message).toContain('config.headers.x-other')
    expect(await refusal('POST', BASE, { ...langfuse, config: { publicKey: 'pk-lf-0123456789', secretKey: 'cana...6789' } })).toEqual(mask)
    expect(await refusal('POST', BASE, { ...webhook, config: { ...webhook.config, headers: { authorization: 'cana...6789' } } })).toEqual(mask)
  })

  it('replaces headers as a whole, masked values keeping those of the same name', async () => {
    const { id, config } = await create(webhook)
    expect(config['headers']).toEqual({ authorization: 'cana...6789' })
    const { config: after } = await patch(id, { config: { headers: { Authorization: 'cana...6789', 'x-team': 'short' } } })
    expect(after['headers']).toEqual({ Authorization: 'cana...6789', 'x-team': '********' })
    expect(await storedSecret(id)).toContain(SECRET)
    expect((await patch(id, { config: { headers: { 'x-team': '********' } } })).config['headers']).toEqual({ 'x-team': '********' })
    expect(await storedSecret(id)).not.toContain(SECRET)
  })

  it('accepts a destination as it was read, and changes nothing', async () => {
    const before = await create(webhook)
    expect(await patch(before.id, before)).toEqual({ ...before, updated_at: expect.any(String) })
    expect(await storedSecret(before.id)).toContain(SECRET)
  })

  it('clears with null and validates the merged config', async () => {
    const rules = { groups: [{ rules: [{ field: 'total_cost', operator: 'gt', value: 1 }] }] }
    const { id } = await create({ ...langfuse, api_key_hashes: ['abc'], filter_rules: rules })
    expect(await patch(id, { api_key_hashes: null, filter_rules: null })).toMatchObject({ api_key_hashes: null, filter_rules: null })
    expect((await patch(id, { config: { baseUrl: 'https://eu.example' } })).config['baseUrl']).toBe('https://eu.example')
    expect((await patch(id, { config: { baseUrl: null } })).config['baseUrl']).toBe('https://us.cloud.langfuse.com')
    expect(await refusal('PATCH', `${BASE}/${id}`, { config: { publicKey: null } })).toMatchObject({ status: 400 })
    expect((await get(id)).config['publicKey']).toBe('pk-l...6789')
  })

  it.each([
    [{ type: 'webhook' }],
    [{ workspace_id: SECOND }],
    [{ regions: ['europe'] }],
    [{ sampling_rate: 2 }],
    [{ api_key_hashes: [] }],
    [{ config: 1 }],
    [{ nonsense: true }],
    [{ name: null }],
  ])('refuses %j', async (body) => {
    const { id } = await create()
    expect(await refusal('PATCH', `${BASE}/${id}`, body)).toMatchObject({ status: 400, type: 'invalid_request' })
  })

  it('is refused when somebody else changed it in between', async () => {
    const { id } = await create()
    const results = await Promise.all(Array.from({ length: 6 }, (_, i) => gateway.api('PATCH', `${BASE}/${id}`, { name: `name ${i}` })))
    const statuses = results.map(({ status }) => status)
    expect(statuses.every((status) => status === 200 || status === 409)).toBe(true)
    expect(statuses).toContain(200)
  })
})

describe('listing', () => {
  it('pages in order of creation and counts all', async () => {
    const names = ['a', 'b', 'c']
    for (const name of names) await create({ ...webhook, name })
    const page = async (query: string) =>
      (await (await gateway.api('GET', `${BASE}?${query}`)).json()) as { data: Destination[]; total_count: number }
    expect((await page('')).data.map(({ name }) => name)).toEqual(names)
    const second = await page('offset=1&limit=1')
    expect(second.data.map(({ name }) => name)).toEqual(['b'])
    expect(second.total_count).toBe(3)
    expect((await page('offset=null')).data).toHaveLength(3)
    expect((await page('offset=9')).data).toEqual([])
  })

  it.each(['limit=0', 'limit=101', 'limit=x', 'offset=-1', 'offset=1.5', 'workspace_id=default', 'workspace_id='])('refuses %s', async (query) => {
    expect(await refusal('GET', `${BASE}?${query}`)).toMatchObject({ status: 400, type: 'invalid_request' })
  })

  it.each(['limit=abc', 'limit=', 'offset=abc'])('describes what is wrong with %s in terms of the API', async (query) => {
    const { message } = await refusal('GET', `${BASE}?${query}`)
    expect(message).toBe(`${query.split('=')[0]}: a whole number is expected`)
  })
})

describe('access rules', () => {
  const calls = (id: string): readonly (readonly [string, string, object?])[] => [
    ['GET', `${BASE}/${id}`], ['PATCH', `${BASE}/${id}`, { name: 'stolen' }], ['DELETE', `${BASE}/${id}`], ['POST', `${BASE}/${id}/test`],
    ['POST', `${BASE}/${id}/send-test`], ['GET', `${BASE}/${id}/status`], ['GET', `${BASE}/${id}/dead-letters`],
    ['POST', `${BASE}/${id}/dead-letters/replay`], ['POST', `${BASE}/${id}/dead-letters/purge`], ['POST', `${BASE}/${id}/pause`], ['POST', `${BASE}/${id}/resume`],
  ] // prettier-ignore

  it('an inference key gets 403 everywhere, no key 401', async () => {
    const { id } = await create()
    for (const [method, path, body] of [...calls(id), ['GET', BASE], ['POST', BASE, webhook]] as const) {
      expect(await refusal(method, path, body, gateway.key)).toMatchObject({ status: 403, type: 'permission_denied' })
      expect(await refusal(method, path, body, 'sk-sb-v1-nobody')).toMatchObject({ status: 401, type: 'authentication' })
    }
  })

  it('a key of another workspace gets 404 everywhere and sees nothing', async () => {
    const made = await create()
    for (const [method, path, body] of calls(made.id)) {
      expect(await refusal(method, path, body, otherKey)).toMatchObject({ status: 404, type: 'not_found' })
    }
    expect(await get(made.id)).toEqual(made)
    expect(await (await gateway.api('GET', BASE, undefined, otherKey)).json()).toEqual({ data: [], total_count: 0 })
    const foreign = `?workspace_id=${String(made['workspace_id'])}`
    expect(await refusal('GET', `${BASE}${foreign}`, undefined, otherKey)).toMatchObject({ status: 404 })
    expect(await refusal('POST', BASE, { ...webhook, workspace_id: made['workspace_id'] }, otherKey)).toMatchObject({ status: 403 })
  })

  it("the operator's key reaches the workspace it names", async () => {
    const made = await create({ ...webhook, workspace_id: SECOND })
    expect(made['workspace_id']).toBe(SECOND)
    expect(await (await gateway.api('GET', BASE)).json()).toMatchObject({ total_count: 0 })
    expect(await (await gateway.api('GET', `${BASE}?workspace_id=${SECOND}`)).json()).toMatchObject({ total_count: 1 })
    expect((await get(made.id)).id).toBe(made.id)
    expect((await gateway.api('GET', `${BASE}/${made.id}`, undefined, otherKey)).status).toBe(200)
  })

  it('unknown and malformed ids are 404', async () => {
    for (const id of ['11111111-1111-4111-8111-111111111111', 'nonsense', '%00']) {
      expect(await refusal('GET', `${BASE}/${id}`)).toMatchObject({ status: 404 })
    }
  })
})

it('deleting answers { deleted: true } once, and 404 from then on', async () => {
  const { id } = await create()
  const response = await gateway.api('DELETE', `${BASE}/${id}`)
  expect([response.status, await response.json()]).toEqual([200, { deleted: true }])
  for (const [method, body] of [['GET'], ['PATCH', { name: 'x' }], ['DELETE']] as const) {
    expect(await refusal(method, `${BASE}/${id}`, body)).toMatchObject({ status: 404 })
  }
})

it('no secret can be read again: not in any answer, metric or column', async () => {
  const made = await create(webhook)
  const texts = [JSON.stringify(made)]
  for (const path of [BASE, `${BASE}/${made.id}`, `${BASE}/${made.id}/status`, '/metrics', '/openapi.json'])
    texts.push(await (await gateway.api('GET', path)).text())
  texts.push(await (await gateway.api('PATCH', `${BASE}/${made.id}`, { name: 'again' })).text())
  texts.push(await (await gateway.api('PATCH', `${BASE}/${made.id}`, { config: { url: 'nonsense', headers: { a: SECRET } } })).text())
  const database = new DatabaseSync(gateway.app.boot.directory.databaseFile, { readOnly: true })
  texts.push(JSON.stringify(database.prepare('select * from destinations').all()))
  await gateway.api('DELETE', `${BASE}/${made.id}`)
  const rows = database.prepare('select * from destinations where id = ?').all(made.id)
  database.close()
  expect(rows).toMatchObject([{ sealed: null, config: '{}' }])
  for (const text of texts) expect(text).not.toContain(SECRET)
})

const CONTRACT = join(process.env['SIGNALBOX_FIXTURES'] ?? join(import.meta.dirname, '../../../shared/fixtures'), '../contract/openapi.json')
describe.skipIf(!existsSync(CONTRACT))('every answer matches the contract', () => {
  const configs: { readonly [type: string]: object } = {
    webhook: webhook.config, langfuse: langfuse.config, 'otel-collector': { endpoint: 'https://collector.example:4318' },
    newrelic: { licenseKey: SECRET }, grafana: { apiKey: SECRET, instanceId: '1' }, arize: { apiKey: SECRET, spaceKey: 'space', modelId: 'm' },
    braintrust: { apiKey: SECRET, projectId: 'p' }, clickhouse: { host: 'https://warehouse.example:8443', database: 'd', username: 'u', password: SECRET },
    datadog: { apiKey: SECRET, mlApp: 'app' }, opik: { apiKey: SECRET, workspace: 'w', projectName: 'p' }, posthog: { apiKey: SECRET },
    s3: { bucketName: 'bucket', accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: SECRET }, snowflake: { account: 'org-account', token: SECRET },
    weave: { apiKey: SECRET, entity: 'e', project: 'p' },
    langsmith: { apiKey: SECRET }, ramp: { apiKey: SECRET }, sentry: { otlpEndpoint: 'https://o1.ingest.sentry.example/api/1/integration/otlp', dsn: 'https://abc@o1.ingest.sentry.example/1' },
  } // prettier-ignore

  it('for every type of the contract', () => {
    const { components } = JSON.parse(readFileSync(CONTRACT, 'utf8')) as {
      components: { schemas: { ObservabilityDestination: { oneOf: { $ref: string }[] } } }
    }
    expect(components.schemas.ObservabilityDestination.oneOf).toHaveLength(Object.keys(configs).length)
  })

  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
  beforeAll(() => {
    ajv.addSchema({ $id: 'contract', components: (JSON.parse(readFileSync(CONTRACT, 'utf8')) as { components: object }).components })
  })

  it.each(Object.keys(configs))('for %s', async (type) => {
    const check = (schema: string, value: unknown): void => {
      const validate = ajv.getSchema(`contract#/components/schemas/${schema}`)!
      expect([schema, validate(value) ? '' : ajv.errorsText(validate.errors)]).toEqual([schema, ''])
    }
    const body = { type, name: type, config: configs[type] }
    check('CreateObservabilityDestinationRequest', body)
    const made: unknown = await (await gateway.api('POST', BASE, body)).json()
    check('CreateObservabilityDestinationResponse', made)
    const { id } = (made as { data: Destination }).data
    check('GetObservabilityDestinationResponse', await (await gateway.api('GET', `${BASE}/${id}`)).json())
    check('ListObservabilityDestinationsResponse', await (await gateway.api('GET', BASE)).json())
    check('UpdateObservabilityDestinationResponse', await (await gateway.api('PATCH', `${BASE}/${id}`, { name: 'x' })).json())
    check('ForbiddenResponse', await (await gateway.api('GET', BASE, undefined, gateway.key)).json())
    check('DeleteObservabilityDestinationResponse', await (await gateway.api('DELETE', `${BASE}/${id}`)).json())
    check('NotFoundResponse', await (await gateway.api('GET', `${BASE}/${id}`)).json())
  })
})

describe('where the operator has locked privacy', () => {
  let locked: TestGateway
  beforeAll(async () => {
    locked = await startGateway({ destinations: { privacy_locked: true } })
  })
  afterAll(() => locked.close())

  it('every destination is private, and asking for anything else is refused with 403', async () => {
    const refused = await locked.api('POST', BASE, { ...webhook, privacy_mode: false })
    expect([refused.status, await refused.json()]).toMatchObject([403, { error: { code: 403, message: 'Privacy settings are locked' } }])
    const made = await locked.api('POST', BASE, webhook)
    const { data } = (await made.json()) as { data: Destination }
    expect([made.status, data['privacy_mode']]).toEqual([201, true])
    const patched = await locked.api('PATCH', `${BASE}/${data.id}`, { privacy_mode: false })
    expect([patched.status, await patched.json()]).toMatchObject([403, { error: { code: 403, message: 'Privacy settings are locked' } }])
    expect((await locked.api('PATCH', `${BASE}/${data.id}`, { privacy_mode: true, name: 'again' })).status).toBe(200)
  })

  it('destinations made before are private too, in what is shown and in what is sent', async () => {
    const receiver = await startFakeDestination()
    const config = { url: `${receiver.url}/hook`, method: 'POST' }
    await locked.app.boot.store.destinations.insert(sampleDestination('4fa3a4a2-6f0e-4c7e-9b8a-5f1c2d3e4f51', { config }), 5)
    const shown = (await (await locked.api('GET', `${BASE}/4fa3a4a2-6f0e-4c7e-9b8a-5f1c2d3e4f51`)).json()) as { data: Destination }
    expect(shown.data['privacy_mode']).toBe(true)
    await expect
      .poll(
        async () => {
          await locked.respond({ model: 'demo/echo', input: 'canary of the prompt' })
          return receiver.accepted.length
        },
        { timeout: 20_000, interval: 500 },
      )
      .toBeGreaterThan(0)
    for (const { body } of receiver.accepted) expect(body.toString()).not.toContain('canary of the prompt')
    await receiver.close()
  })
})

describe('a real client', () => {
  const client = () => new OpenRouter({ apiKey: gateway.managementKey, serverURL: `${gateway.url}/api/v1`, retryConfig: { strategy: 'none' } })

  it('creates, reads, lists, changes and deletes', async () => {
    const { observability } = client()
    const { data: made } = await observability.create({
      createObservabilityDestinationRequest: { type: 'webhook', name: 'from a client', config: webhook.config },
    })
    if (made.type !== 'webhook') throw new Error(`the client read ${JSON.stringify(made)}`)
    const data = made
    expect(data).toMatchObject({ type: 'webhook', name: 'from a client', enabled: true, config: { method: 'POST' } })
    expectKnown(data)
    expect((await observability.get({ id: data.id })).data).toEqual(data)
    const pages = []
    for await (const page of await observability.list({ limit: 1 })) pages.push(page)
    expectKnown(pages)
    expect(pages.flatMap((page) => page.result.data)).toEqual([data])
    const updated = await observability.update({ id: data.id, updateObservabilityDestinationRequest: { samplingRate: 0.5, enabled: false } })
    expect(updated.data).toMatchObject({ samplingRate: 0.5, enabled: false, name: 'from a client' })
    expect(await observability.delete({ id: data.id })).toEqual({ deleted: true })
    await expect(observability.get({ id: data.id })).rejects.toMatchObject({ statusCode: 404 })
    await expect(observability.create({ createObservabilityDestinationRequest: { type: 'webhook', name: 'x', config: {} } })).rejects.toMatchObject({
      statusCode: 400,
    })
  })
})
