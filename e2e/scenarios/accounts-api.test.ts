import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { OpenRouter } from '@openrouter/sdk'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chatEvents, chatText, startFakeUpstream, status, stream, type FakeUpstream, type Reply } from '../../src/testing/fake-upstream.ts'
import { chatConfig, startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { verifies } from '../requirements.ts'

/** Keys, workspaces, budgets, own keys, usage: the formats of the contract, and the isolation of workspaces. */
const CONTRACT = join(process.env['SIGNALBOX_FIXTURES'] ?? join(import.meta.dirname, '../../../shared/fixtures'), '../contract/openapi.json')
const DEFAULT = '00000000-0000-4000-8000-000000000001'

type Json = { readonly [field: string]: unknown }

/** Checks answers against the contract's document if it is available. */
function readContract(): ((method: string, path: string, code: number, body: unknown) => void) | undefined {
  let text: string
  try {
    text = readFileSync(CONTRACT, 'utf8')
  } catch {
    console.warn(`\n*** SKIPPED: shapes of the accounts API: no contract at ${CONTRACT} ***\n`)
    return undefined
  }
  const document = JSON.parse(text) as { readonly paths: Json }
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  ajv.addSchema(document, 'contract')
  return (method, path, code, body) => {
    const pointer = `contract#/paths/${path.replaceAll('~', '~0').replaceAll('/', '~1').replaceAll('{', '%7B').replaceAll('}', '%7D')}/${method}/responses/${code}/content/application~1json/schema`
    const validate = ajv.getSchema(pointer)
    if (validate === undefined) throw new Error(`the contract has no ${pointer}`)
    if (!validate(body)) throw new Error(`${method} ${path}: ${JSON.stringify(validate.errors)}`)
  }
}
const conforms = readContract()

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

/** Makes one API call and compares its answer with the contract. */
async function call(method: string, path: string, template: string, code: number, body?: unknown, key?: string): Promise<Json> {
  const response = await gateway.api(method, `/api/v1${path}`, body, key)
  const text = await response.text()
  if (response.status !== code) throw new Error(`${method} ${path}: ${response.status} instead of ${code}: ${text}`)
  const answer = JSON.parse(text) as Json
  // The contract lists the vendors of one hosted service; a gateway has its own providers, and its own slugs for some of them.
  if (code < 300) conforms?.(method.toLowerCase(), template, code, JSON.parse(text.replaceAll(/"provider":"(?:acme|zai)"/g, '"provider":"openai"')))
  return answer
}
const dataOf = (answer: Json): Json => answer['data'] as Json
const listOf = (answer: Json): readonly Json[] => answer['data'] as readonly Json[]

let slugs = 0
const createWorkspace = async (): Promise<string> =>
  dataOf(await call('POST', '/workspaces', '/workspaces', 201, { name: 'Second', slug: `second-${++slugs}` }))['id'] as string
/** A management key of another workspace, created where operators create them. */
const managementKeyOf = async (workspaceId: string): Promise<string> =>
  (await gateway.app.accounts.create({ name: 'their management key', kind: 'management', workspaceId })).secret.reveal()
const ask = (key: string) => gateway.respond({ model: 'acme/small', input: 'hi' }, { key })

describe('/keys', () => {
  it('creates, reads, lists, changes and deletes a key that works until then', async () => {
    const created = await call('POST', '/keys', '/keys', 201, { name: 'billing', limit: 5, limit_reset: 'weekly', include_byok_in_limit: true })
    const key = created['key'] as string
    const { hash } = dataOf(created) as { hash: string }
    expect(key).toMatch(/^sk-sb-v1-/)
    expect(dataOf(created)).toMatchObject({
      limit: 5,
      limit_remaining: 5,
      limit_reset: 'weekly',
      include_byok_in_limit: true,
      usage: 0,
      workspace_id: DEFAULT,
    })
    expect((await ask(key)).status).toBe(200)
    const read = dataOf(await call('GET', `/keys/${hash}`, '/keys/{hash}', 200))
    expect(read['usage']).toBeGreaterThan(0)
    expect(read).toMatchObject({ usage_daily: read['usage'], usage_weekly: read['usage'], usage_monthly: read['usage'], byok_usage: 0 })
    expect(read['limit_remaining']).toBeCloseTo(5 - (read['usage'] as number), 12)
    expect(JSON.stringify(read)).not.toContain(key)
    const own = dataOf(await call('GET', '/key', '/key', 200, undefined, key))
    expect(own).toMatchObject({ usage: read['usage'], limit: 5, is_management_key: false, is_free_tier: false })
    expect(listOf(await call('GET', '/keys', '/keys', 200)).map((one) => one['hash'])).toContain(hash)
    expect(
      dataOf(await call('PATCH', `/keys/${hash}`, '/keys/{hash}', 200, { limit: null, limit_reset: null, disabled: true, name: 'renamed' })),
    ).toMatchObject({
      limit: null,
      limit_remaining: null,
      limit_reset: null,
      disabled: true,
      name: 'renamed',
    })
    expect((await ask(key)).status).toBe(401)
    expect(listOf(await call('GET', '/keys', '/keys', 200)).map((one) => one['hash'])).not.toContain(hash)
    expect(listOf(await call('GET', '/keys?include_disabled=true', '/keys', 200)).map((one) => one['hash'])).toContain(hash)
    expect(await call('DELETE', `/keys/${hash}`, '/keys/{hash}', 200)).toEqual({ deleted: true })
    await call('GET', `/keys/${hash}`, '/keys/{hash}', 404)
    await call('PATCH', `/keys/${hash}`, '/keys/{hash}', 404, { name: 'again' })
  })

  it('changes when a key expires, also after it has, and takes the end away', async () => {
    const created = await call('POST', '/keys', '/keys', 201, {
      name: 'to be extended',
      limit: 5,
      expires_at: new Date(Date.now() + 700).toISOString(),
    })
    const key = created['key'] as string
    const { hash } = dataOf(created) as { hash: string }
    await expect.poll(async () => (await ask(key)).status, { timeout: 5_000, interval: 50 }).toBe(401)
    const change = async (expires: string | null, status: number): Promise<Json> =>
      call('PATCH', `/keys/${hash}`, '/keys/{hash}', status, { expires_at: expires })

    expect(dataOf(await change('2999-01-31T12:00:00+02:00', 200))).toMatchObject({ expires_at: '2999-01-31T10:00:00.000Z', limit: 5 })
    expect((await ask(key)).status).toBe(200)
    for (const refused of ['soon', '2001-01-01T00:00:00Z', '9999-12-31T23:59:59-14:00'])
      expect(((await change(refused, 400))['error'] as Json)['metadata']).toMatchObject({ path: 'expires_at' })
    expect(dataOf(await change(null, 200))['expires_at']).toBeNull()
    expect((await ask(key)).status).toBe(200)
    expect(dataOf(await call('PATCH', `/keys/${hash}`, '/keys/{hash}', 200, { name: 'extended' }))['expires_at']).toBeNull()
  })

  it('shows in which minute a key was last used, for anything, and still after a restart', async () => {
    const begun = Date.now()
    const created = await call('POST', '/keys', '/keys', 201, { name: 'seldom used' })
    const { hash } = dataOf(created) as { hash: string }
    const lastUse = async (of: TestGateway): Promise<unknown> =>
      dataOf((await (await of.api('GET', `/api/v1/keys/${hash}`)).json()) as Json)['last_used_at']
    expect([dataOf(created)['last_used_at'], await lastUse(gateway)]).toEqual([null, null])
    expect((await gateway.api('GET', '/api/v1/key', undefined, created['key'] as string)).status).toBe(200)
    const used = Date.parse((await lastUse(gateway)) as string)
    expect(used % 60_000).toBe(0)
    expect(used).toBeGreaterThanOrEqual(begun - 60_000)
    expect(used).toBeLessThanOrEqual(Date.now())
    const listed = listOf(await call('GET', '/keys', '/keys', 200)).find((one) => one['hash'] === hash)
    expect(listed).toMatchObject({ last_used_at: new Date(used).toISOString() })
    gateway = await gateway.restart()
    expect(await lastUse(gateway)).toBe(new Date(used).toISOString())
  })

  it('rotates a key: it stays the same key, and its earlier secret works until the grace period is over', async () => {
    const created = await call('POST', '/keys', '/keys', 201, { name: 'rotated', limit: 5 })
    const [first, { hash, label }] = [created['key'] as string, dataOf(created) as { hash: string; label: string }]
    expect((await ask(first)).status).toBe(200)
    const rotate = async (body?: object, status = 200): Promise<Json> => {
      const response = await gateway.api('POST', `/api/v1/keys/${hash}/rotate`, body)
      expect(response.status).toBe(status)
      return (await response.json()) as Json
    }
    const answer = await rotate({ grace_seconds: 3_600 })
    const second = answer['key'] as string
    expect(dataOf(answer)).toMatchObject({ hash, name: 'rotated', limit: 5, previous_secrets: [{ label, last_used_at: expect.any(String) }] })
    const [{ expires_at: end }] = dataOf(answer)['previous_secrets'] as readonly [{ readonly expires_at: string }]
    expect(Math.abs(Date.parse(end) - Date.now() - 3_600_000)).toBeLessThan(60_000)
    const own = async (key: string) => dataOf(await call('GET', '/key', '/key', 200, undefined, key))
    expect([await own(first), await own(second)]).toMatchObject([{ label, expires_at: end }, { expires_at: null }])
    expect([(await ask(first)).status, (await ask(second)).status]).toEqual([200, 200])
    const read = dataOf(await call('GET', `/keys/${hash}`, '/keys/{hash}', 200))
    expect((await own(second))['usage']).toBe(read['usage'])
    expect(JSON.stringify(read)).not.toContain(second)

    const ended = await gateway.api('DELETE', `/api/v1/keys/${hash}/previous-secrets`)
    expect(dataOf((await ended.json()) as Json)).not.toHaveProperty('previous_secrets')
    const refused = await ask(first)
    expect([refused.status, await refused.text()]).toEqual([401, expect.stringContaining('has been replaced by a new one')])
    expect((await ask(second)).status).toBe(200)

    const third = (await rotate({ grace_seconds: 0 }))['key'] as string
    expect([(await ask(second)).status, (await ask(third)).status]).toEqual([401, 200])
    const fourth = (await rotate())['key'] as string
    expect([(await ask(third)).status, (await ask(fourth)).status]).toEqual([200, 200])
    for (const body of [{ grace_seconds: -1 }, { grace_seconds: 1.5 }, { grace_seconds: 7_776_001 }, { grace: 1 }]) await rotate(body, 400)
    await call('DELETE', `/keys/${hash}`, '/keys/{hash}', 200)
    expect([(await ask(third)).status, (await ask(fourth)).status]).toEqual([401, 401])
    await rotate(undefined, 404)
  })

  it(verifies('F2', 'refuses fields nobody may set, and values that make no sense'), async () => {
    for (const body of [
      { name: 'a', usage: 0 },
      { name: 'a', hash: 'b' },
      { name: 'a', kind: 'management' },
      { name: 'a', limit_remaining: 9 },
      { name: '' },
      {},
      { name: 'a', limit: -1 },
      { name: 'a', limit_reset: 'hourly' },
      { name: 'a', expires_at: 'soon' },
      { name: 'a', expires_at: '2001-01-01T00:00:00Z' },
      { name: 'a', expires_at: '9999-12-31T23:59:59-14:00' },
      { name: 'a', rate_limits: { requests_per_minute: 0 } },
      [],
      null,
    ]) {
      expect(((await call('POST', '/keys', '/keys', 400, body))['error'] as Json)['metadata']).toMatchObject({ error_type: 'invalid_request' })
    }
    const { hash } = dataOf(await call('POST', '/keys', '/keys', 201, { name: 'a' })) as { hash: string }
    for (const field of ['workspace_id', 'created_at', 'usage', 'label']) {
      const answer = await call('PATCH', `/keys/${hash}`, '/keys/{hash}', 400, { [field]: DEFAULT })
      expect((answer['error'] as Json)['metadata']).toMatchObject({ path: field })
    }
  })
})

describe('access rules', () => {
  it(verifies('F3', 'refuse inference keys on management routes, and management keys for inference'), async () => {
    const routes = [
      ['GET', '/keys'],
      ['POST', '/keys'],
      ['GET', '/keys/x'],
      ['PATCH', '/keys/x'],
      ['DELETE', '/keys/x'],
      ['GET', '/credits'],
      ['GET', '/workspaces'],
      ['POST', '/workspaces'],
      ['GET', `/workspaces/${DEFAULT}`],
      ['PATCH', `/workspaces/${DEFAULT}`],
      ['DELETE', `/workspaces/${DEFAULT}`],
      ['GET', `/workspaces/${DEFAULT}/budgets`],
      ['GET', `/workspaces/${DEFAULT}/budgets/daily`],
      ['PUT', `/workspaces/${DEFAULT}/budgets/daily`],
      ['DELETE', `/workspaces/${DEFAULT}/budgets/daily`],
      ['GET', '/activity'],
      ['GET', '/byok'],
      ['POST', '/byok'],
      ['GET', '/byok/x'],
      ['PATCH', '/byok/x'],
      ['DELETE', '/byok/x'],
    ] as const
    for (const [method, path] of routes) {
      const body = method === 'GET' || method === 'DELETE' ? undefined : {}
      expect((await gateway.api(method, `/api/v1${path}`, body, gateway.key)).status, `${method} ${path}`).toBe(403)
      expect((await gateway.api(method, `/api/v1${path}`, body, 'nonsense')).status, `${method} ${path}`).toBe(401)
    }
    expect((await gateway.api('POST', '/api/v1/route/explain', { model: 'acme/small' })).status).toBe(403)
    expect((await ask(gateway.managementKey)).status).toBe(403)
  })

  it(verifies('F1', 'hide a workspace from management keys of another workspace'), async () => {
    const [mine, theirs] = [await createWorkspace(), await createWorkspace()]
    const key = await managementKeyOf(mine)
    const { hash } = dataOf(await call('POST', '/keys', '/keys', 201, { name: 'theirs', workspace_id: theirs })) as { hash: string }
    const { id } = dataOf(await call('POST', '/byok', '/byok', 201, { provider: 'acme', key: 'sk-their-own-key-123456', workspace_id: theirs })) as {
      id: string
    }
    await call('PUT', `/workspaces/${theirs}/budgets/daily`, '/workspaces/{id}/budgets/{interval}', 200, { limit_usd: 9 })
    const hidden: readonly (readonly [string, string, unknown?])[] = [
      ['GET', `/keys/${hash}`],
      ['PATCH', `/keys/${hash}`, { name: 'mine' }],
      ['DELETE', `/keys/${hash}`],
      ['GET', `/keys?workspace_id=${theirs}`],
      ['GET', `/workspaces/${theirs}`],
      ['PATCH', `/workspaces/${theirs}`, { name: 'mine' }],
      ['DELETE', `/workspaces/${theirs}`],
      ['GET', `/workspaces/${theirs}/budgets`],
      ['GET', `/workspaces/${theirs}/budgets/daily`],
      ['PUT', `/workspaces/${theirs}/budgets/daily`, { limit_usd: 1 }],
      ['DELETE', `/workspaces/${theirs}/budgets/daily`],
      ['GET', `/byok/${id}`],
      ['PATCH', `/byok/${id}`, { disabled: true }],
      ['DELETE', `/byok/${id}`],
      ['GET', `/byok?workspace_id=${theirs}`],
      ['GET', `/activity?workspace_id=${theirs}`],
      ['GET', `/activity?api_key_hash=${hash}`],
    ]
    for (const [method, path, body] of hidden) expect((await gateway.api(method, `/api/v1${path}`, body, key)).status, `${method} ${path}`).toBe(404)
    expect(listOf(await call('GET', '/workspaces', '/workspaces', 200, undefined, key)).map((one) => one['id'])).toEqual([mine])
    await call('POST', '/workspaces', '/workspaces', 403, { name: 'More', slug: 'more' }, key)
    await call('POST', '/keys', '/keys', 403, { name: 'intruder', workspace_id: theirs }, key)
    await call('POST', '/byok', '/byok', 403, { provider: 'acme', key: 'intruder', workspace_id: theirs }, key)
    await call('POST', '/guardrails', '/guardrails', 403, { name: 'intruder', workspace_id: theirs }, key)
    // The installation's own management key has access to all of them.
    await call('GET', `/keys/${hash}`, '/keys/{hash}', 200)
  })

  it(verifies('F7', 'F1', 'hide a generation and its content from other workspaces'), async () => {
    const workspace = await createWorkspace()
    const { key } = (await call('POST', '/keys', '/keys', 201, { name: 'theirs', workspace_id: workspace })) as { key: string }
    const id = (await ask(gateway.key)).headers.get('x-generation-id')
    await gateway.app.sink.flush()
    for (const path of ['/generation', '/generation/content'])
      expect((await gateway.api('GET', `/api/v1${path}?id=${id}`, undefined, key)).status).toBe(404)
  })

  it('refuse to make anything for a workspace that does not exist, and name the field', async () => {
    const nowhere = { workspace_id: '11111111-1111-4111-8111-111111111111' }
    for (const [path, body] of [
      ['/keys', { name: 'lost' }],
      ['/byok', { provider: 'acme', key: 'sk-lost-own-key-123456' }],
      ['/guardrails', { name: 'lost' }],
      ['/presets', { slug: 'lost' }],
    ] as const) {
      const response = await gateway.api('POST', `/api/v1${path}`, { ...body, ...nowhere })
      expect([path, response.status]).toEqual([path, 400])
      expect(await response.json()).toMatchObject({ error: { metadata: { path: 'workspace_id' } } })
    }
  })

  it("let the installation's management key read a call of any workspace, and its inference key none", async () => {
    const workspace = await createWorkspace()
    await call('PATCH', `/workspaces/${workspace}`, '/workspaces/{id}', 200, { is_observability_io_logging_enabled: true })
    const { key } = (await call('POST', '/keys', '/keys', 201, { name: 'theirs', workspace_id: workspace })) as { key: string }
    const id = (await ask(key)).headers.get('x-generation-id')
    const read = (path: string, by?: string) => gateway.api('GET', `/api/v1${path}?id=${id}`, undefined, by)
    // First while it is on its way to the store, then when it is there.
    expect(await (await read('/generation')).json()).toMatchObject({ data: { id, workspace_id: workspace } })
    await gateway.app.sink.flush()
    for (const path of ['/generation', '/generation/content']) {
      expect((await read(path)).status).toBe(200)
      expect((await read(path, gateway.key)).status).toBe(404)
    }
    await call('DELETE', `/workspaces/${workspace}`, '/workspaces/{id}', 200)
  })
})

describe('every list', () => {
  it.each(['/keys', '/workspaces', '/byok', '/guardrails', '/presets', '/observability/destinations'])(
    '%s takes an offset of null, however a client spells it',
    async (path) => {
      const first = await (await gateway.api('GET', `/api/v1${path}`)).json()
      for (const spelling of ['', 'null']) {
        const response = await gateway.api('GET', `/api/v1${path}?offset=${spelling}`)
        expect([response.status, await response.json()]).toEqual([200, first])
      }
    },
  )
})

describe('an id in capitals, as some platforms write a UUID', () => {
  const hook = { type: 'webhook', name: 'a', config: { url: 'https://receiver.example/hook' } }
  it.each([
    ['/workspaces', { name: 'Capitals', slug: 'capitals' }],
    ['/byok', { provider: 'acme', key: 'sk-0123456789abcdef' }],
    ['/guardrails', { name: 'a' }],
    ['/observability/destinations', hook],
  ])('is the same under %s', async (path, body) => {
    const template = `${path}/{id}`
    const made = dataOf(await call('POST', path, path, 201, body))
    const capitals = `${path}/${String(made['id']).toUpperCase()}`
    expect(dataOf(await call('GET', capitals, template, 200))['id']).toBe(made['id'])
    await call('PATCH', capitals, template, 200, { name: 'b' })
    await call('DELETE', capitals, template, 200)
  })

  it('names the same workspace', async () => {
    const { id } = dataOf(await call('POST', '/workspaces', '/workspaces', 201, { name: 'Capitals', slug: 'capitals' }))
    const capitals = String(id).toUpperCase()
    const path = '/observability/destinations'
    const made = dataOf(await call('POST', path, path, 201, { ...hook, workspace_id: capitals }))
    expect(made['workspace_id']).toBe(id)
    expect(listOf(await call('GET', `${path}?workspace_id=${capitals}`, path, 200))).toEqual([made])
    await call('PATCH', `${path}/${String(made['id'])}`, `${path}/{id}`, 200, { workspace_id: capitals })
    await call('DELETE', `/workspaces/${capitals}`, '/workspaces/{id}', 200)
  })

  it('keeps its spelling where it is a slug', async () => {
    const slug = 'ABCDEFAB-0000-4000-8000-00000000000A'
    expect((await gateway.api('POST', '/api/v1/presets', { slug })).status).toBe(201)
    expect((await gateway.api('DELETE', `/api/v1/presets/${slug}`)).status).toBe(200)
  })
})

describe('a malformed id', () => {
  it.each(['/keys', '/workspaces', '/byok', '/guardrails', '/presets', '/observability/destinations'])('gets 404 under %s', async (path) => {
    for (const id of ['nothing', '00000000-0000-4000-8000-00000000dead', 'x'.repeat(2_000)])
      for (const [method, body] of [['GET'], ['DELETE'], ['PATCH', { name: 'x' }]] as const)
        await call(method, `${path}/${id}`, `${path}/{id}`, 404, body)
  })
})

describe('/workspaces', () => {
  it('creates, reads by id and slug, pages, changes and deletes with its keys', async () => {
    const created = dataOf(
      await call('POST', '/workspaces', '/workspaces', 201, { name: 'Team', slug: 'team', description: 'a team', io_logging_sampling_rate: 0.5 }),
    )
    const id = created['id'] as string
    expect(dataOf(await call('GET', '/workspaces/team', '/workspaces/{id}', 200))).toEqual(created)
    await call('POST', '/workspaces', '/workspaces', 400, { name: 'Team', slug: 'team' })
    await call('POST', '/workspaces', '/workspaces', 400, { name: 'Team', slug: 'Not A Slug' })
    await call('POST', '/workspaces', '/workspaces', 400, { name: 'Team', slug: 'fine', is_default: true })
    const page = await call('GET', '/workspaces?offset=1&limit=1', '/workspaces', 200)
    expect(listOf(page)).toHaveLength(1)
    expect(page['total_count']).toBeGreaterThan(1)
    expect(dataOf(await call('PATCH', `/workspaces/${id}`, '/workspaces/{id}', 200, { name: 'Crew', description: null }))).toMatchObject({
      name: 'Crew',
      slug: 'team',
      description: null,
      io_logging_sampling_rate: 0.5,
    })
    const { key } = (await call('POST', '/keys', '/keys', 201, { name: 'crew', workspace_id: id })) as { key: string }
    expect((await ask(key)).status).toBe(200)
    expect(await call('DELETE', `/workspaces/${id}`, '/workspaces/{id}', 200)).toEqual({ deleted: true })
    expect((await ask(key)).status).toBe(401)
    await call('GET', `/workspaces/${id}`, '/workspaces/{id}', 404)
    await call('DELETE', `/workspaces/${DEFAULT}`, '/workspaces/{id}', 400)
  })

  it('says what each workspace has spent, also for a list of many', async () => {
    const id = await createWorkspace()
    const { key } = (await call('POST', '/keys', '/keys', 201, { name: 'spends', workspace_id: id })) as { key: string }
    const read = async (): Promise<{ readonly [field: string]: unknown }> => dataOf(await call('GET', `/workspaces/${id}`, '/workspaces/{id}', 200))
    expect(await read()).toMatchObject({ usage: 0, usage_daily: 0, usage_weekly: 0, usage_monthly: 0, byok_usage: 0, byok_usage_daily: 0 })
    expect((await ask(key)).status).toBe(200)
    const spent = await read()
    const { usage } = spent
    expect(usage).toBeGreaterThan(0)
    expect(spent).toMatchObject({ usage_daily: usage, usage_weekly: usage, usage_monthly: usage, byok_usage: 0, byok_usage_monthly: 0 })
    const rows = listOf(await call('GET', `/activity?workspace_id=${id}`, '/activity', 200))
    expect(rows.map((row) => row['usage'])).toEqual([usage])
    const listed = listOf(await call('GET', '/workspaces?limit=100', '/workspaces', 200)).find((one) => one['id'] === id)
    expect(listed).toMatchObject({ usage, usage_daily: usage })
    expect(dataOf(await call('PATCH', `/workspaces/${id}`, '/workspaces/{id}', 200, { name: 'Renamed' }))).toMatchObject({ usage })
    await call('DELETE', `/workspaces/${id}`, '/workspaces/{id}', 200)
  })

  it('gives no workspace a slug that passes for the id of another', async () => {
    const id = await createWorkspace()
    const other = await createWorkspace()
    for (const slug of [id, DEFAULT]) {
      await call('POST', '/workspaces', '/workspaces', 400, { name: 'Team', slug })
      await call('PATCH', `/workspaces/${other}`, '/workspaces/{id}', 400, { slug })
    }
    for (const each of [id, other]) await call('DELETE', `/workspaces/${each}`, '/workspaces/{id}', 200)
    await call('DELETE', `/workspaces/${id}`, '/workspaces/{id}', 404)
  })

  it('keeps at most one budget per interval, each narrower one smaller', async () => {
    const id = await createWorkspace()
    const path = '/workspaces/{id}/budgets/{interval}'
    const monthly = dataOf(await call('PUT', `/workspaces/${id}/budgets/monthly`, path, 200, { limit_usd: 100 }))
    expect(monthly).toMatchObject({ limit_usd: 100, reset_interval: 'monthly', workspace_id: id })
    await call('PUT', `/workspaces/${id}/budgets/daily`, path, 400, { limit_usd: 100 })
    await call('PUT', `/workspaces/${id}/budgets/lifetime`, path, 400, { limit_usd: 50 })
    await call('PUT', `/workspaces/${id}/budgets/hourly`, path, 400, { limit_usd: 50 })
    await call('PUT', `/workspaces/${id}/budgets/daily`, path, 200, { limit_usd: 5, include_byok_in_budgets: true })
    const changed = dataOf(await call('PUT', `/workspaces/${id}/budgets/monthly`, path, 200, { limit_usd: 50 }))
    expect(changed).toMatchObject({ id: monthly['id'], created_at: monthly['created_at'], limit_usd: 50 })
    const all = await call('GET', `/workspaces/${id}/budgets`, '/workspaces/{id}/budgets', 200)
    expect(listOf(all).map((budget) => budget['reset_interval'])).toEqual(['monthly', 'daily'])
    expect(all['include_byok_in_budgets']).toBe(true)
    // Deleting a budget that no longer exists is not an error.
    for (let times = 0; times < 2; times++) expect(await call('DELETE', `/workspaces/${id}/budgets/monthly`, path, 200)).toEqual({ deleted: true })
    const left = await call('GET', `/workspaces/${id}/budgets`, '/workspaces/{id}/budgets', 200)
    expect(listOf(left).map((budget) => budget['reset_interval'])).toEqual(['daily'])
    await call('GET', `/workspaces/${id}/budgets/monthly`, path, 404)
    await call('DELETE', '/workspaces/00000000-0000-4000-8000-00000000dead/budgets/monthly', path, 404)
  })
})

describe('usage', () => {
  it('is reported by day, model and endpoint, and filtered', async () => {
    const workspace = await createWorkspace()
    const { key, data } = (await call('POST', '/keys', '/keys', 201, { name: 'busy', workspace_id: workspace, creator_user_id: 'user-7' })) as {
      key: string
      data: { hash: string }
    }
    for (let i = 0; i < 3; i++) await (await ask(key)).json()
    const [row, ...rest] = listOf(await call('GET', `/activity?api_key_hash=${data.hash}`, '/activity', 200))
    expect(rest).toEqual([])
    expect(row).toMatchObject({
      date: new Date().toISOString().slice(0, 10),
      model: 'acme/small',
      provider_name: 'Acme 0',
      requests: 3,
      prompt_tokens: 33,
      completion_tokens: 21,
    })
    expect(row!['usage']).toBeGreaterThan(0)
    expect(listOf(await call('GET', '/activity?user_id=user-7', '/activity', 200))).toEqual([row])
    expect(listOf(await call('GET', `/activity?workspace_id=${workspace}&group_by=workspace`, '/activity', 200))).toEqual([
      { ...row, workspace_id: workspace },
    ])
    expect(listOf(await call('GET', `/activity?date=${row!['date'] as string}&workspace_id=${workspace}`, '/activity', 200))).toEqual([row])
    await call('GET', '/activity?date=yesterday', '/activity', 400)
    await call('GET', '/activity?api_key_hash=nobody', '/activity', 404)
    // As sent by a script whose variable is not set: an empty id is refused instead of reporting no usage.
    await call('GET', '/activity?workspace_id=', '/activity', 400)
    const credits = dataOf(await call('GET', '/credits', '/credits', 200))
    expect(credits['total_usage']).toBeGreaterThan(0)
  })

  it(verifies('P3', 'includes prompts and answers, where the workspace keeps them'), async () => {
    const kept = async () => {
      const response = await ask(gateway.key)
      await response.json()
      return response.headers.get('x-generation-id')
    }
    await call('GET', `/generation/content?id=${await kept()}`, '/generation/content', 404)
    await call('PATCH', `/workspaces/${DEFAULT}`, '/workspaces/{id}', 200, { is_observability_io_logging_enabled: true })
    const { input, output, error } = dataOf(
      await call('GET', `/generation/content?id=${await kept()}`, '/generation/content', 200, undefined, gateway.key),
    )
    expect(JSON.stringify(input)).toContain('hi')
    expect(output).toEqual({ completion: 'hello', reasoning: null })
    expect(error).toBeNull()
    const asked = await gateway.respond({ model: 'demo/tool', input: 'hi', tools: [{ type: 'function', name: 'lookup', parameters: {} }] })
    const [said] = ((await asked.json()) as { output: { type: string }[] }).output.filter(({ type }) => type === 'function_call')
    const id = asked.headers.get('x-generation-id')
    const called = dataOf(await call('GET', `/generation/content?id=${id}`, '/generation/content', 200, undefined, gateway.key))['output']
    expect(called).toEqual({ completion: null, reasoning: null, items: [said] })
    await call('GET', '/generation/content', '/generation/content', 400)
  })
})

describe('/route/explain', () => {
  it(verifies('P27', 'answers with the plan of a request, without calling a provider'), async () => {
    const before = upstream.requests.length
    const explain = (body: object) => gateway.api('POST', '/api/v1/route/explain', body, gateway.key)
    expect(await (await explain({ model: 'acme/small', input: 'hi' })).json()).toMatchObject({
      requested: 'acme/small',
      strategy: 'direct',
      error: null,
      attempts: [{ position: 1, provider: 'Acme 0', is_byok: false }],
    })
    expect(await (await explain({ model: 'acme/small', input: 'hi', provider: { zdr: true } })).json()).toMatchObject({
      attempts: [],
      error: { code: 404 },
      rejected: [{ reason: expect.stringContaining('zdr') }],
    })
    expect((await explain({ model: 'acme/small', temperature: 'hot' })).status).toBe(400)
    expect(upstream.requests).toHaveLength(before)
  })
})

describe('own provider keys', () => {
  const secret = 'sk-own-secret-abcdefghijkl'
  const make = async (body: object = {}): Promise<Json> =>
    dataOf(await call('POST', '/byok', '/byok', 201, { provider: 'acme', key: secret, ...body }))
  const clear = async (): Promise<void> => {
    for (const { id } of listOf(await call('GET', '/byok', '/byok', 200))) await call('DELETE', `/byok/${id as string}`, '/byok/{id}', 200)
    upstream.script(stream(chatText('hello')))
  }
  const seen = () => upstream.requests.at(-1)!.headers.authorization
  const metadata = { headers: { 'x-gateway-experimental-metadata': 'enabled' } }

  it('are made and found under the name a provider goes by elsewhere', async () => {
    const answers = [
      await gateway.api('POST', '/api/v1/byok', { provider: 'z-ai', key: secret }),
      await gateway.api('GET', '/api/v1/byok?provider=z-ai'),
      await gateway.api('GET', '/api/v1/byok?provider=zai'),
    ]
    const [created, ...lists] = (await Promise.all(answers.map((answer) => answer.json()))) as [Json, Json, Json]
    expect(dataOf(created)).toMatchObject({ provider: 'zai' })
    for (const list of lists) expect(listOf(list)).toMatchObject([{ provider: 'zai' }])
    await clear()
  })

  it('are created, listed, changed and deleted, and never readable again', async () => {
    const created = await make({ name: 'mine' })
    expect(created).toMatchObject({ provider: 'acme', name: 'mine', disabled: false, is_fallback: false, sort_order: 0, workspace_id: DEFAULT })
    const id = created['id'] as string
    const texts = [
      JSON.stringify(created),
      JSON.stringify(await call('GET', `/byok/${id}`, '/byok/{id}', 200)),
      JSON.stringify(await call('GET', '/byok?provider=acme', '/byok', 200)),
      JSON.stringify(await call('PATCH', `/byok/${id}`, '/byok/{id}', 200, { name: null, is_fallback: true, key: `${secret}-2` })),
    ]
    for (const text of texts) expect(text).not.toContain(secret.slice(0, 16))
    expect(await make()).toMatchObject({ sort_order: 1 })
    await call('POST', '/byok', '/byok', 400, { provider: 'nobody', key: secret })
    await call('POST', '/byok', '/byok', 400, { provider: 'acme', key: '' })
    await call('POST', '/byok', '/byok', 400, { provider: 'acme', key: secret, sealed: 'x' })
    for (const unsendable of ['   ', 'sk-line1\nline2-abcdefgh', 'sk-кириллица-abcdef', 'sk-\u0001-abcdefgh', '"sk-кириллица"']) {
      const refusal = await call('POST', '/byok', '/byok', 400, { provider: 'acme', key: unsendable })
      expect(refusal['error']).toMatchObject({ message: expect.stringMatching(/^key: .*visible ASCII/) as string, metadata: { path: 'key' } })
      await call('PATCH', `/byok/${id}`, '/byok/{id}', 400, { key: unsendable })
    }
    // A cloud account in the form of its pasted file: several lines, with a name in any language.
    await make({ key: JSON.stringify({ type: 'service_account', name: 'имя' }, null, 2) })
    // Spaces around a key come from the clipboard.
    await make({ key: ` ${secret}\n` })
    await call('PATCH', `/byok/${id}`, '/byok/{id}', 400, { provider: 'openai' })
    await clear()
    await call('GET', `/byok/${id}`, '/byok/{id}', 404)
  })

  it('serve first, are marked as such, and do not count for the limit of the gateway key unless it includes them', async () => {
    await make()
    const plain = (await call('POST', '/keys', '/keys', 201, { name: 'plain', limit: 0 })) as { key: string; data: { hash: string } }
    const answer = (await (await gateway.respond({ model: 'acme/small', input: 'hi' }, { key: plain.key, ...metadata })).json()) as Json
    expect(seen()).toBe(`Bearer ${secret}`)
    expect(answer['gateway_metadata']).toMatchObject({ is_byok: true })
    const { hash } = plain.data
    const paid = (answer['usage'] as { readonly cost_details: { readonly upstream_inference_cost: number } }).cost_details.upstream_inference_cost
    expect(answer['usage']).toMatchObject({ is_byok: true, cost: 0 })
    const record = dataOf((await (await gateway.api('GET', `/api/v1/generation?id=${answer['id'] as string}`)).json()) as Json)
    expect(record).toMatchObject({ is_byok: true, total_cost: 0, usage: 0, upstream_inference_cost: paid })
    expect(dataOf(await call('GET', `/keys/${hash}`, '/keys/{hash}', 200))).toMatchObject({ usage: 0, byok_usage: expect.closeTo(paid, 9) as number })
    expect(paid).toBeGreaterThan(0)
    const included = (await call('POST', '/keys', '/keys', 201, { name: 'included', limit: 0, include_byok_in_limit: true })) as { key: string }
    expect((await ask(included.key)).status).toBe(402)
    await clear()
  })

  it('fall back to the gateway’s credentials, and leave no mark on the endpoint’s health', async () => {
    await make()
    upstream.script(status(429, { error: { message: 'your own limit' } }), stream(chatText('with the gateway’s key')))
    const answer = (await (await gateway.respond({ model: 'acme/small', input: 'hi' }, metadata)).json()) as Json
    expect(answer).toMatchObject({ output_text: 'with the gateway’s key', gateway_metadata: { is_byok: false, attempt: 2 } })
    expect(seen()).toBe('Bearer upstream-key-0')
    const explained = (await (await gateway.api('POST', '/api/v1/route/explain', { model: 'acme/small', input: 'hi' }, gateway.key)).json()) as {
      attempts: readonly Json[]
    }
    expect(explained.attempts.map(({ is_byok, state }) => [is_byok, state])).toEqual([
      [true, 'healthy'],
      [false, 'healthy'],
    ])
    await clear()
  })

  it('leave the limit in force for attempts that the gateway pays for after them', async () => {
    await make()
    const plain = (await call('POST', '/keys', '/keys', 201, { name: 'nothing', limit: 0 })) as { key: string }
    const before = upstream.requests.length
    upstream.script(status(429, { error: { message: 'your own limit' } }))
    expect((await ask(plain.key)).status).toBe(402)
    expect(upstream.requests.slice(before).map(({ headers }) => headers.authorization)).toEqual([`Bearer ${secret}`])
    await clear()
  })

  it('and the gateway’s credentials are accounted for separately within one answer', async () => {
    await make()
    const limited = (await call('POST', '/keys', '/keys', 201, { name: 'both', limit: 1 })) as { key: string; data: { hash: string } }
    const busy = status(429, { error: { message: 'your own limit' } })
    const turn = stream([
      chatEvents.role(),
      chatEvents.call(0, 'call_0', 'datetime', '{}'),
      chatEvents.finish('tool_calls'),
      chatEvents.usage(),
      chatEvents.done(),
    ])
    const told: unknown[] = []
    const spending = async (...script: readonly Reply[]): Promise<readonly [unknown, unknown]> => {
      upstream.script(...script)
      const body = { model: 'acme/small', input: 'hi', tools: [{ type: 'gateway:datetime' }] }
      const response = await gateway.respond(body, { key: limited.key })
      const answer = (await response.json()) as { readonly id: string; readonly usage: { readonly cost: number; readonly cost_details: Json } }
      expect(response.status).toBe(200)
      told.push(answer.usage.cost_details['upstream_inference_cost'])
      const record = dataOf((await (await gateway.api('GET', `/api/v1/generation?id=${answer.id}`)).json()) as Json)
      expect(record).toMatchObject({ upstream_inference_cost: told.at(-1), total_cost: answer.usage.cost })
      const { usage, byok_usage } = dataOf(await call('GET', `/keys/${limited.data.hash}`, '/keys/{hash}', 200))
      return [usage, byok_usage]
    }
    const [paid, own] = (await spending(busy, turn, stream(chatText('own key again')))) as [number, number]
    expect(paid).toBeGreaterThan(0)
    expect(own).toBeCloseTo(paid, 9)
    const [paidBoth, ownBoth] = (await spending(turn, busy, stream(chatText('the gateway ends it')))) as [number, number]
    expect([paidBoth, ownBoth]).toEqual([expect.closeTo(2 * paid, 9), expect.closeTo(2 * own, 9)])
    // Each answer states what its own key paid, whoever ended it.
    expect(told).toEqual([expect.closeTo(own, 9), expect.closeTo(own, 9)])
    await clear()
  })

  it('are tried in their order, fallback keys last', async () => {
    await make({ key: 'sk-third-key-00000003', is_fallback: true })
    await make({ key: 'sk-first-key-00000001' })
    await make({ key: 'sk-second-key-0000002' })
    const refusal = status(401, { error: { message: 'bad key' } })
    upstream.script(refusal, refusal, refusal, stream(chatText('at last')))
    const before = upstream.requests.length
    expect((await gateway.respond({ model: 'acme/small', input: 'hi' })).status).toBe(200)
    const used = upstream.requests.slice(before).map(({ headers }) => headers.authorization)
    expect(used).toEqual(['Bearer sk-first-key-00000001', 'Bearer sk-second-key-0000002', 'Bearer sk-third-key-00000003', 'Bearer upstream-key-0'])
    await clear()
  })

  it('pass their error on to the caller only when nothing else could serve', async () => {
    await make({ key: 'sk-refused-own-key-000' })
    upstream.script(status(403, { error: { message: 'country not supported' } }))
    const mixed = await gateway.respond({ model: 'acme/small', input: 'hi' })
    expect([mixed.status, JSON.stringify(await mixed.json())]).toEqual([502, expect.stringContaining('upstream_credentials_exhausted')])
    await clear()
    // A provider for which the gateway itself has no credential.
    const alone = await startGateway({
      ...chatConfig([upstream.url]),
      providers: [{ slug: 'acme', name: 'Acme 0', dialect: 'openai-chat', base_url: upstream.url, api_keys: null }],
      routing: { sticky: false },
    })
    await alone.api('POST', '/api/v1/byok', { provider: 'acme', key: 'sk-refused-own-key-000' })
    upstream.script(status(402, { error: { message: 'pay your bill' } }))
    const refused = await alone.respond({ model: 'acme/small', input: 'hi' })
    expect(refused.status).toBe(402)
    expect(await refused.json()).toMatchObject({
      error: { metadata: { error_type: 'payment_required', source: 'provider', reason: 'own_key_refused' } },
    })
    await alone.close()
    upstream.script(stream(chatText('hello')))
  })

  it('serve only the models, keys and users they allow', async () => {
    const { data, key } = (await call('POST', '/keys', '/keys', 201, { name: 'allowed', creator_user_id: 'user-1' })) as {
      key: string
      data: { hash: string }
    }
    const uses = async (body: object, caller: string): Promise<boolean> => {
      await make(body)
      await (await ask(caller)).json()
      const used = seen() === `Bearer ${secret}`
      await clear()
      return used
    }
    expect(await uses({ allowed_models: ['acme/large'] }, gateway.key)).toBe(false)
    expect(await uses({ allowed_models: ['acme/small'] }, gateway.key)).toBe(true)
    expect(await uses({ allowed_api_key_hashes: [data.hash] }, gateway.key)).toBe(false)
    expect(await uses({ allowed_api_key_hashes: [data.hash] }, key)).toBe(true)
    expect(await uses({ allowed_user_ids: ['user-2'] }, key)).toBe(false)
    expect(await uses({ allowed_user_ids: ['user-1'] }, key)).toBe(true)
    expect(await uses({ disabled: true }, key)).toBe(false)
  })

  it('can be restricted to existing gateway keys only', async () => {
    const { data } = (await call('POST', '/keys', '/keys', 201, { name: 'known' })) as { data: { hash: string } }
    const unknown = { allowed_api_key_hashes: [data.hash, 'f'.repeat(64)] }
    const refusal = await call('POST', '/byok', '/byok', 400, { provider: 'acme', key: secret, ...unknown })
    expect(refusal['error']).toMatchObject({ metadata: { path: 'allowed_api_key_hashes[1]' } })
    const { id } = await make({ allowed_api_key_hashes: [data.hash] })
    await call('PATCH', `/byok/${id as string}`, '/byok/{id}', 400, unknown)
    await call('PATCH', `/byok/${id as string}`, '/byok/{id}', 200, { allowed_api_key_hashes: null })
    await clear()
  })
})

it('own provider keys can be restricted to gateway keys of their own workspace only', async () => {
  const theirs = await createWorkspace()
  const created = await call('POST', '/keys', '/keys', 201, { name: 'of theirs', workspace_id: theirs })
  const { hash } = dataOf(created) as { hash: string }
  const body = { provider: 'acme', key: 'sk-for-their-key-123456', allowed_api_key_hashes: [hash] }
  // In a workspace that no call of that key uses, it would serve nobody, and the gateway would continue to pay.
  const refusal = await call('POST', '/byok', '/byok', 400, body)
  expect(refusal['error']).toMatchObject({ metadata: { path: 'allowed_api_key_hashes[0]' } })
  const made = dataOf(await call('POST', '/byok', '/byok', 201, { ...body, workspace_id: theirs })) as { id: string }
  const own = dataOf(await call('POST', '/keys', '/keys', 201, { name: 'of ours' })) as { hash: string }
  await call('PATCH', `/byok/${made.id}`, '/byok/{id}', 400, { allowed_api_key_hashes: [hash, own.hash] })
  await call('PATCH', `/byok/${made.id}`, '/byok/{id}', 200, { allowed_api_key_hashes: [hash] })
  await call('DELETE', `/workspaces/${theirs}`, '/workspaces/{id}', 200)
})

describe('the public service’s own client', () => {
  it('manages keys, workspaces, budgets and own keys, and reads usage', async () => {
    const sdk = new OpenRouter({ apiKey: gateway.managementKey, serverURL: `${gateway.url}/api/v1`, retryConfig: { strategy: 'none' } })
    const created = await sdk.apiKeys.create({ requestBody: { name: 'sdk', limit: 3, limitReset: 'monthly' } })
    expect(created.data).toMatchObject({ limit: 3, limitRemaining: 3, limitReset: 'monthly' })
    const { hash } = created.data
    expect((await sdk.apiKeys.get({ hash })).data.name).toBe('sdk')
    expect((await sdk.apiKeys.update({ hash, requestBody: { name: 'sdk 2', disabled: true } })).data).toMatchObject({ name: 'sdk 2', disabled: true })
    expect((await sdk.apiKeys.list({ includeDisabled: true })).data.map((key) => key.hash)).toContain(hash)
    expect((await sdk.apiKeys.getCurrentKeyMetadata()).data.isManagementKey).toBe(true)
    expect(await sdk.apiKeys.delete({ hash })).toEqual({ deleted: true })

    const workspace = (await sdk.workspaces.create({ createWorkspaceRequest: { name: 'SDK', slug: 'sdk' } })).data
    expect((await sdk.workspaces.get({ id: 'sdk' })).data.id).toBe(workspace.id)
    const budget = await sdk.workspaces.setBudget({ workspaceRef: workspace.id, interval: 'weekly', upsertWorkspaceBudgetRequest: { limitUsd: 12 } })
    expect(budget.data).toMatchObject({ limitUsd: 12, resetInterval: 'weekly' })
    expect((await sdk.workspaces.listBudgets({ workspaceRef: workspace.id })).data).toHaveLength(1)
    expect(await sdk.workspaces.deleteBudget({ workspaceRef: workspace.id, interval: 'weekly' })).toEqual({ deleted: true })
    for await (const page of await sdk.workspaces.list({ limit: 2 })) expect(page.result.data.length).toBeGreaterThan(0)

    const own = (await sdk.byok.create({ createBYOKKeyRequest: { provider: 'openai', key: 'sk-own-abcdefghijklmnop', workspaceId: workspace.id } }))
      .data
    expect((await sdk.byok.get({ id: own.id })).data.provider).toBe('openai')
    expect((await sdk.byok.update({ id: own.id, updateBYOKKeyRequest: { isFallback: true } })).data.isFallback).toBe(true)
    expect(await sdk.byok.delete({ id: own.id })).toEqual({ deleted: true })
    expect(await sdk.workspaces.delete({ id: workspace.id })).toEqual({ deleted: true })

    expect((await sdk.credits.getCredits()).data.totalUsage).toBeGreaterThan(0)
    expect((await sdk.analytics.getUserActivity()).data[0]).toMatchObject({ model: 'acme/small' })
  })
})
