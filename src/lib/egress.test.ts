import { createServer, type Server } from 'node:http'
import { createServer as createTcpServer, type AddressInfo, type Server as TcpServer } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { classifyAddress, isMetadataAddress } from './address-class.ts'
import { createCheckedConnector, type Resolver } from './checked-connector.ts'
import { checkUrl } from './egress-policy.ts'
import { createEgress, type Egress, type EgressOptions } from './egress.ts'

describe('isMetadataAddress', () => {
  // Hosts in their URL form, which has already converted decimal, octal and hexadecimal forms to dotted ones.
  it.each([
    '169.254.169.254',
    '169.254.0.1',
    '169.254.169.254.',
    '[fe80::1]',
    '[fd00:ec2::254]',
    '[fd00:c1::a9fe:a9fe]',
    '[::ffff:a9fe:a9fe]',
    '[64:ff9b::a9fe:a9fe]',
  ])('%s is one', (host) => expect(isMetadataAddress(host)).toBe(true))
  it.each(['100.100.100.200', '168.63.129.16', '192.0.0.192', new URL('http://2852039166/').hostname, new URL('http://0xa9.254.43518/').hostname])(
    '%s is one of a cloud',
    (host) => expect(isMetadataAddress(host)).toBe(true),
  )
  it.each(['127.0.0.1', '10.0.0.1', '100.64.0.1', '8.8.8.8', '203.0.113.1', '[::1]', '[fd12::1]', '[::ffff:a00:1]', 'gpu', 'metadata.example'])(
    '%s is not one: the operator may allow it',
    (host) => expect(isMetadataAddress(host)).toBe(false),
  )
})

describe('classifyAddress', () => {
  it.each([
    // IPv4
    ['8.8.8.8', 'public'],
    ['1.1.1.1', 'public'],
    ['100.63.255.255', 'public'],
    ['100.128.0.1', 'public'],
    ['172.15.0.1', 'public'],
    ['172.32.0.1', 'public'],
    ['10.0.0.1', 'private'],
    ['10.255.255.255', 'private'],
    ['172.16.0.1', 'private'],
    ['172.31.255.255', 'private'],
    ['192.168.1.1', 'private'],
    ['127.0.0.1', 'private'],
    ['127.255.255.254', 'private'],
    ['100.64.0.1', 'private'],
    ['100.127.255.255', 'private'],
    ['0.0.0.0', 'forbidden'],
    ['0.1.2.3', 'forbidden'],
    ['169.254.169.254', 'forbidden'],
    ['169.254.0.1', 'forbidden'],
    ['100.100.100.200', 'forbidden'],
    ['168.63.129.16', 'forbidden'],
    ['192.0.0.1', 'forbidden'],
    ['192.0.0.192', 'forbidden'],
    ['192.0.2.1', 'forbidden'],
    ['192.31.196.1', 'forbidden'],
    ['192.52.193.1', 'forbidden'],
    ['192.88.99.1', 'forbidden'],
    ['192.175.48.1', 'forbidden'],
    ['198.18.0.1', 'forbidden'],
    ['198.19.255.255', 'forbidden'],
    ['198.51.100.1', 'forbidden'],
    ['203.0.113.1', 'forbidden'],
    ['224.0.0.1', 'forbidden'],
    ['239.255.255.255', 'forbidden'],
    ['240.0.0.1', 'forbidden'],
    ['255.255.255.255', 'forbidden'],
    // IPv6
    ['2606:4700::1111', 'public'],
    ['2a00:1450::1', 'public'],
    ['2001:4860:4860::8888', 'public'],
    ['::1', 'private'],
    ['fc00::1', 'private'],
    ['fd12:3456:789a::1', 'private'],
    ['::', 'forbidden'],
    ['::ffff:127.0.0.1', 'forbidden'],
    ['::ffff:8.8.8.8', 'forbidden'],
    ['::ffff:7f00:1', 'forbidden'],
    ['::127.0.0.1', 'forbidden'],
    ['::ffff:0:7f00:1', 'forbidden'],
    ['64:ff9b::7f00:1', 'forbidden'],
    ['64:ff9b::8.8.8.8', 'forbidden'],
    ['64:ff9b:1::1', 'forbidden'],
    ['100::1', 'forbidden'],
    ['100:0:0:1::1', 'forbidden'],
    ['2001::1', 'forbidden'],
    ['2001:2::1', 'forbidden'],
    ['2001:10::1', 'forbidden'],
    ['2001:20::1', 'forbidden'],
    ['2001:db8::1', 'forbidden'],
    ['2002:7f00:1::', 'forbidden'],
    ['2002:0808:0808::1', 'forbidden'],
    ['2620:4f:8000::1', 'forbidden'],
    ['3fff::1', 'forbidden'],
    ['5f00::1', 'forbidden'],
    ['fe80::1', 'forbidden'],
    ['fe80::1%eth0', 'forbidden'],
    ['febf::1', 'forbidden'],
    ['fec0::1', 'forbidden'],
    ['ff02::1', 'forbidden'],
    ['fd00:ec2::254', 'forbidden'],
    ['fd20:ce::254', 'forbidden'],
    ['fd00:c1::a9fe:a9fe', 'forbidden'],
    ['fd00:a9fe:a9fe::1', 'forbidden'],
    ['fd00:100::100:200', 'forbidden'],
    ['fd00:100::100:201', 'private'],
    ['4000::1', 'forbidden'],
    ['1::1', 'forbidden'],
    ['::1%lo', 'forbidden'],
    // Not an address.
    ['localhost', 'forbidden'],
    ['', 'forbidden'],
    ['127.1', 'forbidden'],
    ['0x7f.0.0.1', 'forbidden'],
  ])('%s is %s', (address, kind) => expect(classifyAddress(address)).toBe(kind))
})

let server: Server
let port = 0
const seen: { url: string; headers: Record<string, unknown>; body: string }[] = []
beforeAll(async () => {
  server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      seen.push({ url: request.url ?? '', headers: request.headers, body })
      if (request.url === '/redirect') response.writeHead(302, { location: 'http://169.254.169.254/' }).end()
      else if (request.url === '/big') response.end(Buffer.alloc(200_000, 'x'))
      else if (request.url === '/endless') response.write('x'.repeat(1000))
      else if (request.url === '/pieces') {
        response.write('one')
        setTimeout(() => response.write('two'), 20)
        setTimeout(() => response.end('three'), 40)
      } else if (request.url === '/reset') request.socket.destroy()
      else if (request.url === '/chunks') request.socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nfineno number\r\n')
      else if (request.url === '/ssh') request.socket.end('SSH-2.0-OpenSSH\r\n')
      else if (request.url !== '/hang') response.writeHead(200, { 'x-two': ['a', 'b'] }).end('fine')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})
afterAll(() => void server.close())

const open: Egress[] = []
afterEach(async () => {
  seen.length = 0
  await Promise.all(open.splice(0).map((egress) => egress.close()))
})
const egress = (options: Partial<EgressOptions> = {}): Egress => {
  const created = createEgress({ allowPrivate: true, ...options })
  open.push(created)
  return created
}
const get = (url: string, options?: Partial<EgressOptions>, more = {}): Promise<unknown> => egress(options).request({ method: 'GET', url, ...more })
const to =
  (...addresses: string[]): Resolver =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))

describe('what is refused before anything is sent', () => {
  it.each([
    ['http://127.0.0.1/', /private/],
    ['http://[::1]/', /private/],
    ['http://2130706433/', /private/],
    ['http://0x7f000001/', /private/],
    ['http://0177.0.0.1/', /private/],
    ['http://127.1/', /private/],
    ['https://10.0.0.1/', /private/],
    ['https://192.168.0.1./', /private|URL/],
    ['https://[fd00::1]/', /private/],
    ['http://169.254.169.254/latest', /never/],
    ['http://[::ffff:169.254.169.254]/', /never/],
    ['http://[64:ff9b::a9fe:a9fe]/', /never/],
    ['http://[fd00:ec2::254]/', /never/],
    ['http://0.0.0.0/', /never/],
    ['http://8.8.8.8/', /https/],
    ['ftp://example.com/', /scheme/],
    ['file:///etc/passwd', /scheme/],
    ['gopher://example.com/', /scheme/],
    ['https://user:pass@example.com/', /credentials/],
    ['https://user@example.com/', /credentials/],
    ['https://example.com:22/', /port/],
    ['https://example.com:25/', /port/],
    ['https://example.com:6379/', /port/],
    ['not a url', /URL/],
  ])('%s', async (url, message) => {
    await expect(get(url, { allowPrivate: false, resolver: to('8.8.8.8') })).rejects.toMatchObject({
      kind: 'refused',
      message: expect.stringMatching(message),
    })
  })

  it.each(['http://169.254.169.254/', 'http://[fe80::1]/', 'http://[::ffff:127.0.0.1]/', 'http://100.100.100.200/', 'http://168.63.129.16/'])(
    '%s, whatever the operator allows',
    async (url) => {
      await expect(get(url, { allowPrivate: true, allowHttp: true })).rejects.toMatchObject({ kind: 'refused' })
    },
  )

  it.each(['Host', 'content-length', 'Transfer-Encoding', 'connection', 'TE', 'upgrade', 'expect', 'bad name', ''])('header %j', async (name) => {
    await expect(get(`http://127.0.0.1:${port}/`, {}, { headers: { [name]: 'x' } })).rejects.toMatchObject({ kind: 'refused' })
    expect(seen).toEqual([])
  })

  it('header values that would split the message', async () => {
    for (const value of ['a\r\nhost: b', 'a\nb', 'a\u0000'])
      await expect(get(`http://127.0.0.1:${port}/`, {}, { headers: { a: value } })).rejects.toMatchObject({ kind: 'refused' })
    expect(seen).toEqual([])
  })
})

describe('what may be sent', () => {
  const policy = { allowPrivate: false, allowHttp: false, extraPorts: [] }

  it.each([
    ['https://8.8.8.8/', policy],
    ['https://example.com:1024/', policy],
    ['http://8.8.8.8/', { ...policy, allowHttp: true }],
    ['http://10.0.0.1/', { ...policy, allowPrivate: true }],
    ['https://example.com:25/', { ...policy, extraPorts: [25] }],
    ['https://example.com:6379/', { ...policy, extraPorts: [6379] }],
  ])('%s under %j', (url, given) => expect(checkUrl(url, given).href).toBe(url))

  it('goes to a host', () => expect(() => checkUrl('https://./', policy)).toThrow('no host'))
})

describe('a connection', () => {
  // IP addresses are not resolved, so no other check has seen them.
  it.each([
    [false, 'refused'],
    [true, undefined],
  ])('is checked by the address of its peer (private allowed: %s)', async (allowPrivate, kind) => {
    const connector = createCheckedConnector({}, { allowPrivate, allowHttp: false, extraPorts: [] })
    const target = { hostname: '127.0.0.1', host: `127.0.0.1:${port}`, port: String(port), protocol: 'http:' }
    const failure = await new Promise((resolve) => connector(target, (error, socket) => (socket?.destroy(), resolve(error))))
    expect((failure as { kind?: string } | null)?.kind).toBe(kind)
  })
})

describe('names', () => {
  it.each([
    [['169.254.169.254'], true],
    [['8.8.8.8', '169.254.169.254'], true],
    [['127.0.0.1', 'fe80::1'], true],
    [['::ffff:127.0.0.1'], true],
    [['127.0.0.1'], false],
    [['10.1.2.3'], false],
    [['8.8.8.8', '127.0.0.1'], false],
    [['fd00::1'], false],
  ])('that lead to %j are refused (private allowed: %s): one bad address is enough', async (addresses, allowPrivate) => {
    await expect(get(`http://name.example:${port}/`, { allowPrivate, resolver: to(...addresses) })).rejects.toMatchObject({ kind: 'refused' })
    expect(seen).toEqual([])
  })

  it('are resolved once per connection, and the connection goes to what was checked', async () => {
    // A name for DNS rebinding: harmless when checked, another address when resolved again.
    let asked = 0
    const resolver: Resolver = async () => [{ address: ++asked === 1 ? '127.0.0.1' : '169.254.169.254', family: 4 }]
    const out = egress({ resolver })
    const answer = await out.request({ method: 'GET', url: `http://rebind.example:${port}/one` })
    expect(answer.body.toString()).toBe('fine')
    expect(asked).toBe(1)
    expect(seen[0]?.headers['host']).toBe(`rebind.example:${port}`)
    // A new connection resolves the name again and is refused.
    await out.close()
    await expect(get(`http://rebind.example:${port}/two`, { resolver })).rejects.toMatchObject({ kind: 'refused' })
    expect(seen).toHaveLength(1)
  })

  it('may end in a dot, and localhost is no exception', async () => {
    await expect(get(`http://localhost.:${port}/`, { allowPrivate: false, resolver: to('127.0.0.1') })).rejects.toMatchObject({ kind: 'refused' })
    await expect(get(`http://localhost:${port}/`, { resolver: to('127.0.0.1') })).resolves.toMatchObject({ status: 200 })
  })

  it('that do not resolve, or not in time, fail as such', async () => {
    await expect(get('https://gone.example/', { resolver: async () => Promise.reject(new Error('ENOTFOUND')) })).rejects.toMatchObject({
      kind: 'dns',
    })
    await expect(get('https://none.example/', { resolver: async () => [] })).rejects.toMatchObject({ kind: 'dns' })
    await expect(get('https://slow.example/', { resolver: () => new Promise(() => {}), connectTimeoutMs: 50 })).rejects.toMatchObject({
      kind: expect.stringMatching(/dns|connect/),
    })
  })
})

describe('an exchange', () => {
  it('sends method, headers and body, and reads status, headers and body', async () => {
    const answer = await egress().request({ method: 'PUT', url: `http://127.0.0.1:${port}/a?b=c`, headers: { 'X-One': '1' }, body: 'hello' })
    expect(answer).toMatchObject({ status: 200, truncated: false, headers: { 'x-two': 'a, b' } })
    expect(seen[0]).toMatchObject({ url: '/a?b=c', body: 'hello', headers: { 'x-one': '1', 'user-agent': 'signalbox', 'content-length': '5' } })
  })

  it('does not follow redirects', async () => {
    expect(await get(`http://127.0.0.1:${port}/redirect`)).toMatchObject({ status: 302 })
    expect(seen).toHaveLength(1)
  })

  it('reads no more of an answer than it may', async () => {
    const answer = await egress().request({ method: 'GET', url: `http://127.0.0.1:${port}/big`, maxResponseBytes: 1000 })
    expect([answer.body.length, answer.truncated]).toEqual([1000, true])
    const endless = await egress().request({ method: 'GET', url: `http://127.0.0.1:${port}/endless`, maxResponseBytes: 500 })
    expect([endless.body.length, endless.truncated]).toEqual([500, true])
    const inPieces = await egress().request({ method: 'GET', url: `http://127.0.0.1:${port}/pieces`, maxResponseBytes: 7 })
    expect([inPieces.body.toString(), inPieces.truncated]).toEqual(['onetwot', true])
    const whole = await egress().request({ method: 'GET', url: `http://127.0.0.1:${port}/pieces`, maxResponseBytes: 11 })
    expect([whole.body.toString(), whole.truncated]).toEqual(['onetwothree', false])
  })

  it('ends in time when nothing, or not everything, comes', async () => {
    for (const path of ['hang', 'endless'])
      await expect(get(`http://127.0.0.1:${port}/${path}`, {}, { timeoutMs: 100 })).rejects.toMatchObject({ kind: 'timeout' })
  })

  it('ends when its caller gives up', async () => {
    const controller = new AbortController()
    const pending = get(`http://127.0.0.1:${port}/hang`, {}, { signal: controller.signal })
    setTimeout(() => controller.abort(), 20)
    await expect(pending).rejects.toMatchObject({ kind: 'aborted' })
  })

  it('says how a connection failed', async () => {
    await expect(get(`http://127.0.0.1:${port}/reset`)).rejects.toMatchObject({ kind: 'network' })
    await expect(get(`http://127.0.0.1:${port}/ssh`)).rejects.toMatchObject({ kind: 'network', message: '127.0.0.1 did not answer in HTTP' })
    await expect(get(`http://127.0.0.1:${port}/chunks`)).rejects.toMatchObject({ kind: 'network', begun: { status: 200 } })
    const closed: TcpServer = createTcpServer()
    const free = await new Promise<number>((resolve) => closed.listen(0, '127.0.0.1', () => resolve((closed.address() as AddressInfo).port)))
    await new Promise((resolve) => closed.close(resolve))
    await expect(get(`http://127.0.0.1:${free}/`)).rejects.toMatchObject({ kind: 'connect' })
    await expect(get(`https://127.0.0.1:${port}/`)).rejects.toMatchObject({ kind: expect.stringMatching(/network|connect/) })
  })
})

describe('an answer read while it comes', () => {
  const from = (path: string, more = {}) => egress().open({ method: 'GET', url: `http://127.0.0.1:${port}/${path}`, ...more })
  const drain = async (body: AsyncIterable<Buffer>): Promise<number> => {
    let size = 0
    for await (const chunk of body) size += chunk.length
    return size
  }

  it('has its headers before its body has ended', async () => {
    const answer = await from('endless')
    expect(answer.status).toBe(200)
    for await (const chunk of answer.body) {
      expect(chunk.length).toBeGreaterThan(0)
      break
    }
  })

  it('breaks where it grows beyond its bound', async () => {
    expect(await drain((await from('pieces', { maxResponseBytes: 11 })).body)).toBe(11)
    await expect(drain((await from('big', { maxResponseBytes: 1000 })).body)).rejects.toMatchObject({
      kind: 'network',
      message: '127.0.0.1 sent more than 1000 bytes',
    })
  })

  it('is given up when no headers come in time, and any time by its caller', async () => {
    await expect(from('hang', { headersTimeoutMs: 50 })).rejects.toMatchObject({ kind: 'timeout' })
    const controller = new AbortController()
    const { body } = await from('endless', { signal: controller.signal })
    setTimeout(() => controller.abort(), 20)
    await expect(drain(body)).rejects.toMatchObject({ kind: 'aborted' })
  })

  it('obeys the same rules', async () => {
    await expect(egress({ allowPrivate: false }).open({ method: 'GET', url: `http://127.0.0.1:${port}/` })).rejects.toMatchObject({ kind: 'refused' })
    expect(seen).toHaveLength(0)
    expect(await from('redirect')).toMatchObject({ status: 302 })
  })
})
