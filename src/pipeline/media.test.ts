import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Call } from '../core/call.ts'
import type { InputPart } from '../core/item.ts'
import { createEgress, type Egress } from '../lib/egress.ts'
import { createMediaLoader, type MediaLimits } from './media.ts'
import { sniffMediaType } from '../lib/media-type.ts'

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
const LIMITS: MediaLimits = { bytes: 1000, bytesPerCall: 2500, timeoutMs: 2_000, files: 5 }

const routes = new Map<string, (response: ServerResponse) => void>()
const seen: string[] = []
let origin = ''
let egress: Egress
let strict: Egress

beforeAll(async () => {
  const server = createServer((request, response) => {
    seen.push(request.url ?? '')
    const route = routes.get(request.url ?? '')
    if (route === undefined) response.writeHead(404).end('nothing here')
    else route(response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  egress = createEgress({ allowPrivate: true })
  strict = createEgress({ allowPrivate: false, allowHttp: true })
  return async () => {
    await Promise.all([egress.close(), strict.close()])
    server.closeAllConnections()
    server.close()
  }
})
afterEach(() => {
  routes.clear()
  seen.length = 0
})

const serve = (path: string, body: Buffer | string, type = 'application/octet-stream'): string => {
  routes.set(path, (response) => response.writeHead(200, { 'content-type': type }).end(body))
  return origin + path
}
/** As much of a call as the loader looks at. */
function callWith(content: readonly InputPart[] = [], signal = new AbortController().signal): Call {
  return { request: { input: [{ type: 'message', role: 'user', content }] }, signal, trace: {} } as unknown as Call
}
const image = (url: string): InputPart => ({ type: 'input_image', image_url: url })

describe('loading', () => {
  test('gives type and base64, the type by the bytes', async () => {
    const url = serve('/a.jpg', PNG, 'image/jpeg')
    const media = await createMediaLoader(() => egress, LIMITS).load(callWith([image(url)]), [url])
    expect(media.get(url)).toEqual({ mimeType: 'image/png', data: PNG.toString('base64') })
  })

  test('asks once per call, whatever the attempts, and again for another call', async () => {
    const url = serve('/a.png', PNG)
    const loader = createMediaLoader(() => egress, LIMITS)
    const call = callWith()
    await loader.load(call, [url])
    await loader.load(call, [url])
    expect(seen).toEqual(['/a.png'])
    await loader.load(callWith(), [url])
    expect(seen).toHaveLength(2)
  })

  test('names the path of media that cannot be fetched, and reports an invalid URL as that', async () => {
    const loader = createMediaLoader(() => egress, LIMITS)
    const text: InputPart = { type: 'input_text', text: 'look' }
    const load = (url: string, part: InputPart) => loader.load(callWith([text, part]), [url])
    await expect(load('http://', image('http://'))).rejects.toMatchObject({
      message: 'input[0].content[1].image_url: the address is not a URL',
      details: { path: 'input[0].content[1].image_url' },
    })
    const gone = `${origin}/gone.pdf`
    await expect(load(gone, { type: 'input_file', file_url: gone })).rejects.toMatchObject({
      message: `${gone}: answered with status 404`,
      details: { path: 'input[0].content[1].file_url' },
    })
  })

  test('takes only a picture for one that a model drew', async () => {
    const url = serve('/gone.html', Buffer.from('<!doctype html><title>expired</title>'), 'text/html')
    const input = [{ type: 'image_generation_call', status: 'completed', result: url }]
    const call = callWith()
    const loaded = createMediaLoader(() => egress, LIMITS).load({ ...call, request: { ...call.request, input } }, [url])
    await expect(loaded).rejects.toMatchObject({ errorType: 'unsupported_image_format', details: { path: 'input[0].result' } })
  })

  test('ignores items of unknown types, whatever their lists contain', async () => {
    const url = serve('/a.png', PNG)
    const call = callWith([image(url)])
    const odd = { type: 'note', content: [null, 'text', 7, { image_url: 5 }] }
    const input = [odd, ...call.request.input] as unknown as Call['request']['input']
    const media = await createMediaLoader(() => egress, LIMITS).load({ ...call, request: { ...call.request, input } }, [url])
    expect(media.get(url)?.mimeType).toBe('image/png')
  })

  test('follows redirects, a few', async () => {
    serve('/real', PNG)
    routes.set('/moved', (response) => response.writeHead(302, { location: '/real' }).end())
    routes.set('/circle', (response) => response.writeHead(301, { location: '/circle' }).end())
    const loader = createMediaLoader(() => egress, LIMITS)
    expect((await loader.load(callWith(), [`${origin}/moved`])).get(`${origin}/moved`)?.mimeType).toBe('image/png')
    await expect(loader.load(callWith(), [`${origin}/circle`])).rejects.toMatchObject({ errorType: 'image_download_failed' })
    expect(seen.filter((path) => path === '/circle')).toHaveLength(4)
  })

  test('stops when the caller leaves', async () => {
    const gone = new AbortController()
    routes.set('/slow', () => gone.abort(new Error('gone')))
    await expect(createMediaLoader(() => egress, LIMITS).load(callWith([], gone.signal), [`${origin}/slow`])).rejects.toThrow('given up')
  })
})

describe('what is refused', () => {
  test.each<[string, string, () => void]>([
    ['image_download_failed', '/missing', () => undefined],
    ['image_download_failed', '/empty', () => serve('/empty', '')],
    ['image_download_failed', '/cut', () => routes.set('/cut', (response) => response.destroy())],
    ['image_download_failed', '/silent', () => routes.set('/silent', () => undefined)],
    ['image_too_large', '/big', () => serve('/big', Buffer.concat([PNG, Buffer.alloc(1000)]))],
    ['unsupported_image_format', '/page', () => serve('/page', '<html>sign in</html>', 'image/png')],
    ['unsupported_image_format', '/program', () => serve('/program', Buffer.from('7f454c46020101000000', 'hex'), 'image/png')],
  ])('%s: %s', async (errorType, path, prepare) => {
    prepare()
    const url = origin + path
    const loader = createMediaLoader(() => egress, { ...LIMITS, timeoutMs: 300 })
    // Another endpoint may fetch for itself.
    await expect(loader.load(callWith([image(url)]), [url])).rejects.toMatchObject({ errorType, failover: 'next' })
  })

  test('addresses inside the network, also behind a redirect and a name', async () => {
    serve('/inside.png', PNG)
    const loader = createMediaLoader(() => strict, LIMITS)
    for (const url of [`${origin}/inside.png`, 'http://169.254.169.254/latest', 'http://localhost:1/x', 'file:///etc/passwd']) {
      await expect(loader.load(callWith(), [url])).rejects.toMatchObject({ errorType: 'image_download_failed' })
    }
    expect(seen).toEqual([])
    routes.set('/to-metadata', (response) => response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end())
    await expect(createMediaLoader(() => egress, LIMITS).load(callWith(), [`${origin}/to-metadata`])).rejects.toMatchObject({
      errorType: 'image_download_failed',
    })
  })

  test('too many files, and too much in one call', async () => {
    const loader = createMediaLoader(() => egress, LIMITS)
    await expect(
      loader.load(
        callWith(),
        Array.from({ length: 6 }, (_, n) => `${origin}/${n}`),
      ),
    ).rejects.toMatchObject({ errorType: 'invalid_request' })
    const urls = [1, 2, 3].map((n) => serve(`/${n}`, Buffer.concat([PNG, Buffer.alloc(900)])))
    await expect(loader.load(callWith(), urls)).rejects.toMatchObject({ errorType: 'image_too_large' })
  })

  test('never shows what follows a question mark', async () => {
    const url = `${origin}/missing?token=secret`
    await expect(createMediaLoader(() => egress, LIMITS).load(callWith(), [url])).rejects.toThrow(/^(?!.*secret)/)
  })
  test('never shows what stands before the host', async () => {
    const address = `${origin}/missing`
    const url = address.replace('//', '//user:secret@')
    await expect(createMediaLoader(() => egress, LIMITS).load(callWith(), [url])).rejects.toThrow(/^(?!.*secret)/)
    await expect(createMediaLoader(() => strict, LIMITS).load(callWith(), [url])).rejects.toThrow(/^(?!.*secret)/)
  })
})

test.each<[string, string, string | undefined, string | undefined]>([
  ['png', '89504e470d0a1a0a', undefined, 'image/png'],
  ['jpeg', 'ffd8ffe000104a46', 'text/html', 'image/jpeg'],
  ['gif', '4749463839610100', undefined, 'image/gif'],
  ['webp', '524946460000000057454250', undefined, 'image/webp'],
  ['wav', '524946460000000057415645', undefined, 'audio/wav'],
  ['avif', '0000001c667479706176696600000000', undefined, 'image/avif'],
  ['heic', '0000001c667479706865696300000000', undefined, 'image/heic'],
  ['mp4', '0000001c6674797069736f6d00000000', undefined, 'video/mp4'],
  ['pdf', '255044462d312e37', undefined, 'application/pdf'],
  ['mp3', '494433040000', undefined, 'audio/mp3'],
  ['text', '68656c6c6f', 'text/csv; charset=utf-8', 'text/csv'],
  ['text under a false name', '68656c6c6f', 'image/png', 'text/plain'],
  ['text that begins like a bitmap', '424d5720636172', undefined, 'text/plain'],
  ['a program', '7f454c460201', 'image/png', undefined],
  ['half a character', 'c3', undefined, undefined],
])('bytes of %s', (_name, hex, declared, expected) => {
  expect(sniffMediaType(Buffer.from(hex, 'hex'), declared)).toBe(expected)
})
