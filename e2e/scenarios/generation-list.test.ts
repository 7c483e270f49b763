import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chatText, startFakeUpstream, status, stream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { chatConfig, startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'

/** `/api/v1/generations`: searching the records of calls without knowing an id. */

type Json = { readonly [field: string]: unknown }
interface Page {
  readonly data: readonly Json[]
  readonly next_cursor: string | null
}

let primary: FakeUpstream
let backup: FakeUpstream
let gateway: TestGateway
let team: { readonly workspace: string; readonly inference: string; readonly management: string }
/** Ids of calls, by their outcome. */
let failed: string
let theirs: string
let failedOver: string

beforeAll(async () => {
  primary = await startFakeUpstream()
  backup = await startFakeUpstream(stream(chatText('from the backup')))
  gateway = await startGateway(chatConfig([primary.url, backup.url], { routing: { sticky: false, cooldown: false } }))
  team = await createTeam()
  failed = await call({ model: 'no/such' })
  primary.script(stream(chatText('hello')))
  theirs = await call({ session_id: 'session-7' }, team.inference)
  // The hint is too long to wait for, so there is no second try.
  primary.script(status(429, { error: { message: 'busy' } }, { 'retry-after': '60' }))
  const asked = { user: 'user-1', metadata: { ticket: '42' }, temperature: 0.5, trace: { trace_id: 'order-7' } }
  failedOver = await call({ ...asked, provider: { order: ['acme', 'backup1'] } })
  primary.script(stream(chatText('hello')))
  await gateway.app.sink.flush()
})
afterAll(async () => {
  await gateway.close()
  await primary.close()
  await backup.close()
})

async function createTeam(): Promise<typeof team> {
  const { data } = (await (await gateway.api('POST', '/api/v1/workspaces', { name: 'Team', slug: 'team' })).json()) as { readonly data: Json }
  const workspace = data['id'] as string
  const management = (await gateway.app.accounts.create({ name: 'theirs', kind: 'management', workspaceId: workspace })).secret.reveal()
  const { key } = (await (await gateway.api('POST', '/api/v1/keys', { name: 'key of the team' }, management)).json()) as { readonly key: string }
  return { workspace, inference: key, management }
}

/** Makes one call to its end and returns its id. */
async function call(body: object, key?: string): Promise<string> {
  // No two calls begin in the same millisecond, so that their order is defined.
  await sleep(2)
  const response = await gateway.respond({ model: 'acme/small', input: 'hi', ...body }, key === undefined ? {} : { key })
  await response.arrayBuffer()
  return response.headers.get('x-generation-id')!
}

async function list(query: { readonly [parameter: string]: string } = {}, key?: string): Promise<Page> {
  const response = await gateway.api('GET', `/api/v1/generations?${new URLSearchParams(query).toString()}`, undefined, key)
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`)
  return (await response.json()) as Page
}
const idsOf = ({ data }: Page): readonly unknown[] => data.map(({ id }) => id)

async function refusal(path: string, key?: string): Promise<{ readonly status: number; readonly path: unknown }> {
  const response = await gateway.api('GET', `/api/v1/generations${path}`, undefined, key)
  const { error } = (await response.json()) as { readonly error: { readonly metadata: Json } }
  return { status: response.status, path: error.metadata['path'] }
}

describe('the list of calls', () => {
  it('holds those of all workspaces, newest first, for the default workspace', async () => {
    const page = await list()
    expect(idsOf(page)).toEqual([failedOver, theirs, failed])
    expect(page.next_cursor).toBeNull()
    expect(page.data.map(({ attempts }) => attempts)).toEqual([2, 1, 0])
  })

  it('shows the main facts of a call', async () => {
    const { data } = await list({ session_id: 'session-7' })
    expect(data).toEqual([
      {
        id: theirs,
        created_at: expect.stringMatching(/^20\d\d-.*Z$/),
        workspace_id: team.workspace,
        api_key_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        api_key_name: 'key of the team',
        api_type: 'responses',
        requested_model: 'acme/small',
        model: 'acme/small',
        provider: 'acme',
        provider_name: 'Acme 0',
        endpoint_id: expect.stringContaining('acme'),
        status: 'completed',
        finish_reason: 'stop',
        error_type: null,
        error_message: null,
        http_status: 200,
        streamed: false,
        is_byok: false,
        session_id: 'session-7',
        external_user: null,
        tokens_prompt: 11,
        tokens_completion: 7,
        native_tokens_reasoning: 0,
        native_tokens_cached: expect.any(Number),
        total_cost: expect.any(Number),
        cost_source: 'catalog',
        upstream_inference_cost: null,
        latency: expect.any(Number),
        generation_time: expect.any(Number),
        attempts: 1,
      },
    ])
    const answer = (await (await gateway.api('GET', `/api/v1/generation?id=${theirs}`)).json()) as { readonly data: Json }
    for (const field of ['created_at', 'total_cost', 'latency', 'generation_time']) expect(data[0]![field]).toBe(answer.data[field])
  })

  it('says why a call failed that reached no endpoint', async () => {
    expect((await list({ status: 'failed' })).data).toMatchObject([
      { id: failed, model: null, provider: null, status: 'failed', error_message: expect.any(String), http_status: expect.any(Number), attempts: 0 },
    ])
  })

  it('can be filtered by every property of a call', async () => {
    const [newest, , oldest] = (await list()).data
    const first = Date.parse(oldest!['created_at'] as string)
    const whole = { from: new Date(first).toISOString(), to: new Date(Date.parse(newest!['created_at'] as string) + 1).toISOString() }
    const cases: readonly (readonly [{ readonly [parameter: string]: string }, readonly string[]])[] = [
      [{ status: 'completed' }, [failedOver, theirs]],
      [{ error_type: oldest!['error_type'] as string }, [failed]],
      [{ model: 'no/such' }, [failed]],
      [{ model: 'acme/small' }, [failedOver, theirs]],
      [{ provider: 'backup1' }, [failedOver]],
      [{ api_key_hash: oldest!['api_key_hash'] as string }, [failedOver, failed]],
      [{ session_id: 'session-7' }, [theirs]],
      [{ workspace_id: team.workspace }, [theirs]],
      [{ workspace_id: team.workspace, status: 'failed' }, []],
      [whole, [failedOver, theirs, failed]],
      [{ ...whole, from: new Date(first + 1).toISOString(), model: 'no/such' }, []],
      [{ to: whole.from }, []],
      // The same moment in another time zone.
      [{ to: new Date(first + 7_200_000).toISOString().replace('Z', '+02:00') }, []],
    ]
    for (const [query, expected] of cases) expect([query, idsOf(await list(query))]).toEqual([query, expected])
  })

  it('can be paged with its cursor, also while new calls arrive', async () => {
    const first = await list({ limit: '1' })
    expect(idsOf(first)).toEqual([failedOver])
    const later = await call({}, team.inference)
    await gateway.app.sink.flush()
    const second = await list({ limit: '1', cursor: first.next_cursor! })
    const third = await list({ limit: '1', cursor: second.next_cursor! })
    expect([second, third].flatMap(idsOf)).toEqual([theirs, failed])
    expect(third.next_cursor).toBeNull()
    expect(idsOf(await list({ limit: '1' }))).toEqual([later])
  })

  it('refuses invalid filters, and names them', async () => {
    for (const [query, path] of [
      ['cursor=page-2', 'cursor'],
      ['cursor=', 'cursor'],
      ['workspace_id=', 'workspace_id'],
      ['limit=0', 'limit'],
      ['limit=101', 'limit'],
      ['status=broken', 'status'],
      ['from=yesterday', 'from'],
      ['to=2026-01-01', 'to'],
    ] as const)
      expect([query, await refusal(`?${query}`)]).toEqual([query, { status: 400, path }])
  })

  it('contains only calls of the own workspace, and needs a management key', async () => {
    const own = await list({}, team.management)
    expect(idsOf(own)).toContain(theirs)
    expect(new Set(own.data.map((one) => one['workspace_id']))).toEqual(new Set([team.workspace]))
    expect(idsOf(await list({ workspace_id: team.workspace }, team.management))).toEqual(idsOf(own))
    expect(idsOf(await list({ model: 'no/such' }, team.management))).toEqual([])
    expect((await refusal('?workspace_id=00000000-0000-4000-8000-000000000001', team.management)).status).toBe(404)
    expect((await refusal('', team.inference)).status).toBe(403)
    // A cursor of the list of all workspaces is also valid in that of a single workspace, and gives access to no other.
    const { next_cursor: cursor } = await list({ limit: '1' })
    expect(idsOf(await list({ cursor: cursor! }, team.management))).toEqual([theirs])
  })
})

describe('the details of one call', () => {
  const read = async (id: string, key?: string): Promise<Json> => {
    const response = await gateway.api('GET', `/api/v1/generations/${id}`, undefined, key)
    return ((await response.json()) as { readonly data: Json }).data
  }

  it('contain every attempt, and all that the list shows', async () => {
    const found = await read(failedOver)
    const [line] = (await list({ provider: 'backup1' })).data
    expect(found).toMatchObject({ ...line, attempts: expect.any(Array) })
    expect(found['attempts']).toEqual([
      {
        provider: 'acme',
        provider_name: 'Acme 0',
        model: 'acme/small',
        upstream_model: 'small-1',
        endpoint_id: expect.any(String),
        status: 429,
        started_at: expect.stringMatching(/Z$/),
        latency: null,
        duration: expect.any(Number),
        error_type: expect.any(String),
        error_message: expect.stringContaining('busy'),
        upstream_id: null,
        is_byok: false,
        cost: null,
      },
      expect.objectContaining({ provider: 'backup1', status: 200, latency: expect.any(Number), error_type: null, error_message: null }),
    ])
  })

  it('contain the request, the endpoint and the cost', async () => {
    expect(await read(failedOver)).toMatchObject({
      external_user: 'user-1',
      upstream_model: 'small-1',
      router: null,
      strategy: 'direct',
      routing_time: expect.any(Number),
      cost: { total: expect.any(Number), cache_discount: expect.any(Number), byok: 0, extras: {}, source: 'catalog' },
      unit_prices: { input: 101, output: 102 },
      pipeline: expect.any(Array),
      steps: [],
      trace: { trace_id: 'order-7' },
      metadata: { ticket: '42' },
      parameters: { temperature: 0.5 },
      preset_id: null,
      service_tier: 'default',
      output_type: null,
    })
  })

  it('are found while the record is not yet stored', async () => {
    const id = await call({})
    expect(await read(id)).toMatchObject({ id, status: 'completed' })
  })

  it('can be read only by a management key with access to the workspace', async () => {
    expect(await read(theirs, team.management)).toMatchObject({ id: theirs, workspace_id: team.workspace })
    expect((await refusal(`/${failed}`, team.management)).status).toBe(404)
    expect((await refusal('/nobody')).status).toBe(404)
    expect((await refusal(`/${theirs}`, team.inference)).status).toBe(403)
  })
})
