import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { chatEvents, startFakeUpstream, status, stream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { chatConfig, startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { verifies } from '../requirements.ts'

/** Which endpoint a conversation returns to, over real sockets, if only its cache speaks for the more expensive one. */
let cheap: FakeUpstream
let dear: FakeUpstream
let gateway: TestGateway

const USAGE = { prompt_tokens: 2_000, completion_tokens: 2, total_tokens: 2_002, prompt_tokens_details: { cached_tokens: 1_500 } }
const cached = stream([chatEvents.role(), chatEvents.text('ok'), chatEvents.finish(), chatEvents.usage(USAGE), chatEvents.done()])

beforeEach(async () => {
  cheap = await startFakeUpstream(cached)
  dear = await startFakeUpstream(cached)
  gateway = await startGateway(chatConfig([cheap.url, dear.url]))
})
afterEach(async () => {
  await gateway.close()
  await cheap.close()
  await dear.close()
})

const turn = (role: string, content: string): object => ({ type: 'message', role, content })
const opening = [turn('developer', 'You are the caretaker.'), turn('user', 'Where is the ladder?')]
const later = [...opening, turn('assistant', 'In the shed.'), turn('user', 'And the key?')]
const ask = async (input: readonly object[], more: object = {}): Promise<number> => {
  const response = await gateway.respond({ model: 'acme/small', input, ...more })
  await response.text()
  return response.status
}
const served = (): readonly number[] => [cheap.requests.length, dear.requests.length]

describe('a conversation without a session id', () => {
  it(verifies('P24', 'P25', 'stays where its prompt was read from a cache, and plans say so'), async () => {
    await ask(opening, { provider: { ignore: ['acme'] } })
    expect(served()).toEqual([0, 1])
    for (let n = 0; n < 3; n++) expect(await ask(later)).toBe(200)
    expect(served()).toEqual([0, 4])
    const plan = (await (await gateway.api('POST', '/api/v1/route/explain', { model: 'acme/small', input: later }, gateway.key)).json()) as {
      attempts: readonly { tag: string; notes: readonly string[] }[]
    }
    expect(plan.attempts.map(({ tag, notes }) => [tag, notes])).toEqual([
      ['backup1', ['the session is pinned here']],
      ['acme', []],
    ])
  })
})

describe('a session at a provider with several keys', () => {
  const KEYS = ['one', 'two', 'three']
  const usedKeys = (): readonly string[] => cheap.requests.map(({ headers }) => (headers.authorization ?? '').replace('Bearer ', ''))
  const startWithKeys = async (): Promise<void> => {
    await gateway.close()
    const config = chatConfig([cheap.url]) as { readonly providers: readonly object[] }
    gateway = await startGateway({ ...config, providers: config.providers.map((provider) => ({ ...provider, api_keys: KEYS })) })
  }

  it('keeps using one of them, because the keys may belong to accounts that share no cache', async () => {
    await startWithKeys()
    for (const session of ['s1', 's2', 's3', 's4', 's5', 's6', 's7', 's8']) {
      for (let n = 0; n < 3; n++) await ask(later, { session_id: session })
    }
    const bySession = Array.from({ length: 8 }, (_, n) => new Set(usedKeys().slice(n * 3, n * 3 + 3)))
    expect(bySession.map((keys) => keys.size)).toEqual(Array.from({ length: 8 }, () => 1))
    expect(new Set(usedKeys()).size).toBeGreaterThan(1)
  })

  it('keeps using one without a session id, too, once its prompt was read from a cache', async () => {
    await startWithKeys()
    for (let n = 0; n < 5; n++) await ask(later)
    expect(new Set(usedKeys().slice(1)).size).toBe(1)
  })

  it('continues with another key while its own is rate limited', async () => {
    const limited = new Set<string | undefined>()
    await cheap.close()
    cheap = await startFakeUpstream((request, response) =>
      (limited.has(request.headers.authorization) ? status(429, { error: { message: 'slow' } }) : cached)(request, response),
    )
    await startWithKeys()
    await ask(later, { session_id: 's' })
    limited.add(`Bearer ${usedKeys()[0]}`)
    expect(await ask(later, { session_id: 's' })).toBe(200)
    expect(new Set(usedKeys()).size).toBe(2)
  })
})

describe('a session that a client names in a header of its own', () => {
  const sessionOf = async (headers: { readonly [name: string]: string }, more: object = {}): Promise<unknown> => {
    const response = await gateway.respond({ model: 'acme/small', input: 'Hi', ...more }, { headers })
    await response.text()
    const id = response.headers.get('x-generation-id')
    return ((await (await gateway.api('GET', `/api/v1/generation?id=${id}`)).json()) as { data: { session_id: unknown } }).data.session_id
  }

  it.each(['X-Claude-Code-Session-Id', 'session-id', 'session_id', 'X-Session-Affinity'])('is the session of the call: %s', async (header) => {
    expect(await sessionOf({ [header]: 's-1' })).toBe('s-1')
    expect(await sessionOf({ [header]: 's-1', 'x-session-id': 's-2' })).toBe('s-2')
    expect(await sessionOf({ [header]: 's-1' }, { session_id: 's-3' })).toBe('s-3')
    expect(await sessionOf({ [header]: 's'.repeat(300) })).toBeNull()
  })

  it('keeps its endpoint from the first answer on', async () => {
    const headers = { 'X-Claude-Code-Session-Id': 's-1' }
    await sessionOf(headers, { provider: { ignore: ['acme'] } })
    for (let n = 0; n < 3; n++) await sessionOf(headers, { input: `${n}` })
    expect(served()).toEqual([0, 4])
  })

  it('is read from the headers that the operator configures', async () => {
    await gateway.close()
    gateway = await startGateway(chatConfig([cheap.url], { routing: { session_headers: ['X-Conversation'] } }))
    expect(await sessionOf({ 'x-conversation': 'c-1' })).toBe('c-1')
    expect(await sessionOf({ 'session-id': 's-1' })).toBeNull()
  })
})
