import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { RetentionConfig } from '../core/config.ts'
import type { FactStore } from '../core/store.ts'
import type { Retained, RetentionReport, RetentionStore } from '../core/retention.ts'
import { createRetentionJob, type RetentionJob, type RetentionJobOptions } from './retention-job.ts'
import { verifies } from '../../e2e/requirements.ts'

const HOUR = 3_600_000
const NOW = 1_800_000_000_000
const SETTINGS: RetentionConfig = {
  generationsMs: 90 * HOUR,
  contentMs: 30 * HOUR,
  deadLettersMs: 30 * HOUR,
  activityMs: 400 * HOUR,
  spendMs: Infinity,
  deletedDestinationsMs: 90 * HOUR,
  everyMs: HOUR,
}

let now: number
let steps: [Retained, number, number][]
let left: Partial<Record<Retained, number>>
let taken: boolean
let reports: RetentionReport[]
let failures: unknown[]
let facts: Map<string, string>
let job: RetentionJob

const store: RetentionStore = {
  expire: (what, before, limit) => {
    steps.push([what, before, limit])
    const deleted = Math.min(limit, left[what] ?? 0)
    left[what] = (left[what] ?? 0) - deleted
    return Promise.resolve({ deleted, more: deleted === limit })
  },
  exclusively: async (work) => {
    if (taken) return false
    await work()
    return true
  },
}
const factStore: FactStore = {
  get: (name) => Promise.resolve(facts.get(name)),
  replace: (name, expected, value) => {
    if (facts.get(name) !== expected) return Promise.resolve(false)
    facts.set(name, value)
    return Promise.resolve(true)
  },
}
const open = (changes: Partial<RetentionJobOptions> = {}): RetentionJob =>
  (job = createRetentionJob({
    store,
    facts: factStore,
    standIn: false,
    clock: { now: () => NOW + now, monotonic: () => now },
    random: () => 0.5,
    settings: () => SETTINGS,
    onReport: (report) => reports.push(report),
    onFailure: (error) => failures.push(error),
    tuning: { batchRows: 10, pauseMs: 0 },
    ...changes,
  }))

beforeEach(() => {
  now = 0
  steps = []
  left = {}
  taken = false
  reports = []
  failures = []
  facts = new Map()
})
afterEach(async () => {
  await job.stop()
  vi.useRealTimers()
})

describe('a round', () => {
  it(verifies('P2', 'deletes what is older than the operator wants, in batches, until nothing is left'), async () => {
    left = { generations: 25, content: 10, spend: 100 }
    expect((await open().run())?.deleted).toEqual({ generations: 25, content: 10, activity: 0, spend: 0, deleted_destinations: 0, answers: 0 })
    expect(steps.filter(([what]) => what === 'generations')).toEqual(Array.from({ length: 3 }, () => ['generations', NOW - 90 * HOUR, 10]))
    expect(steps.filter(([what]) => what === 'content')).toHaveLength(2)
    // Kept for ever.
    expect(left.spend).toBe(100)
  })

  it('does nothing if another process does the work already', async () => {
    taken = true
    left = { generations: 5 }
    expect(await open().run()).toBeUndefined()
    expect(reports).toEqual([])
    expect(left.generations).toBe(5)
  })

  it('ends after its time limit and says that there is more', async () => {
    left = { generations: 1_000_000 }
    const slow: RetentionStore = {
      ...store,
      expire: (...args) => {
        now += 100
        return store.expire(...args)
      },
    }
    const report = await open({ store: slow, tuning: { batchRows: 10, pauseMs: 0, roundMs: 1_000 } }).run()
    expect(report?.unfinished).toBe(true)
    expect(report?.deleted.generations).toBeLessThanOrEqual(110)
  })
})

describe('a process without the role for retention', () => {
  const standIn = () => open({ standIn: true })

  it('does it if no other process does, as often as configured', async () => {
    left = { generations: 5 }
    expect(await standIn().run()).toMatchObject({ deleted: { generations: 5 } })
    now += 0.25 * HOUR
    expect(await standIn().run()).toBeUndefined()
    now += 0.5 * HOUR
    expect(await standIn().run()).toBeDefined()
  })

  it('does nothing while a process with the role does it', async () => {
    await open().run()
    now += 2.5 * HOUR
    expect(await standIn().run()).toBeUndefined()
    now += HOUR
    expect(await standIn().run()).toBeDefined()
    // They are back.
    expect(await open().run()).toBeDefined()
    now += 2.5 * HOUR
    expect(await standIn().run()).toBeUndefined()
  })

  it('ignores timestamps of a clock that ran ahead', async () => {
    now += 24 * HOUR
    await open().run()
    now -= 24 * HOUR
    expect(await standIn().run()).toBeDefined()
  })

  it('treats an invalid timestamp as no run', async () => {
    facts.set('retention', 'soon')
    expect(await standIn().run()).toBeDefined()
  })
})

describe('the schedule', () => {
  it('runs after about a minute and then every hour, each process at its own time', async () => {
    vi.useFakeTimers()
    open({ random: () => 0 }).start()
    await vi.advanceTimersByTimeAsync(44_000)
    expect(reports).toHaveLength(0)
    await vi.advanceTimersByTimeAsync(2_000)
    expect(reports).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(0.75 * HOUR)
    expect(reports).toHaveLength(2)
  })

  it('continues after a failure', async () => {
    vi.useFakeTimers()
    let fail = true
    const flaky: RetentionStore = { ...store, exclusively: (work) => (fail ? Promise.reject(new Error('away')) : store.exclusively(work)) }
    open({ store: flaky }).start()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(failures).toHaveLength(1)
    fail = false
    await vi.advanceTimersByTimeAsync(HOUR)
    expect(reports).toHaveLength(1)
  })
})
