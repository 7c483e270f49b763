import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { GatewayError } from '../core/error.ts'
import type { FinishedGeneration } from '../core/generation.ts'
import type { RecordedGeneration } from '../core/store.ts'
import { systemClock } from '../lib/clock.ts'
import { sampleContent, sampleGeneration } from '../testing/sample-records.ts'
import { threadTime } from '../testing/thread-time.ts'
import { createStore } from './index.ts'
import { UNPACKED } from './generation-queue.ts'
import { createGenerationSink, type GenerationSinkOptions, type SinkEvent } from './write-behind.ts'
import { verifies } from '../../e2e/requirements.ts'

const finished = (id: string, overrides = {}): FinishedGeneration => ({ generation: sampleGeneration(id, overrides), content: sampleContent })
const unavailable = () => new GatewayError('provider_overloaded', 'away')

/** A store whose every insert the test decides: it records what it was given and answers as scripted, then with success. */
function createScriptedStore() {
  const batches: (readonly RecordedGeneration[])[] = []
  const answers: ((batch: readonly RecordedGeneration[]) => Promise<void>)[] = []
  let running = 0
  let mostRunning = 0
  const stored = new Set<string>()
  return {
    batches,
    stored,
    next: (...scripted: typeof answers) => void answers.push(...scripted),
    mostRunning: () => mostRunning,
    generations: {
      insertMany: async (batch: readonly RecordedGeneration[]) => {
        batches.push(batch)
        mostRunning = Math.max(mostRunning, ++running)
        try {
          await answers.shift()?.(batch)
          for (const { generation } of batch) stored.add(generation.id)
        } finally {
          running--
        }
      },
    },
  }
}

const fails = () => Promise.reject(unavailable())
const hangs = () => new Promise<void>(() => undefined)

describe('the generation sink', () => {
  let store: ReturnType<typeof createScriptedStore>
  let events: SinkEvent[]
  beforeEach(() => {
    vi.useFakeTimers()
    store = createScriptedStore()
    events = []
  })
  afterEach(() => {
    expect(vi.getTimerCount()).toBe(0)
    vi.useRealTimers()
  })
  const createSink = (options: Partial<GenerationSinkOptions<RecordedGeneration>> = {}) =>
    createGenerationSink({ store, packing: UNPACKED, clock: systemClock, random: () => 1, onEvent: (event) => void events.push(event), ...options })
  const sizes = () => store.batches.map((batch) => batch.length)
  const record = (sink: ReturnType<typeof createSink>, count: number, prefix = 'gen') => {
    for (let i = 0; i < count; i++) sink.record(finished(`${prefix}-${i}`))
  }

  describe('gathers', () => {
    it('for 50 ms', async () => {
      const sink = createSink()
      record(sink, 3)
      await vi.advanceTimersByTimeAsync(49)
      expect(sizes()).toEqual([])
      await vi.advanceTimersByTimeAsync(1)
      expect(sizes()).toEqual([3])
      expect(sink.stats()).toMatchObject({ waiting: 0, waitingBytes: 0, recorded: 3, written: 3, batches: 1, oldestAgeMs: 0 })
    })

    it('until a call ends after 30 ms where calls are few, because a timer would write during the next call', async () => {
      const sink = createSink()
      record(sink, 1)
      await vi.advanceTimersByTimeAsync(29)
      record(sink, 1)
      await vi.advanceTimersByTimeAsync(0)
      expect(sizes()).toEqual([])
      await vi.advanceTimersByTimeAsync(1)
      record(sink, 1)
      await vi.advanceTimersByTimeAsync(0)
      expect(sizes()).toEqual([3])
    })

    it('for 50 ms where calls are many, because there is no idle moment', async () => {
      const sink = createSink()
      record(sink, 16)
      await vi.advanceTimersByTimeAsync(40)
      record(sink, 1)
      await vi.advanceTimersByTimeAsync(9)
      expect(sizes()).toEqual([])
      await vi.advanceTimersByTimeAsync(1)
      expect(sizes()).toEqual([17])
    })

    it('until there are 200 records', async () => {
      const sink = createSink()
      record(sink, 500)
      await vi.advanceTimersByTimeAsync(0)
      // The first leaves at 200; what came while it was written follows at once.
      expect(sizes()).toEqual([200, 200, 100])
      expect(store.mostRunning()).toBe(1)
    })

    it('until the records are large', async () => {
      const sink = createSink({ limits: { batchBytes: 50_000 }, keepsContent: () => true })
      const large = { ...sampleContent, instructions: 'x'.repeat(20_000) }
      for (let i = 0; i < 6; i++) sink.record({ ...finished(`gen-${i}`), content: large })
      await vi.advanceTimersByTimeAsync(0)
      expect(sizes()).toEqual([3, 3])
    })
  })

  it('reports how many wait behind a batch', async () => {
    const behind: number[] = []
    const insertMany = (_batch: readonly RecordedGeneration[], waiting: number) => Promise.resolve(void behind.push(waiting))
    const sink = createSink({ store: { generations: { insertMany } }, limits: { batchRecords: 2 } })
    record(sink, 5)
    await sink.flush()
    expect(behind).toEqual([0, 1, 0])
  })

  it('hands over content only where the workspace keeps it', async () => {
    const sink = createSink({ keepsContent: (generation) => generation.workspaceId === 'keeper' })
    sink.record(finished('gen-1'))
    sink.record(finished('gen-2', { workspaceId: 'keeper' }))
    await sink.flush()
    expect(store.batches[0]?.map(({ content }) => content)).toEqual([undefined, sampleContent])
  })

  it('finds records that are not yet written, for their workspace, until they are', async () => {
    let finish: () => void = () => undefined
    store.next(() => new Promise((resolve) => (finish = resolve)))
    const sink = createSink()
    sink.record(finished('gen-1', { workspaceId: 'w1' }))
    expect(sink.pending('gen-1')?.id).toBe('gen-1')
    await vi.advanceTimersByTimeAsync(60)
    expect(sizes()).toEqual([1])
    expect(sink.pending('gen-1', 'w1')?.id).toBe('gen-1')
    expect(sink.pending('gen-1', 'w2')).toBeUndefined()
    finish()
    await vi.advanceTimersByTimeAsync(0)
    expect(sink.pending('gen-1')).toBeUndefined()
    expect(sink.pending('gen-2')).toBeUndefined()
  })

  describe('while the store is away', () => {
    it('repeats the same batch with growing waits, keeps order, and catches up', async () => {
      store.next(fails, fails, fails)
      const sink = createSink()
      record(sink, 2, 'first')
      await vi.advanceTimersByTimeAsync(50)
      record(sink, 3, 'second')
      await vi.advanceTimersByTimeAsync(2_000)
      expect(sizes()).toEqual([2, 2, 2, 2, 3])
      expect(events.map((event) => (event.type === 'insert-failed' ? event.waitMs : event.type))).toEqual([150, 250, 450, 'recovered'])
      expect(sink.stats()).toMatchObject({ written: 5, failures: 3, waiting: 0, lost: { overflow: 0, refused: 0, closed: 0 } })
    })

    it('never waits longer than the limit between tries', async () => {
      store.next(...Array.from({ length: 12 }, () => fails))
      const sink = createSink()
      record(sink, 1)
      await vi.advanceTimersByTimeAsync(60_000)
      const waits = events.flatMap((event) => (event.type === 'insert-failed' ? [event.waitMs] : []))
      expect(Math.max(...waits)).toBe(5_050)
      expect(sink.stats().written).toBe(1)
    })

    it(verifies('I1', 'drops the oldest beyond the bound, and says so'), async () => {
      store.next(hangs)
      const sink = createSink({ limits: { maxRecords: 10, batchRecords: 4, insertLimitMs: 1_000 } })
      record(sink, 4, 'taken')
      record(sink, 8, 'waiting')
      await vi.advanceTimersByTimeAsync(0)
      expect(sink.stats()).toMatchObject({ waiting: 10, lost: { overflow: 2 } })
      expect(sink.pending('waiting-1')).toBeUndefined()
      expect(sink.pending('waiting-2')).toBeDefined()
      expect(events.filter((event) => event.type === 'lost')).toEqual([
        { type: 'lost', reason: 'overflow', records: 1 },
        { type: 'lost', reason: 'overflow', records: 1 },
      ])
      await vi.advanceTimersByTimeAsync(5_000)
      expect([...store.stored].sort()).toEqual(['taken-0', 'taken-1', 'taken-2', 'taken-3', ...[2, 3, 4, 5, 6, 7].map((i) => `waiting-${i}`)])
    })

    const tell = (sink: ReturnType<typeof createSink>, count: number): void => {
      for (let i = 0; i < count; i++) sink.record({ ...finished(`gen-${i}`), content: { ...sampleContent, instructions: 'x'.repeat(100_000) } })
    }
    it(
      verifies('I1', 'obeys its bound of bytes, however large the records: the oldest are written without content, and all are written'),
      async () => {
        store.next(hangs)
        const sink = createSink({ keepsContent: () => true, limits: { maxBytes: 1_000_000, insertLimitMs: 1_000, batchRecords: 1 } })
        tell(sink, 100)
        expect(sink.stats().waitingBytes).toBeLessThanOrEqual(1_000_000)
        expect(sink.stats()).toMatchObject({ waiting: 100, lost: { overflow: 0 } })
        await vi.advanceTimersByTimeAsync(5_000)
        expect(sink.stats()).toMatchObject({ waiting: 0, waitingBytes: 0, written: 100, lost: { overflow: 0 } })
        const kept = new Map(store.batches.flat().map(({ generation, content }) => [generation.id, content !== undefined]))
        const without = [...kept.values()].filter((has) => !has).length
        expect(without).toBeGreaterThan(85)
        // The one under way cannot be taken back, and the newest fit.
        expect([kept.get('gen-0'), kept.get('gen-1'), kept.get('gen-99')]).toEqual([true, false, true])
        const told = events.flatMap((event) => (event.type === 'content-lost' ? [event.records] : []))
        expect(told.reduce((sum, records) => sum + records, 0)).toBe(without)
      },
    )

    it('drops records where leaving out content is not enough', async () => {
      store.next(hangs)
      const sink = createSink({ keepsContent: () => true, limits: { maxBytes: 20_000, insertLimitMs: 1_000 } })
      tell(sink, 100)
      expect(sink.stats().waitingBytes).toBeLessThanOrEqual(20_000)
      expect(sink.stats().lost.overflow).toBeGreaterThan(80)
      await vi.advanceTimersByTimeAsync(5_000)
      expect(sink.stats()).toMatchObject({ waiting: 0, waitingBytes: 0 })
    })

    it(verifies('P3', 'drops content that is not to be stored, so that prompts do not fill the memory'), () => {
      const sink = createSink()
      for (let i = 0; i < 10; i++) sink.record({ ...finished(`gen-${i}`), content: { ...sampleContent, instructions: 'x'.repeat(1_000_000) } })
      expect(sink.stats().waitingBytes).toBeLessThan(100_000)
      return sink.close()
    })

    it.each([
      ['back', -3_600_000],
      ['ahead', 3_600_000],
    ])(verifies('I7', 'says how long records wait when the clock is set %s by an hour meanwhile'), async (_where, ms) => {
      store.next(hangs)
      const sink = createSink()
      record(sink, 1)
      await vi.advanceTimersByTimeAsync(11_000)
      vi.setSystemTime(Date.now() + ms)
      expect(sink.stats().oldestAgeMs).toBe(11_000)
      await vi.advanceTimersByTimeAsync(5_000)
      expect(sink.stats().oldestAgeMs).toBe(0)
    })

    it(verifies('I1', 'abandons an insert that hangs after its limit and repeats it'), async () => {
      store.next(hangs)
      const sink = createSink()
      record(sink, 2)
      await vi.advanceTimersByTimeAsync(50 + 14_999)
      expect(sizes()).toEqual([2])
      expect(sink.stats().oldestAgeMs).toBeGreaterThan(15_000)
      await vi.advanceTimersByTimeAsync(200)
      expect(sizes()).toEqual([2, 2])
      expect(sink.stats()).toMatchObject({ written: 2, waiting: 0 })
    })
  })

  it('loses only the record the store refuses, and says why', async () => {
    const refuse = async (batch: readonly RecordedGeneration[]) => {
      if (batch.some(({ generation }) => generation.id === 'gen-5')) throw new GatewayError('server', 'The database refused the data')
    }
    store.next(...Array.from({ length: 20 }, () => refuse))
    const sink = createSink()
    record(sink, 8)
    await vi.advanceTimersByTimeAsync(60)
    expect([...store.stored].sort()).toEqual([0, 1, 2, 3, 4, 6, 7].map((i) => `gen-${i}`))
    expect(sink.stats()).toMatchObject({ written: 7, waiting: 0, lost: { refused: 1 } })
    expect(events).toEqual([{ type: 'lost', reason: 'refused', records: 1, error: expect.objectContaining({ errorType: 'server' }) }])
  })

  it('treats a store that throws instead of rejecting, or rejects with anything, like one that is away', async () => {
    store.next(
      () => Promise.reject(new TypeError('a bug')),
      () => {
        throw new Error('at once')
      },
    )
    const sink = createSink()
    record(sink, 1)
    await vi.advanceTimersByTimeAsync(2_000)
    expect(sink.stats()).toMatchObject({ written: 1, failures: 2 })
  })

  describe('flush', () => {
    it('writes at once and resolves when all is written', async () => {
      const sink = createSink()
      record(sink, 300)
      await sink.flush()
      expect(store.stored.size).toBe(300)
      await expect(sink.flush()).resolves.toBeUndefined()
    })

    it('ends a running wait for the next try', async () => {
      store.next(fails, fails, fails, fails, fails, fails)
      const sink = createSink()
      record(sink, 1)
      await vi.advanceTimersByTimeAsync(3_000)
      const tries = store.batches.length
      const flushed = sink.flush()
      await vi.advanceTimersByTimeAsync(1_500)
      await expect(flushed).resolves.toBeUndefined()
      expect(store.batches.length).toBeGreaterThan(tries)
    })

    it('does not wait for what is recorded later', async () => {
      const sink = createSink()
      record(sink, 1, 'early')
      let late: () => void = () => undefined
      store.next(
        () => Promise.resolve(),
        () => new Promise((resolve) => (late = resolve)),
      )
      const flushed = sink.flush()
      record(sink, 1, 'late')
      await expect(flushed).resolves.toBeUndefined()
      await vi.advanceTimersByTimeAsync(100)
      late()
      await vi.advanceTimersByTimeAsync(0)
      expect(store.stored.size).toBe(2)
    })

    it('rejects when the store cannot take it within the limit, and the records stay', async () => {
      store.next(hangs)
      const sink = createSink({ limits: { flushLimitMs: 1_000 } })
      record(sink, 2)
      const flushed = sink.flush().catch((error: unknown) => error)
      const expected = {
        errorType: 'provider_overloaded',
        message: expect.stringContaining('2 generation records'),
      }
      await vi.advanceTimersByTimeAsync(1_000)
      expect(await flushed).toMatchObject(expected)
      expect(sink.stats().waiting).toBe(2)
      await vi.advanceTimersByTimeAsync(20_000)
      expect(sink.stats()).toMatchObject({ written: 2, waiting: 0 })
    })

    it('rejects when something was lost meanwhile', async () => {
      store.next(() => Promise.reject(new GatewayError('server', 'refused')))
      const sink = createSink()
      record(sink, 1)
      await expect(sink.flush()).rejects.toMatchObject({ errorType: 'server' })
    })
  })

  describe('close', () => {
    it('writes what is left and counts what comes later as lost', async () => {
      const sink = createSink()
      record(sink, 5)
      expect(await sink.close()).toBe(0)
      expect(store.stored.size).toBe(5)
      sink.record(finished('late'))
      expect(sink.stats()).toMatchObject({ waiting: 0, waitingBytes: 0, lost: { closed: 1 } })
      expect(store.stored.has('late')).toBe(false)
    })

    it('replaces an insert that hangs by one over another connection, and loses nothing', async () => {
      store.next(hangs)
      const sink = createSink()
      record(sink, 3)
      await vi.advanceTimersByTimeAsync(1_000)
      expect(sizes()).toEqual([3])
      const closed = sink.close(10_000)
      await vi.advanceTimersByTimeAsync(5_000)
      expect(await closed).toBe(0)
      expect(store.stored.size).toBe(3)
    })

    it('ends within its limit when the store hangs, and says how many are lost', async () => {
      store.next(hangs)
      const sink = createSink()
      record(sink, 250)
      const closed = sink.close(2_000)
      expect(sink.close()).toBe(closed)
      await vi.advanceTimersByTimeAsync(2_000)
      expect(await closed).toBe(250)
      expect(events.at(-1)).toEqual({ type: 'lost', reason: 'closed', records: 250 })
      expect(sink.stats()).toMatchObject({ waiting: 0, waitingBytes: 0 })
      await vi.advanceTimersByTimeAsync(60_000)
      expect(store.batches).toHaveLength(1)
    })

    it('ends within its limit when the store keeps failing', async () => {
      store.next(...Array.from({ length: 100 }, () => fails))
      const sink = createSink()
      record(sink, 3)
      const closed = sink.close(2_000)
      await vi.advanceTimersByTimeAsync(2_500)
      expect(await closed).toBe(3)
      const tries = store.batches.length
      await vi.advanceTimersByTimeAsync(60_000)
      expect(store.batches).toHaveLength(tries)
    })
  })

  it('never puts a record into an event', async () => {
    store.next(fails, () => Promise.reject(new GatewayError('server', 'refused')))
    const sink = createSink({ keepsContent: () => true })
    sink.record({
      generation: sampleGeneration('gen-1', { metadata: { secret: 'canary-metadata' } }),
      content: { ...sampleContent, instructions: 'canary-prompt' },
    })
    await vi.advanceTimersByTimeAsync(5_000)
    expect(events.map(({ type }) => type)).toEqual(['insert-failed', 'lost'])
    expect(JSON.stringify(events)).not.toContain('canary')
  })
})

describe('the generation sink over SQLite', () => {
  it('writes generations that can be read back, and takes a thousand of them in no time', async () => {
    const store = await createStore({ path: ':memory:' })
    await store.migrate()
    const sink = createGenerationSink({ store, packing: UNPACKED, clock: systemClock })
    const batch = Array.from({ length: 1_000 }, (_, i) => finished(`gen-${i}`))
    const started = threadTime()
    for (const one of batch) sink.record(one)
    const perRecordMs = (threadTime() - started) / batch.length
    expect(perRecordMs).toBeLessThan(0.25)
    await sink.flush()
    expect(await store.generations.get('gen-999')).toEqual(batch[999]?.generation)
    expect(await store.generations.content('gen-999')).toBeUndefined()
    expect(await sink.close()).toBe(0)
    await store.close()
  })
})
