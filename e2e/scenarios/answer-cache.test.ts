import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { checkWire } from '../../src/testing/check-wire.ts'
import { startFakeUpstream, status, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { SPEAKERS, type Turn } from '../../src/testing/scripted-model.ts'
import { chatConfig, startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { verifies } from '../requirements.ts'

/** Answers that are cached for callers who ask for it: https://openrouter.ai/docs/guides/features/response-caching. */
let upstream: FakeUpstream
let gateway: TestGateway
let answers = 0
const says = (turn: Turn): void => upstream.script(SPEAKERS['openai-chat'].speak(turn))

beforeAll(async () => {
  upstream = await startFakeUpstream()
  gateway = await startGateway(chatConfig([upstream.url], { routing: { sticky: false, cooldown: false, retries: false } }))
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})
/** Each answer is different, so that a cached one can be told from a new one. */
beforeEach(() => says({ reasoning: 'Hm.', text: ['Answer ', String(++answers)] }))

interface Told {
  readonly status: string | null
  readonly headers: Headers
  readonly text: string
  readonly id: string
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number; readonly cost: number | null }
}

const CACHE = { 'x-gateway-cache': 'true' }
let question = 0
const fresh = (): string => `Question ${++question}`

async function ask(input: string, headers: object = CACHE, body: object = {}, key?: string): Promise<Told> {
  const response = await gateway.respond({ model: 'acme/small', input, ...body }, { headers: { ...headers }, ...(key === undefined ? {} : { key }) })
  expect(response.status).toBe(200)
  const resource = ((body as { stream?: boolean }).stream === true ? checkWire(await response.text()) : await response.json()) as never
  return toldOf(response, resource)
}

interface Resource {
  readonly id: string
  readonly usage: Told['usage']
  readonly output: readonly { readonly content?: readonly { readonly text?: string }[] }[]
}

function toldOf(response: Response, { id, usage, output }: Resource): Told {
  const text = output.flatMap(({ content = [] }) => content.flatMap(({ text: piece }) => piece ?? [])).join('')
  return { status: response.headers.get('x-gateway-cache-status'), headers: response.headers, text, id, usage }
}

describe('a caller who repeats a request', () => {
  it('gets the cached answer at no cost and without a model, recorded as a call of its own', async () => {
    const input = fresh()
    const first = await ask(input)
    expect(first.status).toBe('MISS')
    expect(first.headers.get('x-gateway-cache-ttl')).toBe('300')
    expect(first.usage.output_tokens).toBe(7)
    const seen = upstream.requests.length
    const again = await ask(input)
    expect(again).toMatchObject({ status: 'HIT', text: first.text, usage: { input_tokens: 0, output_tokens: 0, total_tokens: 0, cost: 0 } })
    expect(upstream.requests).toHaveLength(seen)
    expect(again.id).not.toBe(first.id)
    expect(again.headers.get('x-gateway-cache-source-id')).toBe(first.id)
    expect(Number(again.headers.get('x-gateway-cache-age'))).toBeLessThan(60)
    expect(Number(again.headers.get('x-gateway-cache-ttl'))).toBeGreaterThan(200)
    const record = async (): Promise<unknown> =>
      ((await (await gateway.api('GET', `/api/v1/generation?id=${again.id}`)).json()) as { data: unknown }).data
    await expect
      .poll(record, { timeout: 5_000 })
      .toMatchObject({ response_cache_source_id: first.id, total_cost: 0, model: 'acme/small', provider_responses: [] })
  })
  it('gets it streamed or in one piece, whichever the first request asked for', async () => {
    const input = fresh()
    const whole = await ask(input)
    const streamed = await ask(input, CACHE, { stream: true })
    expect(streamed).toMatchObject({ status: 'HIT', text: whole.text })
    const other = fresh()
    const first = await ask(other, CACHE, { stream: true })
    expect(first.status).toBe('MISS')
    expect(await ask(other)).toMatchObject({ status: 'HIT', text: first.text })
  })
  it('gets function calls again, with their ids', async () => {
    says({ calls: [{ id: 'call_7', name: 'weather', arguments: ['{"city":', '"Bern"}'] }] })
    const input = fresh()
    const body = { model: 'acme/small', input, tools: [{ type: 'function', name: 'weather', parameters: {} }] }
    const read = async () => ((await (await gateway.respond(body, { headers: CACHE })).json()) as { output: unknown[] }).output
    const call = { type: 'function_call', call_id: 'call_7', name: 'weather', arguments: '{"city":"Bern"}' }
    expect(await read()).toEqual([expect.objectContaining(call)])
    says({ text: ['not asked'] })
    expect(await read()).toEqual([expect.objectContaining(call)])
  })
})

describe('a request that does not match the cached one', () => {
  it('is a streamed one, where a plugin changes only answers in one piece', async () => {
    says({ text: ['```json\n{"a": 1,}\n```'] })
    const input = fresh()
    const body = { text: { format: { type: 'json_object' } }, plugins: [{ id: 'response-healing' }] }
    expect(await ask(input, CACHE, { ...body, stream: true })).toMatchObject({ status: 'MISS', text: '```json\n{"a": 1,}\n```' })
    const mended = await ask(input, CACHE, body)
    expect({ status: mended.status, text: JSON.parse(mended.text) as unknown }).toEqual({ status: 'MISS', text: { a: 1 } })
    expect(await ask(input, CACHE, body)).toMatchObject({ status: 'HIT', text: mended.text })
    const other = { plugins: [{ id: 'response-healing' }] }
    await ask(input, CACHE, { ...other, stream: true })
    expect((await ask(input, CACHE, other)).status).toBe('HIT')
  })
  it('is one made after the operator has changed the default plugins', async () => {
    const config = chatConfig([upstream.url])
    const judged = { defaults: { plugins: [{ id: 'moderation', prevent_overrides: true }] }, plugins: { moderation: { model: 'acme/small' } } }
    const lax = await startGateway(config)
    const body = { model: 'acme/small', input: fresh() }
    const post = (of: TestGateway): Promise<Response> => of.respond(body, { headers: CACHE })
    const strict = await (async () => {
      expect((await post(lax)).status).toBe(200)
      expect((await post(lax)).headers.get('x-gateway-cache-status')).toBe('HIT')
      await writeFile(join(lax.app.boot.directory.path, 'signalbox.json'), JSON.stringify({ ...config, ...judged }))
      return lax.restart()
    })()
    try {
      says({ text: ['unsafe'] })
      expect((await post(strict)).status).toBe(403)
    } finally {
      await strict.close()
    }
  })
  it(verifies('H6', 'is one by another key, and one that differs in anything the answer depends on'), async () => {
    const input = fresh()
    await ask(input, CACHE, { temperature: 0 })
    expect((await ask(input, CACHE, { temperature: 0 })).status).toBe('HIT')
    expect((await ask(input, CACHE, { temperature: 1 })).status).toBe('MISS')
    expect((await ask(input, CACHE, { temperature: 0, instructions: 'Be brief.' })).status).toBe('MISS')
    expect((await ask(`${input} `, CACHE, { temperature: 0 })).status).toBe('MISS')
    const workspace = await gateway.app.boot.store.workspaces.default()
    const { secret } = await gateway.app.accounts.create({ name: 'Other', kind: 'inference', workspaceId: workspace.id })
    expect((await ask(input, CACHE, { temperature: 0 }, secret.reveal())).status).toBe('MISS')
  })
  it('is not one that differs only in metadata, session or trace', async () => {
    const input = fresh()
    await ask(input, CACHE, { metadata: { run: '1' }, session_id: 'a', trace: { trace_id: 't1' } })
    expect((await ask(input, CACHE, { metadata: { run: '2' }, session_id: 'b', trace: { trace_id: 't2' } })).status).toBe('HIT')
  })
})

describe('headers', () => {
  it('are optional: without them nothing is cached', async () => {
    const input = fresh()
    await ask(input)
    const plain = await ask(input, {})
    expect(plain.status).toBeNull()
    expect(plain.usage.output_tokens).toBe(7)
    expect((await ask(input, { 'x-gateway-cache': 'false' })).status).toBeNull()
  })
  it('set the lifetime of an answer, up to a day', async () => {
    const input = fresh()
    const ttlOf = async (ttl: string): Promise<string | null> =>
      (await ask(fresh(), { ...CACHE, 'x-gateway-cache-ttl': ttl })).headers.get('x-gateway-cache-ttl')
    expect(await ttlOf('600')).toBe('600')
    expect(await ttlOf('0')).toBe('1')
    expect(await ttlOf('1000000')).toBe('86400')
    expect(await ttlOf('60abc')).toBe('60')
    expect(await ttlOf('soon')).toBe('300')
    await ask(input, { ...CACHE, 'x-gateway-cache-ttl': '1' })
    await expect
      .poll(async () => (await ask(input, { ...CACHE, 'x-gateway-cache-ttl': '1' })).status, { timeout: 5_000, interval: 1_100 })
      .toBe('MISS')
  })
  it('can demand a fresh answer, which replaces the cached one', async () => {
    const input = fresh()
    const first = await ask(input)
    says({ text: ['Anew'] })
    expect(await ask(input, { ...CACHE, 'x-gateway-cache-clear': 'true' })).toMatchObject({ status: 'MISS', text: 'Anew' })
    expect(await ask(input)).toMatchObject({ status: 'HIT', text: 'Anew' })
    expect(first.text).not.toBe('Anew')
  })
  it('may have the names of the public service, and the answer then uses them, too', async () => {
    const input = fresh()
    const theirs = { 'x-openrouter-cache': 'true', 'x-openrouter-cache-ttl': '60' }
    const first = await ask(input, theirs)
    expect(first.headers.get('x-openrouter-cache-status')).toBe('MISS')
    const { headers } = await ask(input, theirs)
    expect(headers.get('x-openrouter-cache-status')).toBe('HIT')
    expect(headers.get('x-openrouter-cache-source-id')).toBe(first.id)
    expect(headers.get('x-gateway-cache-status')).toBeNull()
  })
  it('with other values are refused, and the error lists the valid ones', async () => {
    const response = await gateway.respond({ model: 'acme/small', input: 'x' }, { headers: { 'x-gateway-cache': 'maybe' } })
    expect(response.status).toBe(400)
    expect(await response.text()).toContain('x-gateway-cache: expected true or false')
  })
})

describe('what is not cached', () => {
  it('is a failure, an incomplete answer, and one that a filter ended', async () => {
    const input = fresh()
    upstream.script(status(400, { error: { message: 'no' } }))
    expect((await gateway.respond({ model: 'acme/small', input }, { headers: CACHE })).status).toBeGreaterThanOrEqual(400)
    says({ text: ['half'], fails: 'The engine broke down' })
    await gateway.respond({ model: 'acme/small', input, stream: true }, { headers: CACHE }).then((response) => response.text())
    says({ text: ['half'], finish: 'content_filter' })
    await gateway.respond({ model: 'acme/small', input }, { headers: CACHE }).then((response) => response.text())
    says({ text: ['whole'] })
    expect(await ask(input)).toMatchObject({ status: 'MISS', text: 'whole' })
  })
})

/** Ids belong to the call and differ. */
const withoutIds = (content: unknown): string => JSON.stringify(content).replaceAll(/"rs_\w+"/g, '"rs"')

describe('what is decided elsewhere', () => {
  const preset = async (slug: string, config: object): Promise<Response> => gateway.api('POST', '/api/v1/presets', { slug, config })
  it('in a preset holds for all its requests; a preset that disables the cache cannot be overridden', async () => {
    expect((await preset('kept', { cache_enabled: true, cache_ttl_seconds: 600 })).status).toBe(201)
    expect((await preset('never', { cache_enabled: false })).status).toBe(201)
    const input = fresh()
    const kept = await ask(input, {}, { preset: 'kept' })
    expect(kept.status).toBe('MISS')
    expect(kept.headers.get('x-gateway-cache-ttl')).toBe('600')
    expect((await ask(input, {}, { preset: 'kept' })).status).toBe('HIT')
    expect((await ask(input, { 'x-gateway-cache': 'false' }, { preset: 'kept' })).status).toBeNull()
    expect((await ask(input, { ...CACHE, 'x-gateway-cache-ttl': '60' }, { preset: 'kept' })).status).toBe('HIT')
    expect((await ask(input, CACHE, { preset: 'never' })).status).toBeNull()
    expect(JSON.stringify(upstream.requests.at(-1)?.body)).not.toContain('cache_enabled')
    expect((await preset('wrong', { cache_ttl_seconds: 0 })).status).toBe(400)
    expect((await preset('wrong', { cache_enabled: 'yes' })).status).toBe(400)
  })
  it('a policy of zero data retention disables the cache, too', async () => {
    const held = await startGateway({
      ...chatConfig([upstream.url]),
      guardrails: { rules: [{ name: 'nothing is kept', enforce_zdr: true }] },
      providers: [{ slug: 'acme', name: 'Acme', dialect: 'openai-chat', base_url: upstream.url, api_keys: ['k'], policies: { zdr: true } }],
    })
    try {
      const response = await held.respond({ model: 'acme/small', input: 'x' }, { headers: CACHE })
      expect(response.status).toBe(200)
      expect(response.headers.get('x-gateway-cache-status')).toBeNull()
    } finally {
      await held.close()
    }
  })
  it('a restart keeps the cache, and an operator can switch it off', async () => {
    const first = await startGateway(chatConfig([upstream.url]))
    const status = async (of: TestGateway): Promise<string | null> =>
      (await of.respond({ model: 'acme/small', input: 'x' }, { headers: CACHE })).headers.get('x-gateway-cache-status')
    expect(await status(first)).toBe('MISS')
    const second = await first.restart()
    expect(await status(second)).toBe('HIT')
    await second.close()
    const off = await startGateway(chatConfig([upstream.url], { answer_cache: { enabled: false } }))
    expect(await status(off)).toBeNull()
    expect(await status(off)).toBeNull()
    await off.close()
  })
})

describe('the other front doors', () => {
  it.each([
    ['/api/v1/chat/completions', (text: string) => ({ messages: [{ role: 'user', content: text }] }), ['usage', 'total_tokens']],
    ['/api/v1/messages', (text: string) => ({ max_tokens: 100, messages: [{ role: 'user', content: text }] }), ['usage', 'output_tokens']],
    [
      '/api/v1beta/models/acme/small:generateContent',
      (text: string) => ({ contents: [{ parts: [{ text }] }] }),
      ['usageMetadata', 'totalTokenCount'],
    ],
  ] as const)('%s support caching, too', async (path, bodyOf, [usage, tokens]) => {
    const body = { model: 'acme/small', ...bodyOf(fresh()) }
    const post = async () => {
      const response = await fetch(`${gateway.url}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', ...CACHE },
        body: JSON.stringify(body),
      })
      const answer = (await response.json()) as { [field: string]: { [field: string]: unknown } }
      return {
        status: response.headers.get('x-gateway-cache-status'),
        tokens: answer[usage]?.[tokens],
        content: withoutIds(answer['choices'] ?? answer['content'] ?? answer['candidates']),
      }
    }
    const first = await post()
    expect(first.status).toBe('MISS')
    says({ text: ['another'] })
    expect(await post()).toMatchObject({ status: 'HIT', tokens: 0, content: first.content })
  })
  it('/api/v1/messages shows no tokens at the beginning of a cached stream', async () => {
    const body = { model: 'acme/small', max_tokens: 100, stream: true, messages: [{ role: 'user', content: fresh() }] }
    const counted = async (): Promise<unknown> => {
      const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', ...CACHE }
      const response = await fetch(`${gateway.url}/api/v1/messages`, { method: 'POST', headers, body: JSON.stringify(body) })
      const [, start = ''] = /"message_start".*"input_tokens":(\d+)/.exec(await response.text()) ?? []
      return { status: response.headers.get('x-gateway-cache-status'), isCounted: Number(start) > 0 }
    }
    expect(await counted()).toEqual({ status: 'MISS', isCounted: true })
    expect(await counted()).toEqual({ status: 'HIT', isCounted: false })
  })
  it('/api/v1/embeddings supports caching, too', async () => {
    const post = async () => {
      const response = await fetch(`${gateway.url}/api/v1/embeddings`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', ...CACHE },
        body: JSON.stringify({ model: 'demo/embed', input: ['one', 'two'] }),
      })
      const { data, usage } = (await response.json()) as { readonly data: unknown; readonly usage: unknown }
      return { status: response.headers.get('x-gateway-cache-status'), data, usage }
    }
    const first = await post()
    expect(first.status).toBe('MISS')
    expect(await post()).toEqual({ status: 'HIT', data: first.data, usage: expect.objectContaining({ prompt_tokens: 0, total_tokens: 0 }) })
  })
})
