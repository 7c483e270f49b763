import { describe, expect, expectTypeOf, it, vi } from 'vitest'
import { ApiError, createApi, refusalOf, type Args } from './client.ts'

interface Sent {
  readonly url: string
  readonly init: RequestInit
}

function scripted(answer: () => Response | Promise<Response>): { readonly fetch: typeof fetch; readonly sent: Sent[] } {
  const sent: Sent[] = []
  const send = async (url: unknown, init: RequestInit = {}): Promise<Response> => {
    sent.push({ url: String(url), init })
    return answer()
  }
  return { fetch: send, sent }
}

describe('a call of the API', () => {
  it('puts its arguments into the path, the query and the body', async () => {
    const { fetch, sent } = scripted(() => Response.json({ data: [] }))
    const api = createApi({ key: 'sk-1', fetch })
    await api('GET /api/v1/keys/{hash}', { params: { hash: 'a/b c' } })
    await api('GET /api/v1/keys', { query: { offset: 100, workspace_id: undefined } })
    await api('POST /api/v1/keys', { body: { name: 'ci' } })
    expect(sent.map(({ url, init }) => [init.method, url, init.body])).toEqual([
      ['GET', '/api/v1/keys/a%2Fb%20c', undefined],
      ['GET', '/api/v1/keys?offset=100', undefined],
      ['POST', '/api/v1/keys', '{"name":"ci"}'],
    ])
    expect(sent.every(({ init }) => new Headers(init.headers).get('authorization') === 'Bearer sk-1')).toBe(true)
  })

  it('has types that demand the parameters the route requires, and no others', () => {
    expectTypeOf<Args<'GET /api/v1/keys'>>().toExtend<[input?: { readonly query?: { readonly offset?: number | undefined } }, signal?: AbortSignal]>()
    expectTypeOf<Args<'GET /api/v1/keys/{hash}'>[0]>().toExtend<{ readonly params: { readonly hash: string } }>()
    // @ts-expect-error -- there is no such route
    void ((api: ReturnType<typeof createApi>) => api('GET /api/v1/nothing'))
    // @ts-expect-error -- the hash is missing
    void ((api: ReturnType<typeof createApi>) => api('GET /api/v1/keys/{hash}'))
  })

  it('rejects with the message and the field of an error, and reports a key that is not accepted', async () => {
    const refused: string[] = []
    const body = { error: { code: 401, message: 'no such key', metadata: { error_type: 'authentication', path: 'config.endpoint' } } }
    const { fetch } = scripted(() => Response.json(body, { status: 401 }))
    const api = createApi({ key: 'sk-1', fetch, onRefused: () => refused.push('refused') })
    const error = await api('GET /api/v1/credits').catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ApiError)
    expect(error).toMatchObject({ status: 401, errorType: 'authentication', message: 'no such key', path: 'config.endpoint' })
    expect(refused).toEqual(['refused'])
  })

  it('is not sent again with a key that was refused: that would look like guessing keys', async () => {
    const refused: string[] = []
    const { fetch, sent } = scripted(() => Response.json({ error: { message: 'no such key' } }, { status: 401 }))
    const api = createApi({ key: 'sk-1', fetch, onRefused: () => refused.push('refused') })
    await expect(api('GET /api/v1/credits')).rejects.toMatchObject({ status: 401, message: 'no such key' })
    await expect(api('GET /api/v1/models')).rejects.toMatchObject({ status: 401, message: 'no such key' })
    expect([refused, sent.length]).toEqual([['refused'], 1])
  })

  it('with a key that no header can contain is refused without being sent', async () => {
    const refused: string[] = []
    const { fetch, sent } = scripted(() => Response.json({}))
    const api = createApi({ key: '“sk-1”', fetch, onRefused: () => refused.push('refused') })
    await expect(api('GET /api/v1/credits')).rejects.toMatchObject({ status: 401, errorType: 'authentication' })
    expect([refused, sent]).toEqual([['refused'], []])
  })

  it('explains in its own words that the gateway cannot be reached, or is slow', async () => {
    const away = createApi({ key: 'sk-1', fetch: scripted(() => Promise.reject(new TypeError('Failed to fetch'))).fetch })
    await expect(away('GET /api/v1/credits')).rejects.toMatchObject({ status: 0, message: 'The gateway cannot be reached.' })
    const never = (_url: unknown, init?: RequestInit): Promise<Response> =>
      new Promise((_resolve, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal!.reason as Error)))
    const slow = createApi({ key: 'sk-1', fetch: never, limitMs: 5 })
    await expect(slow('GET /api/v1/credits')).rejects.toMatchObject({ status: 0, message: 'The gateway did not answer in time.' })
  })

  it('says that something else answered, such as the sign-in page of a proxy, and keeps the key that the gateway did not refuse', async () => {
    const refused: string[] = []
    const page = (status: number): Response => new Response('<html>Sign in</html>', { status, headers: { 'content-type': 'text/html' } })
    const behind = (status: number) => createApi({ key: 'sk-1', fetch: scripted(() => page(status)).fetch, onRefused: () => refused.push('refused') })
    const message = expect.stringContaining('did not come from the gateway')
    await expect(behind(200)('GET /api/v1/credits')).rejects.toMatchObject({ status: 0, message })
    await expect(behind(401)('GET /api/v1/credits')).rejects.toMatchObject({
      status: 401,
      message: expect.stringContaining('did not come from the gateway'),
    })
    expect(refused).toEqual([])
  })

  it.each(['{"message":"maintenance"}', 'null', '[]', '"ok"'])(
    'takes %s for the answer of something else: what the gateway lists is its `data`',
    async (text) => {
      const api = createApi({ key: 'sk-1', fetch: scripted(() => new Response(text)).fetch })
      await expect(api('GET /api/v1/keys')).rejects.toMatchObject({ status: 0, message: expect.stringContaining('did not come from the gateway') })
    },
  )

  it.each(['{"message":"maintenance"}', 'null', '{"status":"ok"}'])(
    'does not take a change for made because something else answered %s',
    async (text) => {
      const api = createApi({ key: 'sk-1', fetch: scripted(() => new Response(text)).fetch })
      const foreign = { status: 0, message: expect.stringContaining('did not come from the gateway') }
      await expect(api('POST /api/v1/keys', { body: { name: 'ci' } })).rejects.toMatchObject(foreign)
      await expect(api('DELETE /api/v1/keys/{hash}', { params: { hash: 'h' } })).rejects.toMatchObject(foreign)
    },
  )

  it.each(['{"data":{}}', '{"deleted":true}', '{"assigned_count":0}', '{"unassigned_count":0}', '{"replayed":0}', '{"purged":0}'])(
    'takes %s for the answer of the gateway to a change',
    async (text) => {
      const api = createApi({ key: 'sk-1', fetch: scripted(() => new Response(text)).fetch })
      expect(await api('DELETE /api/v1/keys/{hash}', { params: { hash: 'h' } })).toEqual(JSON.parse(text))
    },
  )

  it('waits longer where the gateway itself waits for a platform, or works through its queue', async () => {
    const limits: number[] = []
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
      limits.push(ms)
      return new AbortController().signal
    })
    try {
      const api = createApi({ key: 'sk-1', fetch: scripted(() => Response.json({ data: {} })).fetch })
      await api('POST /api/v1/observability/destinations/{id}/test', { params: { id: 'd' } })
      await api('POST /api/v1/observability/destinations/{id}/send-test', { params: { id: 'd' } })
      await api('PATCH /api/v1/observability/destinations/{id}', { params: { id: 'd' }, body: { privacy_mode: true } })
      await api('GET /api/v1/observability/destinations/{id}/status', { params: { id: 'd' } })
      expect(limits).toEqual([120_000, 120_000, 120_000, 30_000])
    } finally {
      timeout.mockRestore()
    }
  })

  it('that is aborted rejects as aborted, not as a failure', async () => {
    const never = (_url: unknown, init?: RequestInit): Promise<Response> =>
      new Promise((_resolve, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal!.reason as Error)))
    const leaving = new AbortController()
    const call = createApi({ key: 'sk-1', fetch: never })('GET /api/v1/credits', {}, leaving.signal)
    leaving.abort()
    await expect(call).rejects.toMatchObject({ name: 'AbortError' })
  })
})

it('an error whose body is the page of a proxy is reported by its status', () => {
  expect(refusalOf(502, '<html>Bad Gateway</html>').message).toBe('The gateway answered with status 502.')
  expect(refusalOf(500, '{"error":{}}').message).toBe('The gateway answered with status 500.')
})
