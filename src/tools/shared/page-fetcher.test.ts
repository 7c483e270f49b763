import { brotliCompressSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { EgressError, type Egress, type EgressResponse } from '../../lib/egress.ts'
import { PageFetcher } from './page-fetcher.ts'

const answer = (text: string, status = 200): EgressResponse => ({
  status,
  headers: { 'content-type': 'text/plain' },
  body: Buffer.from(text),
  truncated: false,
})

/** A fetcher with this `robots.txt`, which counts how often it was requested. */
function fetcher(robots: (signal: AbortSignal) => Promise<EgressResponse>) {
  let asked = 0
  const egress = {
    request: async ({ url, signal }: { readonly url: string; readonly signal: AbortSignal }) => {
      if (!url.endsWith('/robots.txt')) return answer('the page')
      asked++
      return robots(signal)
    },
  } as unknown as Egress
  const pages = new PageFetcher({ egress, obeyRobots: true })
  const get = async (signal = new AbortController().signal): Promise<string> => {
    try {
      return (await pages.fetch({ url: 'https://a.test/x', refuse: () => undefined, signal })).text
    } catch (error) {
      return (error as Error).message
    }
  }
  return { get, asked: () => asked }
}

describe('robots.txt', () => {
  it('is requested only once in a while', async () => {
    const { get, asked } = fetcher(async () => answer('User-agent: *\nDisallow: /y'))
    expect([await get(), await get(), asked()]).toEqual(['the page', 'the page', 1])
  })
  it.each<[string, () => Promise<EgressResponse>, string]>([
    ['that is not there forbids nothing', async () => answer('', 404), 'the page'],
    ['of a server in trouble forbids all', async () => answer('', 503), 'robots.txt'],
    ['of a server that does not answer in time forbids all', () => Promise.reject(new EgressError('timeout', 'too late')), 'robots.txt'],
    ['of a host that cannot be reached forbids nothing', () => Promise.reject(new EgressError('connect', 'no')), 'the page'],
  ])('%s', async (_how, robots, outcome) => {
    expect(await fetcher(robots).get()).toContain(outcome)
  })
  it('is not followed to domains the caller excludes, and is still fetched for others', async () => {
    const asked: string[] = []
    const egress = {
      request: async ({ url }: { readonly url: string }) => {
        asked.push(url)
        if (url === 'https://a.test/robots.txt') return { ...answer('', 302), headers: { location: 'https://blocked.test/rules' } }
        return answer(url.startsWith('https://blocked.test') ? 'User-agent: *\nDisallow: /' : 'the page')
      },
    } as unknown as Egress
    const pages = new PageFetcher({ egress, obeyRobots: true })
    const { signal } = new AbortController()
    const refuse = (address: string): string | undefined => (address.includes('blocked.test') ? 'blocked' : undefined)
    expect((await pages.fetch({ url: 'https://a.test/x', refuse, signal })).text).toBe('the page')
    expect(asked).toEqual(['https://a.test/robots.txt', 'https://a.test/x'])
    await expect(pages.fetch({ url: 'https://a.test/x', refuse: () => undefined, signal })).rejects.toThrow('robots.txt')
  })
  describe('behind redirects', () => {
    /** Fetches pages of a site whose `robots.txt` is behind this many redirects. */
    function behind(hops: number, last: EgressResponse | EgressError = answer('User-agent: *\nDisallow: /')) {
      const asked: string[] = []
      const at = (n: number): string => `https://r${n}.test/rules?${n}`
      const egress = {
        request: async ({ url }: { readonly url: string }) => {
          if (url === 'https://a.test/x') return answer('the page')
          asked.push(url)
          if (asked.length <= hops) return { ...answer('', 301), headers: { location: at(asked.length) } }
          if (last instanceof EgressError) throw last
          return last
        },
      } as unknown as Egress
      const pages = new PageFetcher({ egress, obeyRobots: true })
      const { signal } = new AbortController()
      const get = (): Promise<string> =>
        pages.fetch({ url: 'https://a.test/x', refuse: () => undefined, signal }).then(
          ({ text }) => text,
          (error: Error) => error.message,
        )
      return { get, asked }
    }

    it.each([1, 5])('of other sites is followed %d times, for the site that was asked', async (hops) => {
      const { get, asked } = behind(hops)
      expect(await get()).toContain('a.test does not want this page fetched')
      expect(asked).toHaveLength(hops + 1)
      expect(asked.slice(0, 2)).toEqual(['https://a.test/robots.txt', 'https://r1.test/rules?1'])
    })

    it('is given up after five', async () => {
      const { get, asked } = behind(99)
      expect(await get()).toBe('the page')
      expect(asked).toHaveLength(6)
    })

    it.each<[string, EgressResponse | EgressError, string]>([
      ['to a server in trouble forbids all', answer('', 503), 'robots.txt'],
      ['to one that does not answer in time forbids all', new EgressError('timeout', 'too late'), 'robots.txt'],
      ['to an address that is refused forbids nothing', new EgressError('refused', 'private'), 'the page'],
      ['to nowhere forbids nothing', answer('', 302), 'the page'],
    ])('%s', async (_how, last, outcome) => {
      expect(await behind(1, last).get()).toContain(outcome)
    })
  })

  it('is requested again when the first caller gave up', async () => {
    const { get, asked } = fetcher(
      (signal) =>
        new Promise((resolve, reject) => {
          const timer = setTimeout(() => resolve(answer('User-agent: *\nDisallow: /')), 30)
          signal.addEventListener('abort', () => {
            clearTimeout(timer)
            reject(new EgressError('aborted', 'given up'))
          })
        }),
    )
    const impatient = new AbortController()
    const first = get(impatient.signal)
    impatient.abort()
    expect(await first).toContain('given up')
    expect(await get()).toContain('robots.txt')
    expect(asked()).toBe(2)
  })
})

describe('a text', () => {
  it.each<[string, string, Buffer]>([
    ['16 bits a character', 'text/plain', Buffer.from('\ufeffGröße', 'utf16le')],
    ['the charset of its server, in the wrong quotes', "text/plain; charset='iso-8859-1'", Buffer.from('Größe', 'latin1')],
  ])('of %s is read', async (_what, type, body) => {
    const egress = { request: async () => ({ status: 200, headers: { 'content-type': type }, body, truncated: false }) } as unknown as Egress
    const pages = new PageFetcher({ egress, obeyRobots: false })
    const { signal } = new AbortController()
    const page = await pages.fetch({ url: 'https://a.test/x', refuse: () => undefined, signal })
    expect(page.text).toBe('Größe')
  })
})

describe('a page of a type that says nothing', () => {
  const fetched = async (type: string, body: Buffer) => {
    const egress = { request: async () => ({ status: 200, headers: { 'content-type': type }, body, truncated: false }) } as unknown as Egress
    const pages = new PageFetcher({ egress, obeyRobots: false })
    return pages.fetch({ url: 'https://a.test/x', refuse: () => undefined, signal: new AbortController().signal })
  }

  const unspoken = ['binary/octet-stream', 'unknown/unknown', 'message/rfc822', 'chemical/x-pdb', 'markdown']
  it.each(['application/octet-stream', 'application/toml', 'application/x-yaml', 'application/x-sh', ...unspoken])(
    'is read if it is text (%s)',
    async (type) => {
      expect((await fetched(type, Buffer.from('größe = 1'))).text).toBe('größe = 1')
      expect((await fetched(type, Buffer.from('größe').subarray(0, 3))).text).toContain('gr')
    },
  )

  it.each([
    ['application/zip', Buffer.from('PK\x03\x04\x14\0')],
    ['application/octet-stream', Buffer.from([0x89, 0x50, 0xff, 0xfe])],
    ['binary/octet-stream', Buffer.from([0x89, 0x50, 0xff, 0xfe])],
    ['image/svg', Buffer.from('<svg/>')],
    ['video/vnd.text', Buffer.from('a')],
  ])('is not read otherwise (%s)', async (type, body) => {
    await expect(fetched(type, body)).rejects.toMatchObject({ errorType: 'unprocessable' })
  })
})

it.each([{}, { 'content-type': '; charset=utf-8' }])(
  'a page without a type is HTML if it begins like that, also after a byte order mark',
  async (headers) => {
    const body = Buffer.from('\ufeff<!doctype html><title>T</title><p>Größe</p>')
    const egress = { request: async () => ({ status: 200, headers, body, truncated: false }) } as unknown as Egress
    const pages = new PageFetcher({ egress, obeyRobots: false })
    const { signal } = new AbortController()
    expect(await pages.fetch({ url: 'https://a.test/x', refuse: () => undefined, signal })).toMatchObject({ text: 'Größe', title: 'T' })
  },
)

it.each([
  [404, 'not_found'],
  [410, 'not_found'],
  [429, 'provider_unavailable'],
  [503, 'provider_unavailable'],
] as const)('a page with status %d is %s: it may be there again, or not', async (status, errorType) => {
  const egress = { request: async () => answer('', status) } as unknown as Egress
  const pages = new PageFetcher({ egress, obeyRobots: false })
  const { signal } = new AbortController()
  await expect(pages.fetch({ url: 'https://a.test/x', refuse: () => undefined, signal })).rejects.toMatchObject({ errorType })
})

describe('packed pages', () => {
  const read = async (encoding: string, body: Buffer): Promise<string> => {
    const headers = { 'content-type': 'text/plain', 'content-encoding': encoding }
    const egress = { request: async () => ({ ...answer(''), headers, body }) } as unknown as Egress
    const pages = new PageFetcher({ egress, obeyRobots: false })
    const request = { url: 'https://a.test/x', refuse: () => undefined, signal: new AbortController().signal }
    return pages.fetch(request).then(
      ({ text }) => text,
      (error: Error) => error.message,
    )
  }
  const page = Buffer.from('the page')

  it.each(['none', 'UTF-8', 'aws-chunked', 'binary', '__proto__', 'constructor', ' Identity ,'])(
    'are not those whose encoding "%s" packs nothing: servers write all kinds of words there',
    async (encoding) => {
      expect(await read(encoding, page)).toBe('the page')
    },
  )
  it('are unpacked in the order in which they were packed', async () => {
    expect(await read('aws-chunked, GZIP', gzipSync(page))).toBe('the page')
    expect(await read('gzip, gzip', gzipSync(gzipSync(page)))).toBe('the page')
    expect(await read('gzip, br', brotliCompressSync(gzipSync(page)))).toBe('the page')
  })
  it('may be empty', async () => {
    expect(await read('gzip', Buffer.alloc(0))).toBe('')
  })
  it('are refused if nobody here can unpack them, or if they are packed again and again', async () => {
    const refused = 'The page is packed in a way that cannot be read, or too large'
    expect(await read('zstd', page)).toBe(refused)
    expect(await read('gzip, x-compress', page)).toBe(refused)
    expect(await read('gzip, gzip, gzip, gzip', gzipSync(gzipSync(gzipSync(gzipSync(page)))))).toBe(refused)
    expect(await read('gzip', page)).toBe('The page is damaged, or too large when unpacked')
  })
})
