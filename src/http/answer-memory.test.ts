import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { AnswerMemory, LargeAnswer } from './answer-memory.ts'

const MB = 1024 * 1024
const OVER = expect.objectContaining({
  errorType: 'provider_overloaded',
  message: 'The gateway has no memory left for an answer of this size at the moment; try again',
  details: { retryAfterMs: 5_000, failover: 'never' },
})

beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

/** `left`: megabytes of memory. */
function open({ left = 100, enabled = true } = {}) {
  const memory = { left: left * MB }
  const answers = new AnswerMemory({
    limits: () => ({ enabled, memoryShare: 0.9 }),
    memoryLeft: () => memory.left,
    monotonic: () => performance.now(),
  })
  const hold = (signal = new AbortController().signal): LargeAnswer => new LargeAnswer(answers, signal)
  return { answers, memory, hold }
}

/** What became of it so far. */
function watch(waiting: Promise<void> | undefined): { state: 'goes on' | 'waits' | 'went on' | 'given up'; error?: unknown } {
  const seen: ReturnType<typeof watch> = { state: waiting === undefined ? 'goes on' : 'waits' }
  waiting?.then(
    () => (seen.state = 'went on'),
    (error: unknown) => Object.assign(seen, { state: 'given up', error }),
  )
  return seen
}
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

describe('large answers', () => {
  it('continue while the free memory is at least eight times their characters', async () => {
    const { hold } = open()
    const holds = Array.from({ length: 4 }, () => hold())
    const first = holds.map((one) => watch(one.add(4 * MB)))
    expect(first.map(({ state }) => state)).toEqual(['goes on', 'goes on', 'goes on', 'waits'])
    holds[0]!.release()
    await pass(0)
    expect(first[3]!.state).toBe('went on')
    for (const one of holds) one.release()
  })

  it('check the memory once a megabyte, and small ones never', () => {
    const { hold, memory } = open({ left: 0 })
    const other = hold()
    expect(other.add(MB)).toBeUndefined()
    const small = hold()
    for (let n = 0; n < 15; n++) expect(small.add(16 * 1024)).toBeUndefined()
    memory.left = 100 * MB
    expect(small.add(16 * 1024)).toBeUndefined()
    memory.left = 0
    for (let n = 0; n < 48; n++) expect(small.add(16 * 1024)).toBeUndefined()
    const waiting = watch(small.add(16 * 1024))
    expect(waiting.state).toBe('waits')
    other.release()
    small.release()
  })

  it('finish one after the other where there is memory for none', async () => {
    const { hold } = open({ left: -1 })
    const [first, second, third] = [hold(), hold(), hold()]
    expect(first.add(30 * MB)).toBeUndefined()
    const later = [watch(second.add(MB)), watch(third.add(MB))]
    expect(first.add(30 * MB)).toBeUndefined()
    await pass(1_000)
    expect(later.map(({ state }) => state)).toEqual(['waits', 'waits'])
    first.encoded()
    await pass(1_000)
    // Its caller still reads.
    expect(later.map(({ state }) => state)).toEqual(['waits', 'waits'])
    first.release()
    await pass(0)
    expect(later.map(({ state }) => state)).toEqual(['went on', 'waits'])
    second.release()
    await pass(0)
    expect(later[1]!.state).toBe('went on')
    third.release()
  })

  // If each of many had another megabyte in turn, all of them would grow to their full size together.
  it('end one after the other where many have begun: the one whose turn it is keeps it', async () => {
    const { hold, memory } = open()
    const [first, second, third] = [hold(), hold(), hold()]
    for (const one of [first, second, third]) void one.add(MB)
    memory.left = 0
    const later = [watch(second.add(MB)), watch(third.add(MB))]
    for (let n = 0; n < 30; n++) expect(watch(first.add(MB)).state).toBe('goes on')
    await pass(1_000)
    expect(later.map(({ state }) => state)).toEqual(['waits', 'waits'])
    first.release()
    await pass(0)
    expect(later.map(({ state }) => state)).toEqual(['went on', 'waits'])
    for (let n = 0; n < 30; n++) expect(watch(second.add(MB)).state).toBe('goes on')
    second.release()
    await pass(0)
    expect(later[1]!.state).toBe('went on')
    third.release()
  })

  it('that have begun end before others begin', async () => {
    const { hold, memory } = open({ left: 24 })
    const [first, second, young] = [hold(), hold(), hold()]
    void first.add(MB)
    void second.add(MB)
    memory.left = 16 * MB
    const later = watch(young.add(MB))
    const more = watch(second.add(MB))
    expect([later.state, more.state]).toEqual(['waits', 'waits'])
    first.release()
    await pass(0)
    expect([later.state, more.state]).toEqual(['waits', 'went on'])
    second.release()
    await pass(0)
    expect(later.state).toBe('went on')
    young.release()
  })

  it('continue when memory becomes free, without a notification', async () => {
    const { hold, memory } = open({ left: 0 })
    const [first, second] = [hold(), hold()]
    void first.add(MB)
    const waiting = watch(second.add(MB))
    memory.left = 100 * MB
    await pass(100)
    expect(waiting.state).toBe('went on')
    first.release()
    second.release()
  })

  it('are given up after a minute, with an error', async () => {
    const { hold, answers } = open({ left: 0 })
    const [first, second] = [hold(), hold()]
    void first.add(MB)
    const waiting = watch(second.add(MB))
    await pass(59_900)
    expect([waiting.state, answers.waitMs]).toEqual(['waits', 59_900])
    await pass(200)
    expect(waiting).toEqual({ state: 'given up', error: OVER })
    expect([answers.refused, answers.waitMs]).toEqual([1, 0])
    first.release()
    second.release()
    expect(answers.held).toBe(0)
  })

  // The end of a stream tells all of its text again, several times, and its caller may not read: many ends at once filled the heap.
  it('are given up one after the other where there is no memory for their ends', async () => {
    const { hold, answers } = open({ left: 0 })
    const [first, ...holds] = [hold(), hold(), hold(), hold()]
    void first.add(MB)
    const waiting = holds.map((one) => watch(one.add(MB)))
    await pass(60_100)
    expect(waiting.map(({ state }) => state)).toEqual(['given up', 'waits', 'waits'])
    await pass(10_000)
    expect([waiting[1]!.state, answers.refused, answers.held]).toEqual(['waits', 1, 16 * MB])
    holds[0].release()
    await pass(100)
    expect(waiting.map(({ state }) => state)).toEqual(['given up', 'given up', 'waits'])
    first.release()
    holds[1].release()
    await pass(0)
    expect([waiting[2]!.state, answers.refused]).toEqual(['went on', 2])
    holds[2].release()
    expect(answers.held).toBe(0)
  })

  it('are given up together where the memory that is kept free is enough for their ends', async () => {
    const memoryLeft = (share: number): number => (share > 0.9 ? 24 * MB : 0)
    const answers = new AnswerMemory({ limits: () => ({ enabled: true, memoryShare: 0.9 }), memoryLeft, monotonic: () => performance.now() })
    const holds = Array.from({ length: 4 }, () => new LargeAnswer(answers, new AbortController().signal))
    void holds[0]!.add(MB)
    const waiting = holds.slice(1).map((one) => watch(one.add(MB)))
    await pass(60_100)
    expect(waiting.map(({ state }) => state)).toEqual(['given up', 'given up', 'waits'])
    for (const one of holds) one.release()
    await pass(100)
  })

  it('whose callers are gone leave the queue, and do not count as given up', async () => {
    const { hold, answers } = open({ left: 0 })
    const gone = new AbortController()
    const [first, second] = [hold(), hold(gone.signal)]
    void first.add(MB)
    const waiting = watch(second.add(MB))
    gone.abort()
    await pass(100)
    expect([waiting.state, answers.refused]).toEqual(['given up', 0])
    first.release()
    second.release()
  })

  it('wait once, however many of their parts come at a time', async () => {
    const { hold } = open({ left: 0 })
    const [first, second] = [hold(), hold()]
    void first.add(MB)
    const parts = [watch(second.add(MB)), watch(second.add(MB))]
    first.release()
    await pass(0)
    expect(parts.map(({ state }) => state)).toEqual(['went on', 'went on'])
    expect(second.held).toBe(16 * MB)
    second.release()
  })

  it('reserve nothing when their call ends while a part of them waits', async () => {
    const { hold, answers } = open({ left: 0 })
    const [first, second] = [hold(), hold()]
    void first.add(MB)
    const waiting = watch(second.add(MB))
    second.release()
    first.release()
    await pass(100)
    expect([waiting.state, answers.held]).toEqual(['went on', 0])
  })

  it('reserve nothing more once they are complete, and nothing is held for a finished call', () => {
    const { hold, answers } = open()
    const one = hold()
    void one.add(3 * MB)
    expect(answers.held).toBe(24 * MB)
    one.encoded()
    expect(answers.held).toBe(0)
    one.release()
    one.release()
    expect(one.add(50 * MB)).toBeUndefined()
    expect(answers.held).toBe(0)
  })

  it('never wait where overload protection is switched off', () => {
    const { hold } = open({ left: 0, enabled: false })
    const holds = [hold(), hold()]
    for (const one of holds) expect(one.add(30 * MB)).toBeUndefined()
    for (const one of holds) one.release()
  })
})
