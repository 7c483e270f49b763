import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { chatText, startFakeUpstream, status, stream, type FakeUpstream, type Reply } from '../../src/testing/fake-upstream.ts'
import { chatConfig, startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'

/** A provider with three credentials: each call finds a working one as long as there is one. */
let upstream: FakeUpstream
let gateway: TestGateway
let verdicts: Map<string, number>
let refusal: string

/** The first provider has three credentials, the others have one each. */
const startWithThree = (...urls: readonly string[]): Promise<TestGateway> => {
  const config = chatConfig(urls) as { readonly providers: readonly object[] }
  const providers = config.providers.map((provider, n) => (n === 0 ? { ...provider, api_keys: ['one', 'two', 'three'] } : provider))
  return startGateway({ ...config, providers, routing: { sticky: false } })
}

beforeEach(async () => {
  verdicts = new Map()
  refusal = '{"error":{"message":"no"}}'
  const judge: Reply = (request, response) => {
    const code = verdicts.get(request.headers.authorization ?? '') ?? 200
    if (code === 200) return stream(chatText('fine'))(request, response)
    response.writeHead(code, { 'content-type': 'application/json', ...(code === 429 ? { 'retry-after': '30' } : {}) }).end(refusal)
  }
  upstream = await startFakeUpstream(judge)
  gateway = await startWithThree(upstream.url)
})
afterEach(async () => {
  await gateway.close()
  await upstream.close()
})

const ask = async (more: object = {}): Promise<{ readonly status: number; readonly used: readonly string[]; readonly text: string }> => {
  const before = upstream.requests.length
  const response = await gateway.respond({ model: 'acme/small', input: 'hi', ...more })
  const text = await response.text()
  return {
    status: response.status,
    text,
    used: upstream.requests.slice(before).map(({ headers }) => (headers.authorization ?? '').replace('Bearer ', '')),
  }
}

describe('a pool of three credentials', () => {
  it('is used in rotation', async () => {
    const used = new Set<string>()
    for (let i = 0; i < 3; i++) for (const one of (await ask()).used) used.add(one)
    expect(used).toEqual(new Set(['one', 'two', 'three']))
  })

  it.each([401, 402, 403])('continues without one that is refused with %d, within the same call', async (code) => {
    verdicts.set('Bearer one', code)
    const answers = [await ask(), await ask(), await ask(), await ask()]
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    // Once it is known to be dead, it is not tried again.
    expect(answers.flatMap(({ used }) => used).filter((one) => one === 'one')).toHaveLength(1)
  })

  it('waits for the one that is rate limited for a moment where all others are refused', async () => {
    for (const name of ['two', 'three']) verdicts.set(`Bearer ${name}`, 401)
    let asked = 0
    upstream.script((request, response) => {
      const code = verdicts.get(request.headers.authorization ?? '') ?? (asked++ === 0 ? 429 : 200)
      return (code === 200 ? stream(chatText('fine')) : status(code, { error: { message: 'no' } }, code === 429 ? { 'retry-after': '0.2' } : {}))(
        request,
        response,
      )
    })
    const { status: code, used } = await ask()
    expect([code, used.length, used[0], used[3]]).toEqual([200, 4, 'one', 'one'])
  })

  it.each([
    ['lacks a model', '{"error":{"message":"Your project does not have access to the model small-1","code":"permission_denied"}}'],
    ['comes from the wrong place', '{"error":{"message":"User location is not supported for the API use."}}'],
    ['meets a wall in front of the API', '<!DOCTYPE html><html><head><title>Just a moment...</title></head></html>'],
  ])('tries each once in a call when all get 403 because the account %s', async (_why, body) => {
    await gateway.close()
    const dearer = await startFakeUpstream(stream(chatText('from the dearer one')))
    gateway = await startWithThree(upstream.url, dearer.url)
    try {
      refusal = body
      for (const name of ['one', 'two', 'three']) verdicts.set(`Bearer ${name}`, 403)
      const answer = await ask()
      expect([...answer.used].sort()).toEqual(['one', 'three', 'two'])
      expect(answer.text).toContain('from the dearer one')
    } finally {
      await dearer.close()
    }
  })

  it('continues without one that is rate limited', async () => {
    verdicts.set('Bearer two', 429)
    const answers = [await ask(), await ask(), await ask(), await ask()]
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    expect(answers.flatMap(({ used }) => used).filter((one) => one === 'two')).toHaveLength(1)
  })

  it('keeps its provider in its place while one is limited and others serve', async () => {
    await gateway.close()
    const dearer = await startFakeUpstream(stream(chatText('from the dearer one')))
    gateway = await startWithThree(upstream.url, dearer.url)
    // The random choice only prefers the cheaper one, so the order is fixed here.
    const askByPrice = () => ask({ provider: { sort: 'price' } })
    try {
      verdicts.set('Bearer one', 429)
      expect([await askByPrice(), await askByPrice(), await askByPrice()].map(({ used }) => used.length)).toEqual([2, 1, 1])
      expect(dearer.requests).toHaveLength(0)
      // Once all credentials are limited, so is the endpoint.
      for (const one of ['two', 'three']) verdicts.set(`Bearer ${one}`, 429)
      await askByPrice()
      expect((await askByPrice()).used).toEqual([])
      expect(dearer.requests).toHaveLength(2)
    } finally {
      await dearer.close()
    }
  })

  it('is listed in the metadata when it could not be used', async () => {
    await gateway.close()
    const dearer = await startFakeUpstream(stream(chatText('from the dearer one')))
    gateway = await startWithThree(upstream.url, dearer.url)
    try {
      for (const name of ['one', 'two', 'three']) verdicts.set(`Bearer ${name}`, 401)
      const told = async (): Promise<readonly object[]> => {
        const headers = { 'x-gateway-experimental-metadata': 'enabled' }
        const body = { model: 'acme/small', input: 'hi', provider: { order: ['acme'] } }
        const response = await gateway.respond(body, { headers })
        return ((await response.json()) as { gateway_metadata: { attempts: object[] } }).gateway_metadata.attempts
      }
      expect(await told()).toMatchObject([401, 401, 401, 200].map((status) => ({ status })))
      // No credential is left to try, so nothing is sent, and the metadata says why.
      expect(await told()).toMatchObject([{ status: 0, error_type: 'provider_unavailable' }, { status: 200 }])
    } finally {
      await dearer.close()
    }
  })

  it('is exhausted when all are invalid: 502, never a 401, and no further attempts', async () => {
    for (const one of ['one', 'two', 'three']) verdicts.set(`Bearer ${one}`, 401)
    const first = await ask()
    expect([first.status, first.used.length]).toEqual([502, 3])
    expect(first.text).toContain('upstream_credentials_exhausted')
    const second = await ask()
    expect([second.status, second.used.length]).toEqual([502, 0])
    expect(second.text).toContain('upstream_credentials_exhausted')
  })

  it('serves again within seconds where all were refused only for a moment, and no other endpoint could serve', async () => {
    for (const one of ['one', 'two', 'three']) verdicts.set(`Bearer ${one}`, 401)
    expect((await ask()).status).toBe(502)
    verdicts.clear()
    const before = upstream.requests.length
    await expect.poll(async () => (await ask()).status, { timeout: 8_000, interval: 250 }).toBe(200)
    expect(upstream.requests.length - before).toBe(1)
  })
})

describe('an own key', () => {
  /** The endpoint's states after calls that began with this key. */
  async function statesAfter(key: string): Promise<readonly string[]> {
    expect((await gateway.api('POST', '/api/v1/byok', { provider: 'acme', key })).status).toBe(201)
    for (let i = 0; i < 4; i++) expect((await ask()).status).toBe(200)
    const explained = await gateway.api('POST', '/api/v1/route/explain', { model: 'acme/small', input: 'hi' }, gateway.key)
    const { attempts } = (await explained.json()) as { readonly attempts: readonly { readonly state: string }[] }
    return attempts.map(({ state }) => state)
  }

  it('that no header can carry is set aside alone: its endpoint stays healthy', async () => {
    expect(await statesAfter('{\n  "type": "service_account"\n}')).toEqual(['healthy', 'healthy'])
  })

  it('whose account does not have the model leaves its endpoint healthy, too', async () => {
    verdicts.set('Bearer own-key-of-a-team', 404)
    expect(await statesAfter('own-key-of-a-team')).toEqual(['healthy', 'healthy'])
  })
})

describe('one credential and several models of its provider', () => {
  const models = ['acme/m0', 'acme/m1', 'acme/m2', 'acme/m3', 'acme/m4']
  let refusals: { readonly [model: string]: Reply }
  let elsewhere: FakeUpstream

  beforeEach(async () => {
    await gateway.close()
    refusals = {}
    upstream.script((request, response) =>
      (refusals[String(request.body['model'])] ?? stream(chatText(`from ${String(request.body['model'])}`)))(request, response),
    )
    elsewhere = await startFakeUpstream(stream(chatText('from elsewhere')))
    const provider = (slug: string, { url }: FakeUpstream): object => ({ slug, name: slug, dialect: 'openai-chat', base_url: url, api_keys: ['one'] })
    const served = [...models.map((slug) => [slug, 'acme']), ['acme/elsewhere', 'elsewhere']]
    gateway = await startGateway({
      providers: [provider('acme', upstream), provider('elsewhere', elsewhere)],
      models: served.map(([slug, by]) => ({
        slug,
        context_length: 8_000,
        endpoints: [{ provider: by, upstream_model: slug!.slice(5), pricing: { input: 1, output: 1 } }],
      })),
      routing: { sticky: false },
    })
  })
  afterEach(() => elsewhere.close())

  const askFor = async (...names: readonly string[]): Promise<{ readonly status: number; readonly after: string | null; readonly text: string }> => {
    const response = await gateway.respond({ models: names, input: 'hi' })
    return { status: response.status, after: response.headers.get('retry-after'), text: await response.text() }
  }
  const limited = status(429, { error: { message: 'Rate limit reached for this model' } }, { 'retry-after': '30' })

  it.each([
    ['limited for the first', limited],
    ['not granted the first', status(403, { error: { message: 'Your project does not have access to the model m0', code: 'permission_denied' } })],
  ])('serves the next model where it is %s', async (_why, refusal) => {
    refusals = { m0: refusal }
    const answer = await askFor('acme/m0', 'acme/m1')
    expect([answer.status, answer.text]).toEqual([200, expect.stringContaining('from m1')])
    expect(upstream.requests).toHaveLength(2)
  })

  it('gives 429 with the pause of the attempts where it is rate limited for all models', async () => {
    refusals = { m0: limited, m1: limited }
    expect(await askFor('acme/m0', 'acme/m1')).toMatchObject({ status: 429, after: '30' })
    expect(upstream.requests).toHaveLength(2)
  })

  it('is not waited for once it is invalid, even if it was rate limited before', async () => {
    refusals = {
      m0: status(429, { error: { message: 'slow down' } }, { 'retry-after': '2' }),
      m1: status(401, { error: { message: 'no such key' } }),
    }
    const began = performance.now()
    expect((await askFor('acme/m0', 'acme/m1')).status).toBe(429)
    expect(performance.now() - began).toBeLessThan(1_500)
    expect(upstream.requests).toHaveLength(2)
  })

  it('is sent only once when it is invalid', async () => {
    refusals = { m0: status(401, { error: { message: 'no such key' } }) }
    expect((await askFor('acme/m0', 'acme/m1', 'acme/elsewhere')).text).toContain('from elsewhere')
    expect(upstream.requests).toHaveLength(1)
  })

  it('delays no call once it is known to be invalid, and errors of other endpoints are reported as if it did not exist', async () => {
    refusals = { m0: status(401, { error: { message: 'no such key' } }) }
    await askFor(...models, 'acme/elsewhere')
    const before = performance.now()
    expect((await askFor(...models, 'acme/elsewhere')).text).toContain('from elsewhere')
    expect(performance.now() - before).toBeLessThan(2_000)
    expect(upstream.requests).toHaveLength(1)
    elsewhere.script(limited)
    expect(await askFor(...models, 'acme/elsewhere')).toMatchObject({ status: 429, after: '30' })
  })
})
