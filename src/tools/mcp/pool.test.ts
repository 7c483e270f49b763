import { describe, expect, it } from 'vitest'
import { manualClock } from '../../testing/deterministic.ts'
import type { McpAddress, McpConnection } from './connection.ts'
import { McpFailure } from './failure.ts'
import { McpPool, type McpPoolOptions } from './pool.ts'

interface Fake {
  readonly address: McpAddress
  broken: boolean
  closed: boolean
}

function stage(options: Partial<McpPoolOptions> = {}) {
  const made: Fake[] = []
  const clock = manualClock()
  const pool = new McpPool({
    clock,
    max: 3,
    ttlMs: 60_000,
    connectMs: 1_000,
    connect: async (address) => {
      const fake = { address, broken: false, closed: false, close: async () => void (fake.closed = true) }
      made.push(fake)
      return fake as unknown as McpConnection
    },
    ...options,
  })
  const idle = new AbortController().signal
  const use = <T>(work: (fake: Fake) => Promise<T>, { workspace = 'w', address = at('a'), repeated = false } = {}): Promise<T> =>
    pool.use(workspace, address, idle, (connection) => work(connection as unknown as Fake), repeated)
  return { pool, made, clock, use }
}

const at = (name: string, headers: { readonly [name: string]: string } = {}): McpAddress => ({ url: `https://${name}.example/mcp`, headers })
const nothing = async (): Promise<void> => undefined

describe('a connection', () => {
  it('is used again by the same workspace with the same address and headers', async () => {
    const { made, use } = stage()
    await use(nothing, { address: at('a', { x: '1', y: '2' }) })
    await use(nothing, { address: at('a', { y: '2', x: '1' }) })
    expect(made).toHaveLength(1)
  })

  it.each([
    ['another workspace', { workspace: 'v' }],
    ['another credential', { address: at('a', { authorization: 'Bearer b' }) }],
    ['another address', { address: at('b') }],
  ])('is never shared with %s', async (_name, other) => {
    const { made, use } = stage()
    await use(nothing)
    await use(nothing, other)
    expect(made).toHaveLength(2)
  })

  it('serves calls side by side', async () => {
    const { made, use } = stage()
    await Promise.all([use(nothing), use(nothing)])
    expect(made).toHaveLength(1)
  })

  it('is closed when nobody used it for its time', async () => {
    const { pool, made, clock, use } = stage()
    await use(nothing)
    clock.advance(59_999)
    pool.sweep()
    expect(pool.size).toBe(1)
    clock.advance(1)
    pool.sweep()
    await Promise.resolve()
    expect([pool.size, made[0]!.closed]).toEqual([0, true])
  })

  it('is evicted for new ones, the longest unused first, but not while it is busy', async () => {
    const { pool, made, use } = stage({ max: 2 })
    await use(nothing, { address: at('a') })
    await use(nothing, { address: at('b') })
    await use(nothing, { address: at('a') })
    await use(nothing, { address: at('c') })
    await Promise.resolve()
    expect(made.map(({ address, closed }) => [address.url.slice(8, 9), closed])).toEqual([
      ['a', false],
      ['b', true],
      ['c', false],
    ])
    const blocked = Promise.withResolvers<void>()
    const busy = [use(() => blocked.promise, { address: at('a') }), use(() => blocked.promise, { address: at('c') })]
    await Promise.resolve()
    await use(nothing, { address: at('d') })
    expect(pool.size).toBe(2)
    expect(made.at(-1)).toMatchObject({ address: { url: 'https://d.example/mcp' }, closed: true })
    blocked.resolve()
    await Promise.all(busy)
  })
})

describe('a connection that was lost while idle', () => {
  const gone = (unsent: boolean) => new McpFailure('gone', 'gone', unsent, undefined)
  const failsOnce = (error: McpFailure) => {
    let times = 0
    return async (fake: Fake): Promise<number> => {
      if (++times > 1) return times
      fake.broken = true
      throw error
    }
  }

  it('is not lent again when that is known, so even a call that may run only once is made', async () => {
    const { made, use } = stage()
    await use(nothing)
    made[0]!.broken = true
    await use(async (fake) => {
      if (fake.broken) throw gone(false)
    })
    expect(made.map(({ broken, closed }) => [broken, closed])).toEqual([
      [true, true],
      [false, false],
    ])
  })

  it('is replaced, and a call that was certainly not executed is retried', async () => {
    const { made, use } = stage()
    await use(nothing)
    expect(await use(failsOnce(gone(true)))).toBe(2)
    expect(made).toHaveLength(2)
  })

  it('does not make a call run twice', async () => {
    const { use } = stage()
    await use(nothing)
    await expect(use(failsOnce(gone(false)))).rejects.toThrow('gone')
  })

  it('makes what may be repeated run twice', async () => {
    const { use } = stage()
    await use(nothing)
    expect(await use(failsOnce(gone(false)), { repeated: true })).toBe(2)
  })

  it('is not retried on a new one that fails: its failure is reported', async () => {
    const { made, use } = stage()
    await expect(use(failsOnce(gone(true)))).rejects.toThrow('gone')
    expect(made).toHaveLength(1)
  })
})

describe('connecting', () => {
  it('that failed is tried anew by the next call', async () => {
    let tries = 0
    const { pool, use } = stage({ connect: () => Promise.reject(new McpFailure('unauthorized', `no ${++tries}`, true, undefined)) })
    await expect(use(nothing)).rejects.toThrow('no 1')
    await expect(use(nothing)).rejects.toThrow('no 2')
    expect(pool.size).toBe(0)
  })

  it('goes on for others when one caller leaves', async () => {
    const slow = Promise.withResolvers<McpConnection>()
    const { pool, use } = stage({ connect: () => slow.promise })
    const leaver = new AbortController()
    const left = pool.use('w', at('a'), leaver.signal, nothing)
    const stays = use(nothing)
    leaver.abort()
    await expect(left).rejects.toMatchObject({ kind: 'timeout' })
    slow.resolve({ broken: false, close: nothing } as unknown as McpConnection)
    await expect(stays).resolves.toBeUndefined()
  })
})

it('that has no waiting caller is aborted', async () => {
  let limit: AbortSignal | undefined
  const { pool } = stage({
    connect: (_address, signal) => {
      limit = signal
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('given up'))))
    },
  })
  const leaver = new AbortController()
  const left = pool.use('w', at('a'), leaver.signal, nothing)
  leaver.abort()
  await expect(left).rejects.toMatchObject({ kind: 'timeout' })
  expect(limit?.aborted).toBe(true)
  await Promise.resolve()
  expect(pool.size).toBe(0)
})

it('that was aborted is not shared with later callers', async () => {
  let connects = 0
  const ended = Promise.withResolvers<never>()
  const { pool } = stage({
    connect: () => {
      if (++connects === 1) return ended.promise
      return Promise.resolve({ broken: false, close: async () => undefined } as unknown as McpConnection)
    },
  })
  const leaver = new AbortController()
  const left = pool.use('w', at('a'), leaver.signal, nothing)
  leaver.abort()
  await expect(left).rejects.toMatchObject({ kind: 'timeout' })
  const next = pool.use('w', at('a'), new AbortController().signal, async () => 'done')
  ended.reject(new Error('given up'))
  expect([await next, connects, pool.size]).toEqual(['done', 2, 1])
})

it('closing leaves nothing behind', async () => {
  const { pool, made, use } = stage()
  await use(nothing)
  const blocked = Promise.withResolvers<void>()
  const busy = use(() => blocked.promise, { address: at('b') })
  await Promise.resolve()
  await pool.close()
  expect(made.map(({ closed }) => closed)).toEqual([true, false])
  blocked.resolve()
  await busy
  await Promise.resolve()
  expect(made.map(({ closed }) => closed)).toEqual([true, true])
})
