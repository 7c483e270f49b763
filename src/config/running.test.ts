import { describe, expect, it, test } from 'vitest'
import { wrongKeysPerMinute } from './exposure.ts'
import { configSchema } from './schema.ts'
import { toConfig } from './to-config.ts'

const parse = (tree: object) => configSchema.safeParse(tree)
const configOf = (tree: object) => toConfig(configSchema.parse(tree), {}, undefined)
const problemOf = (tree: object) => parse(tree).error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
const DAY = 86_400_000

describe('retention', () => {
  it('has a bound for everything unless the operator wants it kept', () => {
    expect(configOf({}).retention).toEqual({
      generationsMs: 90 * DAY,
      contentMs: 30 * DAY,
      deadLettersMs: 30 * DAY,
      activityMs: 400 * DAY,
      spendMs: 62 * DAY,
      deletedDestinationsMs: 90 * DAY,
      everyMs: 3_600_000,
    })
    expect(configOf({ retention: { generations: '7d' } }).retention).toMatchObject({ generationsMs: 7 * DAY, contentMs: 7 * DAY })
    expect(configOf({ retention: { generations: 'forever', content: 'forever', dead_letters: '2d' } }).retention).toMatchObject({
      generationsMs: Infinity,
      contentMs: Infinity,
      deadLettersMs: 2 * DAY,
    })
  })
  test.each([
    [{ generations: '5s' }, 'retention.generations: a duration of an hour or more, such as 90d, or forever'],
    [{ generations: 'never' }, 'retention.generations: a duration of an hour or more, such as 90d, or forever'],
    [{ generations: '1d', content: '2d' }, 'retention.content: no more than generations, because content goes with its generation'],
    [{ spend: '7d' }, 'retention.spend: a duration of 32d or more, because a month that runs is still counted, or forever'],
    [{ every: '1s' }, 'retention.every: a duration from 1m to 1d'],
  ])('refuses %j in one sentence', (retention, problem) => expect(problemOf({ retention })).toEqual([problem]))
})

describe('wrong keys', () => {
  const bound = (server: object) => {
    const config = configOf({ server })
    return wrongKeysPerMinute(config, config.server.host)
  }
  it('are counted where strangers can reach the gateway, or when asked for', () => {
    expect(bound({})).toBeNull()
    expect(bound({ host: '0.0.0.0' })).toBe(100)
    expect(bound({ host: '0.0.0.0', wrong_keys_per_minute: null })).toBeNull()
    expect(bound({ wrong_keys_per_minute: 20 })).toBe(20)
  })
})

describe('overload protection', () => {
  it('is on by default', () => {
    expect(configOf({}).overload).toEqual({ enabled: true, eventLoopDelayMs: 1_000, memoryShare: 0.9, calls: 10_000 })
  })
  it('refuses a share of memory that leaves no space', () => {
    expect(problemOf({ overload: { memory_percent: 100 } })).toEqual(['overload.memory_percent: a whole number from 10 to 99'])
  })
})

describe('processes', () => {
  it('are one process with all roles by default', () => {
    expect(configOf({}).server).toMatchObject({ role: 'all', workers: 1, shutdownDelay: 0 })
    expect(configOf({ server: { role: 'gateway', workers: '4', shutdown_delay: '5s' } }).server).toMatchObject({
      role: 'gateway',
      workers: 4,
      shutdownDelay: 5_000,
    })
    expect(configOf({ server: { workers: 'auto' } }).server.workers).toBe('auto')
  })
  test.each([
    [{ role: 'master' }, 'server.role: one of: all, gateway, worker'],
    [{ workers: 0 }, 'server.workers: a whole number from 1 to 128, or auto for one per core'],
  ])('refuses %j', (server, problem) => expect(problemOf({ server })).toEqual([problem]))
})
