import { describe, expect, it } from 'vitest'
import { EgressError, type Egress, type EgressRequest } from '../../lib/egress.ts'
import { Secret } from '../../lib/secret.ts'
import { prepareEngine } from '../shared/document-engine.ts'
import { documentEngines } from './index.ts'

const file = { name: 'a "b"\r\nc.pdf', bytes: Buffer.from('%PDF-1.7 x') }
const named = (name: string) => documentEngines.find((engine) => engine.name === name)!

/** An egress that records requests and answers with this. */
function way(answer: unknown, status = 200, headers: { readonly [name: string]: string } = {}) {
  const sent: EgressRequest[] = []
  const egress: Pick<Egress, 'request'> = {
    request: async (request) => {
      sent.push(request)
      if (answer instanceof Error) throw answer
      return { status, headers, body: Buffer.from(typeof answer === 'string' ? answer : JSON.stringify(answer)), truncated: false }
    },
  }
  return { sent, egress }
}
const read = async (name: string, answer: unknown, status?: number, headers?: { readonly [name: string]: string }) => {
  const { sent, egress } = way(answer, status, headers)
  const ready = prepareEngine(named(name), { apiKey: new Secret('key'), account: 'acc' }, {}, egress)!
  const result = await ready.read(file, new AbortController().signal, 0)
  return { result, sent: sent[0]! }
}

describe('mistral-ocr', () => {
  it('gets the file as a data URL and gives Markdown and pictures', async () => {
    const { result, sent } = await read('mistral-ocr', {
      pages: [
        { index: 0, markdown: '# One', images: [{ id: 'i', image_base64: 'data:image/png;base64,AA' }] },
        { index: 1, markdown: ' Two ', images: [{ image_base64: 'BB' }] },
      ],
      usage_info: { pages_processed: 2 },
    })
    expect(sent.url).toBe('https://api.mistral.ai/v1/ocr')
    expect(sent.headers).toMatchObject({ authorization: 'Bearer key', 'content-type': 'application/json' })
    expect(JSON.parse(String(sent.body))).toMatchObject({
      document: { type: 'document_url', document_url: `data:application/pdf;base64,${file.bytes.toString('base64')}` },
      image_limit: 8,
    })
    expect(result).toEqual({ text: '# One\n\nTwo', pages: 2, images: ['data:image/png;base64,AA', 'data:image/jpeg;base64,BB'] })
  })
  it.each([-5, 1e300, 2.5, 1_000_000, '3', null])(
    'counts the pages itself if it is told of %j pages, by which nobody is charged',
    async (pages_processed) => {
      const { result } = await read('mistral-ocr', { pages: [{ markdown: 'a' }, { markdown: 'b' }], usage_info: { pages_processed } })
      expect(result?.pages).toBe(2)
    },
  )

  it('fails if its answer has another format', async () => expect((await read('mistral-ocr', { detail: 'x' })).result).toBeUndefined())
})

describe('cloudflare-ai', () => {
  it('gets the file as a form and gives Markdown', async () => {
    const { result, sent } = await read('cloudflare-ai', { success: true, result: [{ format: 'markdown', data: '# One' }] })
    expect(sent.url).toBe('https://api.cloudflare.com/client/v4/accounts/acc/ai/tomarkdown')
    const boundary = /boundary=(\w+)/.exec(sent.headers!['content-type']!)![1]!
    const body = (sent.body as Buffer).toString()
    expect(body.split(`--${boundary}`)).toHaveLength(3)
    expect(body).toContain('filename="a_b_c.pdf"')
    expect(body).toContain('%PDF-1.7 x')
    expect(result).toEqual({ text: '# One', images: [] })
  })
  it('says when it could not read', async () => {
    expect((await read('cloudflare-ai', { result: [{ format: 'error', error: 'no' }] })).result).toBeUndefined()
  })
})

describe('an engine', () => {
  it.each([
    ['an error', { message: 'the key sk-secret is wrong' }, 401, 'answered with status 401'],
    ['no JSON', '<html>sk-secret</html>', 200, 'not JSON'],
    ['nothing', new EgressError('timeout', 'took too long'), 200, 'took too long'],
  ])('that answers with %s fails, and its message is not passed on', async (_what, answer, status, message) => {
    const failure = await read('mistral-ocr', answer, status).catch((error: unknown) => error as Error)
    expect(failure).toMatchObject({ errorType: 'provider_unavailable', message: expect.stringContaining(message) as string })
    expect((failure as Error).message).not.toContain('sk-secret')
  })
  it.each([400, 413, 415, 422])('that refuses the file with %i reports the file as wrong, not the engine', async (status) =>
    expect((await read('mistral-ocr', { message: 'Document is not a valid PDF.' }, status)).result).toBeUndefined(),
  )
  it.each([429, 503])('that is busy (%i) says when to come back', async (status) => {
    const busy = read('mistral-ocr', {}, status, { 'retry-after': '7' })
    await expect(busy).rejects.toMatchObject({ errorType: 'provider_overloaded', details: { retryAfterMs: 7_000 } })
  })
  it('is ready with a key, and an account where it needs one, of the configuration or of the environment', () => {
    const { egress } = way({})
    const ready = (name: string, given: object, env: { readonly [name: string]: string }): boolean =>
      prepareEngine(named(name), given, env, egress) !== undefined
    expect(ready('mistral-ocr', {}, {})).toBe(false)
    expect(ready('mistral-ocr', {}, { MISTRAL_API_KEY: 'k' })).toBe(true)
    expect(ready('cloudflare-ai', { apiKey: new Secret('k') }, {})).toBe(false)
    expect(ready('cloudflare-ai', { apiKey: new Secret('k') }, { CLOUDFLARE_ACCOUNT_ID: 'a' })).toBe(true)
  })
  it('takes a variable without the blanks around it, as files of secrets have them, and one of blanks for none', async () => {
    const { sent, egress } = way({ result: [] })
    const ready = prepareEngine(named('cloudflare-ai'), {}, { CLOUDFLARE_API_TOKEN: ' k\n', CLOUDFLARE_ACCOUNT_ID: 'acc\n' }, egress)!
    await ready.read(file, new AbortController().signal, 0).catch(() => undefined)
    expect(sent[0]).toMatchObject({ url: expect.stringContaining('/accounts/acc/') as string, headers: { authorization: 'Bearer k' } })
    expect(prepareEngine(named('mistral-ocr'), {}, { MISTRAL_API_KEY: '\n' }, egress)).toBeUndefined()
  })
  it('costs what the operator says', () => {
    const { egress } = way({})
    const price = (given: object) => prepareEngine(named('mistral-ocr'), { apiKey: new Secret('k'), ...given }, {}, egress)?.price
    expect([price({}), price({ price: 0.01 })]).toEqual([0.002, 0.01])
  })
})
