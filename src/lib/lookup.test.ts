import dns from 'node:dns'
import { connect } from 'node:net'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createBoundedLookup, createLookup, lookupThreads, shareLookups } from './lookup.ts'

type LookUp = NonNullable<Parameters<typeof createLookup>[0]>
type Answer = Parameters<LookUp>[2]

/** A fake C library whose lookups end when told to. */
function createLibrary() {
  const asked: { readonly host: string; readonly answer: Answer }[] = []
  const lookUp: LookUp = (host, _options, answer) => void asked.push({ host, answer })
  const hosts = (): readonly string[] => asked.map(({ host }) => host)
  const found = (host: string, address: string): void => asked.findLast((each) => each.host === host)!.answer(null, [{ address, family: 4 }])
  const failed = (host: string): void =>
    asked.findLast((each) => each.host === host)!.answer(Object.assign(new Error('gone'), { code: 'ENOTFOUND' }), [])
  return { lookUp, hosts, found, failed }
}

describe('a look-up', () => {
  const ask = (lookup: ReturnType<typeof createLookup>, host: string, family = 0): Promise<unknown> =>
    new Promise((resolve, reject) => lookup(host, { all: true, family }, (error, addresses) => (error === null ? resolve(addresses) : reject(error))))

  it('serves all requests for the same name while it is in progress', async () => {
    const { lookUp, hosts, found } = createLibrary()
    const lookup = createLookup(lookUp)
    const all = [ask(lookup, 'a.example'), ask(lookup, 'a.example'), ask(lookup, 'b.example'), ask(lookup, 'a.example')]
    expect(hosts()).toEqual(['a.example', 'b.example'])
    found('a.example', '192.0.2.1')
    found('b.example', '192.0.2.2')
    const [a, b] = ['192.0.2.1', '192.0.2.2'].map((address) => [{ address, family: 4 }])
    expect(await Promise.all(all)).toEqual([a, a, b, a])
  })

  it('is repeated once it is over, and with other options', async () => {
    const { lookUp, hosts, failed, found } = createLibrary()
    const lookup = createLookup(lookUp)
    const first = [ask(lookup, 'a.example'), ask(lookup, 'a.example')]
    failed('a.example')
    for (const each of first) await expect(each).rejects.toMatchObject({ code: 'ENOTFOUND' })
    const other = ask(lookup, 'a.example', 6)
    const second = ask(lookup, 'a.example')
    expect(hosts()).toHaveLength(3)
    found('a.example', '192.0.2.1')
    expect(await second).toEqual([{ address: '192.0.2.1', family: 4 }])
    void other
  })

  it('fails at once for a name that cannot be looked up at all', async () => {
    const lookup = createLookup()
    // Node throws at once for such a name. The second caller must not wait for the first.
    for (const _ of [1, 2]) await expect(ask(lookup, 'a\0b')).rejects.toMatchObject({ code: 'ERR_INVALID_ARG_VALUE' })
  })

  it('asks the system', async () => {
    const { promise, resolve } = Promise.withResolvers<unknown>()
    createLookup()('localhost', { all: true }, (error, addresses) => resolve(error ?? addresses))
    expect(JSON.stringify(await promise)).toMatch(/127\.0\.0\.1|::1/)
  })
})

describe('sockets that look up names themselves', () => {
  it('look up a name once at a time, so that a silent name server blocks one thread only', async () => {
    const { lookup } = dns
    onTestFinished(() => void Object.assign(dns, { lookup }))
    const { lookUp, hosts, failed } = createLibrary()
    Object.assign(dns, { lookup: lookUp })
    shareLookups()
    const ends = ['db.example', 'db.example', 'cache.example', 'db.example'].map(
      (host) => new Promise((resolve) => connect({ host, port: 9 }).on('error', resolve)),
    )
    expect(hosts()).toEqual(['db.example', 'cache.example'])
    failed('db.example')
    failed('cache.example')
    for (const end of ends) expect(await end).toMatchObject({ code: 'ENOTFOUND' })
  })

  it('work as before with every other option', async () => {
    const node = { lookup: dns.lookup }
    shareLookups(node)
    expect(await promisify(node.lookup)('127.0.0.1')).toEqual({ address: '127.0.0.1', family: 4 })
    expect(await promisify(node.lookup)('localhost', { all: true })).toContainEqual(expect.objectContaining({ address: expect.any(String) }))
    const { promise, resolve } = Promise.withResolvers<unknown>()
    node.lookup('127.0.0.1', (_error, address, family) => resolve([address, family]))
    expect(await promise).toEqual(['127.0.0.1', 4])
  })
})

describe('look-ups of names that callers choose', () => {
  const turns = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

  it('run a few at a time, in their order', async () => {
    const { lookUp, hosts, found, failed } = createLibrary()
    const lookup = createBoundedLookup({ most: 2, waiting: 10, limitMs: 10_000 }, lookUp)
    const all = ['a', 'b', 'c', 'd', 'a'].map((host) => lookup(host))
    await turns()
    expect(hosts()).toEqual(['a', 'b'])
    found('b', '192.0.2.2')
    await turns()
    expect(hosts()).toEqual(['a', 'b', 'c'])
    failed('a')
    await expect(all[0]).rejects.toMatchObject({ code: 'ENOTFOUND' })
    await expect(all[4]).rejects.toMatchObject({ code: 'ENOTFOUND' })
    await turns()
    found('c', '192.0.2.3')
    found('d', '192.0.2.4')
    expect((await Promise.all(all.slice(1, 4))).map(([first]) => first?.address)).toEqual(['192.0.2.2', '192.0.2.3', '192.0.2.4'])
    expect(hosts()).toEqual(['a', 'b', 'c', 'd'])
  })

  it('run as few at a time after a burst, and each is made again', async () => {
    const { lookUp, hosts, found } = createLibrary()
    const lookup = createBoundedLookup({ most: 1, waiting: 10, limitMs: 10_000 }, lookUp)
    for (const rush of [
      ['a', 'b', 'c'],
      ['a', 'b'],
    ]) {
      const before = hosts().length
      const all = rush.map((host) => lookup(host))
      for (const [n, host] of rush.entries()) {
        await turns()
        expect(hosts().slice(before)).toEqual(rush.slice(0, n + 1))
        found(host, '192.0.2.1')
      }
      await Promise.all(all)
    }
  })

  it('wait for a bounded time, in a bounded number, and are skipped for callers who have gone', async () => {
    const { lookUp, hosts, found } = createLibrary()
    const lookup = createBoundedLookup({ most: 1, waiting: 1, limitMs: 20 }, lookUp)
    const first = lookup('silent')
    const second = lookup('waits')
    await expect(lookup('one-too-many')).rejects.toMatchObject({ code: 'EAI_AGAIN' })
    await expect(second).rejects.toMatchObject({ code: 'EAI_AGAIN' })
    await turns()
    found('silent', '192.0.2.1')
    await first
    expect(hosts()).toEqual(['silent'])
    const later = lookup('later')
    await turns()
    found('later', '192.0.2.9')
    expect(await later).toEqual([{ address: '192.0.2.9', family: 4 }])
  })

  it('release their place when they fail at once', async () => {
    const lookup = createBoundedLookup({ most: 1, waiting: 1, limitMs: 10_000 }, () => {
      throw new TypeError('no such name')
    })
    await expect(lookup('a')).rejects.toThrow('no such name')
    await expect(lookup('b')).rejects.toThrow('no such name')
  })
})

it.each([
  [undefined, 2],
  ['16', 8],
  ['1', 1],
  ['nonsense', 2],
  ['100000', 512],
])('of a pool of %s threads %i are used for lookups', (size, threads) => {
  expect(lookupThreads(size)).toBe(threads)
})
