import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { DEFAULT_WORKSPACE_ID } from '../../src/core/store.ts'
import { runCrashDrill } from '../../src/testing/crash-drill.ts'
import { startFakeDestination, type FakeDestination } from '../../src/testing/fake-destination.ts'
import { allSpans, generationSpans, type ReceivedSpan } from '../../src/testing/received-spans.ts'
import { findTestPostgres } from '../../src/testing/postgres.ts'
import { sampleWorkspace } from '../../src/testing/sample-records.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { verifies } from '../requirements.ts'

/** From a call to the platform, over real sockets: what arrives, what does not, and what waits. */
const BASE = '/api/v1/observability/destinations'
let gateway: TestGateway
let receiver: FakeDestination

beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.close())
afterEach(async () => {
  const { data } = (await (await gateway.api('GET', `${BASE}?limit=100`)).json()) as { data: { id: string }[] }
  for (const { id } of data) await gateway.api('DELETE', `${BASE}/${id}`)
  await receiver.close()
})

async function addWebhook(fields: object = {}, reactions?: FakeDestination['react']): Promise<string> {
  receiver = await startFakeDestination(reactions)
  return addTo(receiver, fields)
}
async function addTo(target: FakeDestination, fields: object = {}): Promise<string> {
  const response = await gateway.api('POST', BASE, { type: 'webhook', name: 'hook', config: { url: `${target.url}/hook` }, ...fields })
  expect(response.status).toBe(201)
  return ((await response.json()) as { data: { id: string } }).data.id
}
async function ask(input: string, fields: object = {}): Promise<string> {
  const response = await gateway.respond({ model: 'demo/echo', input, ...fields })
  return ((await response.json()) as { id: string }).id
}
const post = (path: string, body?: object) => gateway.api('POST', `${BASE}/${path}`, body)
const status = async (id: string) =>
  ((await (await gateway.api('GET', `${BASE}/${id}/status`)).json()) as { data: { readonly [field: string]: unknown } }).data
const arrived = (target = receiver): readonly ReceivedSpan[] => generationSpans(target.accepted)
const idsOf = (spans: readonly ReceivedSpan[]) => spans.map(({ generationId }) => generationId).sort()
/** Batches wait two seconds to fill. */
const SOON = { timeout: 10_000, interval: 50 }
const untilArrived = (ids: readonly string[], target = receiver) => expect.poll(() => idsOf(arrived(target)), SOON).toEqual([...ids].sort())
const answer = (code: number, headers: { readonly [name: string]: string } = {}) => ({ kind: 'answer', status: code, headers, body: '{}' }) as const

it('every call arrives, with ids derived from it, and can be read while its delivery is pending', async () => {
  const id = await addWebhook()
  const ids = [
    await ask('one'),
    await ask('two', { stream: false, user: 'customer-5', text: { format: { type: 'json_object' } }, trace: { trace_id: 'order-7', team: 'blue' } }),
  ]
  const headed = await gateway.respond({ model: 'demo/echo', input: 'three' }, { headers: { 'x-gateway-metadata': '{"team":"green"}' } })
  expect(await headed.json()).toMatchObject({ metadata: { team: 'green' } })
  ids.push(headed.headers.get('x-generation-id')!)
  expect((await gateway.api('GET', `/api/v1/generation?id=${ids[1]!}`)).status).toBe(200)
  await untilArrived(ids)
  const [first, second] = ids.map((generationId) => arrived().find((span) => span.generationId === generationId)!)
  expect(first!.span['traceId']).toMatch(/^[0-9a-f]{32}$/)
  expect(first!.span['spanId']).toBe(String(first!.span['traceId']).slice(0, 16))
  expect(second!.span['traceId']).not.toBe(first!.span['traceId'])
  expect(JSON.stringify(second!.span)).toContain('blue')
  expect(JSON.stringify(arrived().find(({ generationId }) => generationId === ids[2])!.span)).toContain('green')
  expect(JSON.stringify(second!.span)).toContain('{"key":"trace.metadata.gateway.user_id","value":{"stringValue":"customer-5"}}')
  const outputTypes = [first, second].map((each) => /"gen_ai\.output\.type","value":\{"stringValue":"(\w+)"/.exec(JSON.stringify(each!.span))?.[1])
  expect(outputTypes).toEqual(['text', 'json'])
  await expect.poll(() => status(id), SOON).toMatchObject({ queued: 0, delivered: 3, dead: 0, breaker: 'closed', oldest_age_seconds: null })
  const metrics = await (await gateway.api('GET', '/metrics')).text()
  expect(metrics).toMatch(/gateway_delivery_total\{type="webhook",outcome="delivered"\} 3/)
})

it('filters, allowlists and disabled destinations select the calls that are delivered', async () => {
  const rules = {
    groups: [
      {
        logic: 'or',
        rules: [
          { field: 'input', operator: 'contains', value: 'wanted' },
          { field: 'session_id', operator: 'equals', value: 's-1' },
        ],
      },
    ],
  }
  await addWebhook({ filter_rules: rules })
  const none = await startFakeDestination()
  await addTo(none, { api_key_hashes: ['0'.repeat(64)] })
  await addTo(none, { enabled: false })
  await ask('nothing')
  const wanted = [await ask('this is wanted'), await ask('x', { session_id: 's-1' })]
  await untilArrived(wanted)
  expect(none.requests).toEqual([])
  await none.close()
})

it('sampling keeps a session whole or absent', async () => {
  await addWebhook({ sampling_rate: 0.5 })
  const all = await startFakeDestination()
  await addTo(all)
  const sent: string[] = []
  for (let session = 0; session < 10; session++) for (let i = 0; i < 2; i++) sent.push(await ask('hi', { session_id: `session-${session}` }))
  await untilArrived(sent, all)
  const sampled = new Set(idsOf(arrived()))
  for (let i = 0; i < sent.length; i += 2) expect(sampled.has(sent[i]!)).toBe(sampled.has(sent[i + 1]!))
  expect(sampled.size).toBeLessThan(sent.length)
  await all.close()
})

it(verifies('G3', 'privacy mode sends no text of a call except metadata, also of calls that waited when it was switched on'), async () => {
  const canary = 'canary-of-the-prompt'
  const id = await addWebhook({ privacy_mode: true })
  const open = await startFakeDestination()
  const openId = await addTo(open)
  await gateway.api('POST', `${BASE}/${openId}/pause`)
  const body = {
    instructions: canary,
    metadata: { ticket: 'metadata-stays' },
    tools: [
      {
        type: 'function',
        name: 'look',
        description: canary,
        parameters: { type: 'object', properties: { where: { type: 'string', description: canary } } },
      },
    ],
  }
  const ids = [await ask(canary, body), await ask(canary, { ...body, model: 'demo/error-500' })].filter((each) => each !== undefined)
  await expect.poll(() => arrived().length, SOON).toBe(2)
  await gateway.api('PATCH', `${BASE}/${openId}`, { privacy_mode: true })
  await gateway.api('POST', `${BASE}/${openId}/resume`)
  await expect.poll(() => arrived(open).length, SOON).toBe(2)
  for (const request of [...receiver.requests, ...open.requests]) {
    expect(request.body.toString()).not.toContain(canary)
    expect(request.body.toString()).toContain('metadata-stays')
  }
  expect(ids.length).toBeGreaterThan(0)
  expect((await status(id))['dead']).toBe(0)
  await open.close()
})

it('a paused destination keeps what comes and sends it when it is resumed', async () => {
  const id = await addWebhook()
  expect(await (await post(`${id}/pause`)).json()).toMatchObject({ data: { paused: true } })
  const waiting = await ask('later')
  await expect.poll(() => status(id), SOON).toMatchObject({ queued: 1, paused: true })
  expect(receiver.requests).toEqual([])
  await post(`${id}/resume`)
  await untilArrived([waiting])
})

it('nothing leaves a workspace whose switch is off', async () => {
  await addWebhook()
  const set = (on: boolean) =>
    gateway.app.boot.store.workspaces.modify(DEFAULT_WORKSPACE_ID, () => ({ settings: { is_observability_broadcast_enabled: on } }))
  await set(false)
  const other = await addTo(receiver, { enabled: false })
  const kept = await ask('kept in')
  // The choice is made when the call is recorded, shortly after it was answered.
  await expect.poll(() => gateway.app.boot.store.generations.get(kept), SOON).toBeDefined()
  await set(true)
  // A change through the API is answered after the delivery thread has seen it.
  await gateway.api('PATCH', `${BASE}/${other}`, { name: 'again' })
  const sent = await ask('let out')
  await untilArrived([sent])
})

it('a rejected credential pauses until its owner changes something; then everything arrives', async () => {
  let valid = 'Bearer right-and-long-enough'
  const id = await addWebhook({}, (request) => (request.headers['authorization'] === valid ? answer(200) : answer(401)))
  const ids = [await ask('one')]
  await expect.poll(() => status(id), SOON).toMatchObject({ breaker: 'unauthorized', last_status: 401, queued: 1, dead: 0 })
  ids.push(await ask('two'))
  await gateway.api('PATCH', `${BASE}/${id}`, { config: { headers: { authorization: valid } } })
  await untilArrived(ids)
  await expect.poll(() => status(id), SOON).toMatchObject({ breaker: 'closed', queued: 0 })
  valid = ''
})

it('what is refused for good becomes a dead letter, to be replayed or purged', async () => {
  let refuse = 'poison'
  const id = await addWebhook({}, (request) => (refuse !== '' && request.body.includes(refuse) ? answer(400) : answer(200)))
  const good = []
  const bad = await ask('poison one')
  for (let i = 0; i < 4; i++) good.push(await ask(`good ${i}`))
  const worse = await ask('poison two')
  await untilArrived(good)
  await expect.poll(() => status(id), SOON).toMatchObject({ dead: 2, queued: 0 })
  const page = (await (await gateway.api('GET', `${BASE}/${id}/dead-letters?limit=1`)).json()) as {
    data: { id: string; generation_id: string }[]
    total_count: number
  }
  expect(page.total_count).toBe(2)
  expect(page.data[0]).toMatchObject({ reason: 'rejected', status: 400, attempts: 1 })
  refuse = ''
  expect(await (await post(`${id}/dead-letters/replay`, { ids: [page.data[0]!.id] })).json()).toEqual({ replayed: 1 })
  await untilArrived([...good, page.data[0]!.generation_id])
  expect([bad, worse]).toContain(page.data[0]!.generation_id)
  expect(await (await post(`${id}/dead-letters/purge`)).json()).toEqual({ purged: 1 })
  expect(await status(id)).toMatchObject({ dead: 0 })
})

it('deleting a destination cancels what waits for it', async () => {
  const id = await addWebhook()
  await post(`${id}/pause`)
  await ask('never')
  await expect.poll(() => status(id), SOON).toMatchObject({ queued: 1 })
  await gateway.api('DELETE', `${BASE}/${id}`)
  const { store, encryption } = gateway.app.boot
  expect(await store.outbox(encryption).status(id)).toMatchObject({ queued: 0 })
  expect(receiver.requests).toEqual([])
})

describe('testing a destination', () => {
  it('tests the connection and sends a labelled sample, without recording anything', async () => {
    const id = await addWebhook()
    expect(await (await post(`${id}/test`)).json()).toMatchObject({ data: { ok: true, steps: [{ ok: true, status: 200 }] } })
    expect(receiver.requests[0]?.headers['x-test-connection']).toBe('true')
    expect(await (await post(`${id}/send-test`)).json()).toMatchObject({ data: { ok: true, steps: [{ status: 200 }] } })
    expect(arrived()).toHaveLength(1)
    const sample = arrived()[0]!
    expect(JSON.stringify(sample.span)).toContain('observability-test-button')
    expect((await gateway.api('GET', `/api/v1/generation?id=${sample.generationId}`)).status).toBe(404)
  })

  it('says what is wrong, in a sentence', async () => {
    const id = await addWebhook({}, () => answer(503))
    expect(await (await post(`${id}/test`)).json()).toMatchObject({
      data: { ok: false, steps: [{ ok: false, status: 503, message: expect.any(String) }] },
    })
    expect(await (await post(`${id}/send-test`)).json()).toMatchObject({ data: { ok: false } })
    await gateway.api('PATCH', `${BASE}/${id}`, { config: { url: 'http://169.254.169.254/latest' } })
    const refused = (await (await post(`${id}/test`)).json()) as { data: { steps: { message: string }[] } }
    expect(refused.data.steps[0]?.message).toContain('never allowed')
  })
})

it('tools the gateway ran are delivered as they ran, including failures, and without texts in privacy mode', async () => {
  receiver = await startFakeDestination()
  for (const name of ['open', 'private'])
    await gateway.api('POST', BASE, { type: 'webhook', name, config: { url: `${receiver.url}/${name}` }, privacy_mode: name === 'private' })
  const call = { model: 'demo/tool', input: 'go', tools: [{ type: 'gateway:web_fetch' }] }
  const { id } = (await (await gateway.respond(call)).json()) as { id: string }
  const toolsAt = (path: string) =>
    allSpans(receiver.accepted.filter((request) => request.path === path && request.body.includes(id))).filter((span) =>
      String(span['name']).startsWith('tool: '),
    )
  await expect.poll(() => toolsAt('/open').length, SOON).toBe(1)
  await expect.poll(() => toolsAt('/private').length, SOON).toBe(1)
  const [open] = toolsAt('/open')
  const [hidden] = toolsAt('/private')
  expect(open).toMatchObject({ name: 'tool: web_fetch', status: { code: 2, message: expect.stringContaining('URL') } })
  expect(hidden).toMatchObject({ name: 'tool: web_fetch', status: { code: 2 } })
  expect(JSON.stringify([open, hidden])).not.toContain('gateway.tool.timing')
})

it('files of two workspaces with the same name stay apart', async () => {
  receiver = await startFakeDestination()
  const { store, accounts, directory } = gateway.app.boot
  await store.workspaces.insert(sampleWorkspace('w-files'))
  const make = async (kind: 'inference' | 'management') => (await accounts.keys.create({ name: kind, kind, workspaceId: 'w-files' })).secret.reveal()
  const [key, management] = [await make('inference'), await make('management')]
  const destination = { type: 'file', name: 'lines', config: { path: 'team/all.ndjson' } }
  expect((await gateway.api('POST', BASE, destination)).status).toBe(201)
  expect((await gateway.api('POST', BASE, destination, management)).status).toBe(201)
  const ours = await ask('ours')
  const theirs = ((await (await gateway.respond({ model: 'demo/echo', input: 'theirs' }, { key })).json()) as { id: string }).id
  const linesOf = async (workspace: string): Promise<string> =>
    readFile(join(directory.path, 'exports', workspace, 'team/all.ndjson'), 'utf8').catch(() => '')
  await expect.poll(() => linesOf('w-files'), SOON).toContain(theirs)
  await expect.poll(() => linesOf(DEFAULT_WORKSPACE_ID), SOON).toContain(ours)
  expect(await linesOf('w-files')).not.toContain(ours)
  expect(await linesOf(DEFAULT_WORKSPACE_ID)).not.toContain(theirs)
})

it('a stop delivers what is recorded, or keeps it for the next start', async () => {
  const mine = await startGateway()
  receiver = await startFakeDestination()
  await mine.api('POST', BASE, { type: 'webhook', name: 'hook', config: { url: `${receiver.url}/hook` } })
  const ids = await Promise.all(
    Array.from({ length: 50 }, async () => ((await (await mine.respond({ model: 'demo/echo', input: 'hi' })).json()) as { id: string }).id),
  )
  const again = await mine.restart()
  try {
    await untilArrived(ids)
  } finally {
    await again.close()
  }
})

it(verifies('I4', 'a delivery thread that dies is started again, and nothing recorded is lost'), async () => {
  const id = await addWebhook()
  const ids = [await ask('before')]
  const { threads } = await import('../../src/wiring/delivery-host.ts')
  for (const thread of threads) await thread.terminate()
  for (let i = 0; i < 5; i++) ids.push(await ask(`after ${i}`))
  await untilArrived(ids)
  await expect.poll(() => status(id), SOON).toMatchObject({ queued: 0, dead: 0 })
})

const postgres = await findTestPostgres('several gateways on one PostgreSQL')
describe.skipIf(!postgres.available)('several gateways on one PostgreSQL', () => {
  if (!postgres.available) return
  it('share destinations and queue: each generation arrives once, whoever served it', async () => {
    const schema = await postgres.createSchema()
    receiver = await startFakeDestination()
    const env = { SIGNALBOX_DATABASE_URL: schema.url.reveal(), SIGNALBOX_SECRET_KEY: Buffer.alloc(32, 3).toString('base64') }
    const gateways = [await startGateway({}, env), await startGateway({}, env)]
    try {
      const [first, second] = gateways
      await first!.api('POST', BASE, { type: 'webhook', name: 'hook', config: { url: `${receiver.url}/hook` } })
      // The other gateway learns of it within its polling interval.
      const idOf = async (answered: Response): Promise<string> => ((await answered.json()) as { id: string }).id
      await expect
        .poll(
          async () => {
            await second!.respond({ model: 'demo/echo', input: 'heard of it?' })
            return arrived().length
          },
          { timeout: 10_000, interval: 500 },
        )
        .toBeGreaterThan(0)
      const ids = await Promise.all(
        Array.from({ length: 60 }, async (_, i) => idOf(await gateways[i % 2]!.respond({ model: 'demo/echo', input: `call ${i}` }))),
      )
      await expect.poll(() => ids.filter((id) => !arrived().some(({ generationId }) => generationId === id)), SOON).toEqual([])
      const all = arrived().map(({ generationId }) => generationId)
      expect(all).toHaveLength(new Set(all).size)
    } finally {
      for (const each of gateways) await each.close()
      await schema.drop()
    }
  })
})

it(verifies('I4', 'kill -9 at any moment: what was recorded is delivered, and no id with two contents'), { timeout: 120_000 }, async () => {
  receiver = await startFakeDestination()
  const report = await runCrashDrill({ runs: 3, calls: 200, random: Math.random })
  expect(report).toMatchObject({ missing: [], contradicting: [] })
  expect(report.recorded).toBeGreaterThan(0)
})
