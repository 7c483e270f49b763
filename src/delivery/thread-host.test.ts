import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { GatewayError } from '../core/error.ts'
import { systemClock } from '../lib/clock.ts'
import { createThreadHost, type Thread, type ThreadHostOptions, type ThreadListeners } from './thread-host.ts'
import { answerCall, copyError, restoreError, type FromThread, type ToThread } from './thread-protocol.ts'

/** A thread whose life and answers the test decides. */
function createScriptedThread() {
  let listeners: ThreadListeners | undefined
  const received: ToThread[] = []
  const thread: Thread = {
    send: (message) => void received.push(message),
    listen: (given) => (listeners = given),
    terminate: () => {
      listeners?.exit()
      return Promise.resolve()
    },
  }
  const die = (error: Error): void => {
    listeners?.error(error)
    listeners?.exit()
  }
  return { thread, received, die, say: (message: FromThread) => listeners?.message(message) }
}

describe('the host of a thread', () => {
  let threads: ReturnType<typeof createScriptedThread>[]
  let deaths: (readonly [string | undefined, number])[]
  let messages: unknown[]
  beforeEach(() => {
    vi.useFakeTimers()
    threads = []
    deaths = []
    messages = []
  })
  afterEach(() => {
    expect(vi.getTimerCount()).toBe(0)
    vi.useRealTimers()
  })
  const createHost = (options: Partial<ThreadHostOptions> = {}) =>
    createThreadHost({
      spawn: () => {
        const scripted = createScriptedThread()
        threads.push(scripted)
        return scripted.thread
      },
      clock: systemClock,
      onMessage: (message) => messages.push(message),
      onDeath: (error, waitMs) => deaths.push([error?.message, waitMs]),
      ...options,
    })
  const newest = () => threads.at(-1)!

  it('matches answers to their calls, in any order, and passes everything else to the listener', async () => {
    const host = createHost()
    host.start()
    const calls = [host.call('add', [1, 2]), host.call('fail', [])]
    expect(newest().received).toEqual([
      { kind: 'call', id: 0, method: 'add', args: [1, 2] },
      { kind: 'call', id: 1, method: 'fail', args: [] },
    ])
    newest().say({ kind: 'interest', workspaces: ['w1'] })
    newest().say({ kind: 'error', id: 1, error: copyError(new GatewayError('conflict', 'lost the race', { path: 'revision' })) })
    newest().say({ kind: 'result', id: 0, value: 3 })
    await expect(calls[1]).rejects.toMatchObject({ errorType: 'conflict', message: 'lost the race', details: { path: 'revision' } })
    expect(await calls[0]).toBe(3)
    expect(messages).toEqual([{ kind: 'interest', workspaces: ['w1'] }])
  })

  it('rejects a call that cannot be passed on, as often as it is made, and forgets it', async () => {
    const full = {
      ...createScriptedThread().thread,
      send: () => {
        throw new DOMException('Data cannot be cloned, out of memory.', 'DataCloneError')
      },
    }
    const host = createHost({ spawn: () => full })
    host.start()
    for (let n = 0; n < 2; n++)
      await expect(host.call('record', [])).rejects.toMatchObject({
        errorType: 'provider_overloaded',
        details: { cause: { name: 'DataCloneError' } },
      })
    expect(vi.getTimerCount()).toBe(0)
  })

  it('retries where the system cannot start another thread at the moment', async () => {
    let room = true
    const host = createHost({
      spawn: () => {
        if (!room) throw new Error('EAGAIN')
        threads.push(createScriptedThread())
        return newest().thread
      },
    })
    host.start()
    room = false
    newest().die(new Error('out of memory'))
    await vi.advanceTimersByTimeAsync(1_000)
    expect(deaths.slice(0, 2)).toEqual([
      ['out of memory', 250],
      ['EAGAIN', 500],
    ])
    room = true
    await vi.advanceTimersByTimeAsync(10_000)
    expect(threads).toHaveLength(2)
    const answered = host.call('add', [1, 2])
    newest().say({ kind: 'result', id: 0, value: 3 })
    expect(await answered).toBe(3)
  })

  it('refuses calls before the start, and those that take too long', async () => {
    const host = createHost()
    await expect(host.call('x', [])).rejects.toMatchObject({ errorType: 'provider_overloaded' })
    host.start()
    const slow = host.call('x', [], 100)
    const refused = slow.catch((error: unknown) => error)
    await vi.advanceTimersByTimeAsync(100)
    expect(await refused).toMatchObject({ errorType: 'provider_overloaded' })
    // Its late answer finds nobody.
    newest().say({ kind: 'result', id: 0, value: 1 })
  })

  it('fails what a dying thread was doing, and starts another after growing waits', async () => {
    const host = createHost({ backoff: { baseMs: 100, maxMs: 300 } })
    host.start()
    const lost = host.call('record', ['...'])
    const failed = lost.catch((error: unknown) => error)
    newest().die(new Error('out of memory'))
    expect(await failed).toMatchObject({ errorType: 'provider_overloaded' })
    await vi.advanceTimersByTimeAsync(100)
    expect(threads).toHaveLength(2)
    for (const waitMs of [200, 300, 300]) {
      newest().die(new Error('again'))
      await vi.advanceTimersByTimeAsync(waitMs)
    }
    expect(deaths).toEqual([
      ['out of memory', 100],
      ['again', 200],
      ['again', 300],
      ['again', 300],
    ])
    // One that lived is no part of that series.
    await vi.advanceTimersByTimeAsync(61_000)
    newest().die(new Error('later'))
    expect(deaths.at(-1)).toEqual(['later', 100])
    await vi.advanceTimersByTimeAsync(100)
    expect(threads).toHaveLength(6)
  })

  it('stops the thread in order, ends it when it does not answer, and starts none again', async () => {
    const host = createHost()
    host.start()
    const closed = host.close(500)
    expect(newest().received.at(-1)).toMatchObject({ method: 'stop', args: [500] })
    await vi.advanceTimersByTimeAsync(2_500)
    await closed
    await vi.advanceTimersByTimeAsync(60_000)
    expect(threads).toHaveLength(1)
    expect(deaths).toEqual([])
    await createHost().close(1)
  })
})

describe('the thread side', () => {
  const answer = (methods: Parameters<typeof answerCall>[0], method: string) =>
    new Promise<FromThread>((resolve) => answerCall(methods, { kind: 'call', id: 7, method, args: [2] }, resolve))

  it('answers with results, errors, and a refusal of what it does not know', async () => {
    const methods = {
      double: async (n: number) => n * 2,
      break: async () => {
        throw new TypeError('a bug')
      },
    }
    expect(await answer(methods, 'double')).toEqual({ kind: 'result', id: 7, value: 4 })
    const broken = await answer(methods, 'break')
    expect(broken).toMatchObject({ kind: 'error', error: { errorType: 'server', message: 'Internal error' } })
    const cause = broken.kind === 'error' && restoreError(broken.error).cause
    expect(cause).toMatchObject({ message: 'a bug', stack: expect.stringContaining('thread-host.test.ts') })
    expect(await answer(methods, 'constructor')).toMatchObject({ kind: 'error' })
  })
})
