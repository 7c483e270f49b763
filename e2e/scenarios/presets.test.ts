import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { chatText, startFakeUpstream, stream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { findTestPostgres } from '../../src/testing/postgres.ts'
import { chatConfig, startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'

/** Presets: created, referenced in three ways, changed, and isolated between workspaces. */
type Json = { readonly [field: string]: unknown }

const CONTRACT = join(process.env['SIGNALBOX_FIXTURES'] ?? join(import.meta.dirname, '../../../shared/fixtures'), '../contract/openapi.json')

let upstream: FakeUpstream
let gateway: TestGateway
beforeAll(async () => {
  upstream = await startFakeUpstream(stream(chatText('hello')))
  gateway = await startGateway(chatConfig([upstream.url], { routing: { sticky: false, cooldown: false } }))
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

async function api(method: string, path: string, status: number, body?: unknown, key?: string): Promise<Json> {
  const response = await gateway.api(method, `/api/v1/presets${path}`, body, key)
  const text = await response.text()
  if (response.status !== status) throw new Error(`${method} ${path}: ${response.status} instead of ${status}: ${text}`)
  return JSON.parse(text) as Json
}
const dataOf = (answer: Json): Json => answer['data'] as Json
const lastSent = (): Json => upstream.requests.at(-1)!.body

async function ask(body: object, key?: string): Promise<{ readonly status: number; readonly answer: Json }> {
  const headers = { 'x-gateway-experimental-metadata': 'enabled' }
  const response = await gateway.respond(body, { headers, ...(key === undefined ? {} : { key }) })
  const text = await response.text()
  if (!text.startsWith('event:') && !text.startsWith('data:') && !text.startsWith(':'))
    return { status: response.status, answer: JSON.parse(text) as Json }
  const events = text.split('\n').flatMap((line) => (line.startsWith('data: {') ? [JSON.parse(line.slice(6)) as Json] : []))
  return { status: response.status, answer: events.at(-1)?.['response'] as Json }
}

describe('a preset made from a request', () => {
  beforeEach(async () => {
    await api('POST', '/classifier/responses', 200, {
      model: 'acme/small',
      instructions: 'Classify the message.',
      temperature: 0.2,
      input: 'Hello, I need a refund.',
      stream: true,
      user: 'somebody',
    })
  })

  it('contains the settings, and nothing of the conversation', async () => {
    const preset = dataOf(await api('GET', '/classifier', 200))
    expect(preset).toMatchObject({ slug: 'classifier', name: 'classifier', status: 'active' })
    expect(preset['designated_version']).toMatchObject({
      system_prompt: 'Classify the message.',
      config: { model: 'acme/small', temperature: 0.2 },
      preset_id: preset['id'],
    })
    expect(Object.keys((preset['designated_version'] as { config: Json }).config).sort()).toEqual(['model', 'temperature'])
  })

  for (const streamed of [false, true]) {
    it.each([
      ['as the model', { model: '@preset/classifier' }],
      ['behind a model', { model: 'acme/small@preset/classifier' }],
      ['by the field', { model: 'acme/small', preset: 'classifier' }],
    ])(`serves requests that name it %s, ${streamed ? 'streamed' : 'in JSON'}`, async (_, named) => {
      const { status, answer } = await ask({ ...named, input: 'hi', stream: streamed })
      expect(status).toBe(200)
      expect(answer).toMatchObject({ model: 'acme/small', temperature: 0.2, instructions: 'Classify the message.' })
      expect(lastSent()).toMatchObject({ model: 'small-1', temperature: 0.2 })
      expect(lastSent()['messages']).toEqual([
        { role: 'system', content: 'Classify the message.' },
        { role: 'user', content: 'hi' },
      ])
      expect(lastSent()).not.toHaveProperty('preset')
      // The metadata shows the name that the caller wrote.
      expect((answer['gateway_metadata'] as Json)['requested']).toBe(named.model)
    })
  }

  it('is overridden by the request', async () => {
    await ask({ model: '@preset/classifier', input: 'hi', temperature: 1, instructions: 'Be kind.' })
    expect(lastSent()).toMatchObject({ temperature: 1, messages: [{ content: 'Be kind.' }, { content: 'hi' }] })
  })

  it('is named in the record', async () => {
    const { answer } = await ask({ model: '@preset/classifier', input: 'hi' })
    const id = dataOf(await api('GET', '/classifier', 200))['id']
    const record = (await (await gateway.api('GET', `/api/v1/generation?id=${answer['id'] as string}`, undefined, gateway.key)).json()) as Json
    expect(dataOf(record)).toMatchObject({ preset_id: id })
  })

  it('uses its new version at once', async () => {
    const { version } = dataOf(await api('POST', '/classifier/responses', 200, { model: 'acme/small', temperature: 0.9 }))['designated_version'] as {
      readonly version: number
    }
    expect(version).toBeGreaterThan(1)
    await ask({ model: '@preset/classifier', input: 'hi' })
    expect(lastSent()).toMatchObject({ temperature: 0.9, messages: [{ role: 'user' }] })
    const versions = (await api('GET', '/classifier/versions', 200))['data'] as readonly Json[]
    expect(versions).toHaveLength(version)
    expect(dataOf(await api('GET', `/classifier/versions/${version - 1}`, 200))).toMatchObject({ version: version - 1, config: { temperature: 0.2 } })
    await api('PATCH', '/classifier', 200, { designated_version: version - 1 })
    await ask({ model: '@preset/classifier', input: 'hi' })
    expect(lastSent()).toMatchObject({ temperature: 0.2 })
  })
})

describe('presets of operators', () => {
  it('are created, listed, changed and deleted with a management key', async () => {
    const created = dataOf(await api('POST', '', 201, { slug: 'mailer', name: 'Mailer', system_prompt: 'Write.', config: { top_p: 0.5 } }))
    expect(created).toMatchObject({ slug: 'mailer', name: 'Mailer', description: null, designated_version: { version: 1, config: { top_p: 0.5 } } })
    await api('POST', '', 409, { slug: 'mailer' })
    const changed = dataOf(await api('PATCH', '/mailer', 200, { description: 'For letters', config: { top_p: 0.6 } }))
    expect(changed).toMatchObject({ description: 'For letters', designated_version: { version: 2, system_prompt: 'Write.', config: { top_p: 0.6 } } })
    await api('PATCH', '/mailer', 200, { status: 'disabled' })
    expect((await ask({ model: 'acme/small@preset/mailer', input: 'hi' })).status).toBe(404)
    await api('DELETE', '/mailer', 200)
    await api('GET', '/mailer', 404)
    await api('DELETE', '/mailer', 404)
  })

  it('are written by management keys only, and read by every key', async () => {
    await api('POST', '', 403, { slug: 'a' }, gateway.key)
    await api('PATCH', '/a', 403, { name: 'b' }, gateway.key)
    await api('DELETE', '/a', 403, undefined, gateway.key)
    await api('GET', '', 200, undefined, gateway.key)
    await api('GET', '', 401, undefined, 'nonsense')
  })

  it('have the shape of the contract in lists', async () => {
    await api('POST', '/listed/responses', 200, { model: 'acme/small' })
    const list = await api('GET', '?limit=1', 200)
    expect(list['data']).toHaveLength(1)
    expect(list['total_count']).toBeGreaterThan(0)
    let document: string
    try {
      document = readFileSync(CONTRACT, 'utf8')
    } catch {
      return console.warn(`\n*** SKIPPED: the shape of preset lists: no contract at ${CONTRACT} ***\n`)
    }
    const ajv = new Ajv2020({ strict: false, validateFormats: false }).addSchema(JSON.parse(document) as object, 'contract')
    const validate = ajv.getSchema('contract#/components/schemas/ListPresetsResponse')!
    void validate(list)
    expect(validate.errors).toBeNull()
  })

  it('never show the credentials of their tools again', async () => {
    const tools = [
      { type: 'mcp', server_label: 'docs', server_url: 'https://docs.example.com/mcp', authorization: 'canary', headers: { 'x-key': 'canary' } },
    ]
    const made = await api('POST', '', 201, { slug: 'secretive', config: { tools } })
    expect(JSON.stringify([made, await api('GET', '/secretive', 200), await api('GET', '/secretive/versions', 200)])).not.toContain('canary')
    const { config } = dataOf(made)['designated_version'] as { readonly config: Json }
    const error = (await api('PATCH', '/secretive', 400, { config }))['error'] as Json
    expect(error['message']).toContain('masked')
  })

  it('show neither query nor user in the URL of a server, and refuse a masked one', async () => {
    const tool = (server_url: string) => ({ type: 'mcp', server_label: 'docs', server_url })
    const tools = [
      tool('https://docs.example.com/mcp'),
      tool('https://docs.example.com/mcp?token=canary'),
      tool('https://me:canary@docs.example.com/'),
    ]
    const made = dataOf(await api('POST', '', 201, { slug: 'addressed', config: { tools } }))['designated_version'] as { readonly config: Json }
    const shown = ['https://docs.example.com/mcp', 'https://docs.example.com/mcp?***', 'https://docs.example.com/?***']
    expect((made.config['tools'] as readonly Json[]).map(({ server_url: url }) => url)).toEqual(shown)
    const error = (await api('PATCH', '/addressed', 400, { config: made.config }))['error'] as Json
    expect(error['message']).toContain('masked')
  })

  it('show tools of callers unchanged, whatever their parameters are called, and accept them back', async () => {
    const properties = { headers: { type: 'string', description: 'CSV headers' }, authorization: { const: '***' }, api_key: { type: 'string' } }
    const schema = { type: 'object', properties, required: ['headers', 'authorization', 'api_key'], additionalProperties: false }
    const config = {
      tools: [{ type: 'function', name: 'export', parameters: schema }],
      text: {
        format: { type: 'json_schema', name: 'answer', schema: { ...schema, properties: { ...properties, authorization: { type: 'string' } } } },
      },
    }
    const made = dataOf(await api('POST', '', 201, { slug: 'exporter', config }))['designated_version'] as { readonly config: Json }
    expect(made.config).toEqual(config)
    const again = dataOf(await api('PATCH', '/exporter', 200, { config: made.config }))['designated_version'] as { readonly config: Json }
    expect(again.config).toEqual(config)
  })

  it('are refused when a request like them would be', async () => {
    for (const [config, path] of [
      [{ temperature: 'hot' }, 'temperature'],
      [{ input: 'hi' }, 'config'],
      [{ model: '@preset/other' }, 'model'],
      [{ tool_choice: { type: 'function', name: 'nobody' } }, 'tool_choice.name'],
    ] as const) {
      const response = await gateway.api('POST', '/api/v1/presets', { slug: 'wrong', config })
      expect([400, 422]).toContain(response.status)
      expect(((await response.json()) as { error: { metadata: Json } }).error.metadata['path']).toBe(path)
    }
    await api('POST', '', 400, { slug: '../keys' })
    await api('POST', '', 400, { slug: 'a', workspace: 'x' })
    await api('GET', '/wrong', 404)
  })

  it('are not found under a name that is not a slug, and creating one reports the slug as invalid', async () => {
    for (const path of ['/%20', '/a%2Fb', `/${'x'.repeat(300)}`, '/%20/versions', '/%20/versions/1']) await api('GET', path, 404)
    await api('PATCH', '/%20', 404, { name: 'a' })
    await api('DELETE', '/%20', 404)
    const response = await gateway.api('POST', '/api/v1/presets/%20/responses', { model: 'acme/small', input: 'hi' })
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { error: { message: expect.stringMatching(/^slug: /), metadata: { path: 'slug' } } },
    ])
  })

  it('has versions with whole numbers', async () => {
    await api('POST', '', 201, { slug: 'numbered' })
    await api('GET', '/numbered/versions/1', 200)
    for (const version of ['0x1', '1e0', '%201', '1.0', '0', 'x']) await api('GET', `/numbered/versions/${version}`, 400)
  })
})

describe('presets of another workspace', () => {
  it('do not exist for any key, on any route', async () => {
    const workspace = (await (await gateway.api('POST', '/api/v1/workspaces', { name: 'Second', slug: 'second' })).json()) as Json
    const workspaceId = dataOf(workspace)['id'] as string
    const key = (await gateway.app.accounts.create({ name: 'theirs', kind: 'inference', workspaceId })).secret.reveal()
    const managementKey = (await gateway.app.accounts.create({ name: 'their manager', kind: 'management', workspaceId })).secret.reveal()
    await api('POST', '/ours/responses', 200, { model: 'acme/small' })
    for (const foreign of [key, managementKey]) {
      await api('GET', '/ours', 404, undefined, foreign)
      expect((await api('GET', '', 200, undefined, foreign))['total_count']).toBe(0)
      await api('GET', '?workspace_id=00000000-0000-4000-8000-000000000001', 404, undefined, foreign)
    }
    await api('DELETE', '/ours', 404, undefined, managementKey)
    expect(await ask({ model: '@preset/ours', input: 'hi' }, key)).toMatchObject({
      status: 404,
      answer: { error: { metadata: { error_type: 'not_found' } } },
    })
    // An inference key of the first workspace has no access to the second either.
    await api('GET', `?workspace_id=${workspaceId}`, 404, undefined, gateway.key)
    await api('POST', '/ours/responses', 200, { model: 'acme/small', temperature: 0.3 }, key)
    await ask({ model: '@preset/ours', input: 'hi' }, key)
    expect(lastSent()).toMatchObject({ temperature: 0.3 })
    await ask({ model: '@preset/ours', input: 'hi' })
    expect(lastSent()).not.toHaveProperty('temperature')
  })
})

it('a plan can be explained for a preset', async () => {
  await api('POST', '/planned/responses', 200, { model: 'acme/small' })
  const plan = (await (await gateway.api('POST', '/api/v1/route/explain', { model: '@preset/planned', input: 'hi' }, gateway.key)).json()) as Json
  expect(plan['attempts']).toMatchObject([{ model: 'acme/small' }])
})

const postgres = await findTestPostgres('presets across processes')
describe.skipIf(!postgres.available)('with several processes', () => {
  it('a preset made in one serves in the other within five seconds', async () => {
    if (!postgres.available) return
    const schema = await postgres.createSchema()
    const env = { SIGNALBOX_DATABASE_URL: schema.url.reveal(), SIGNALBOX_SECRET_KEY: Buffer.alloc(32, 7).toString('base64') }
    const one = await startGateway(chatConfig([upstream.url]), env)
    const other = await startGateway(chatConfig([upstream.url]), env)
    try {
      const made = await one.api('POST', '/api/v1/presets/shared/responses', { model: 'acme/small' })
      expect(made.status).toBe(200)
      const deadline = Date.now() + 5_000
      let status = 0
      while (status !== 200 && Date.now() < deadline) {
        const response = await other.respond({ model: '@preset/shared', input: 'hi' })
        await response.text()
        status = response.status
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
      expect(status).toBe(200)
    } finally {
      await one.close()
      await other.close()
      await schema.drop()
    }
  }, 30_000)
})
