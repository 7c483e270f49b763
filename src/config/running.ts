import { z } from 'zod'
import type { OverloadConfig, RetentionConfig } from '../core/config.ts'
import { duration, flag, section, wait, whole } from './fields.ts'

/** Settings of a process rather than of calls: when it refuses work, and how long it keeps records. */

const DAY_MS = 86_400_000
/** A month is the longest period of a budget; one more day closes it. */
const LEAST_SPEND_MS = 32 * DAY_MS
const CONTENT_MS = 30 * DAY_MS

/** A duration, or `forever`. Output: milliseconds; `Infinity` for `forever`. */
function age(least: number, expected: string) {
  const forever = z.literal('forever').transform(() => Infinity)
  return z.union([forever, duration()], { error: expected }).refine((ms) => ms >= least, { error: expected })
}

const retentionAge = () => age(3_600_000, 'a duration of an hour or more, such as 90d, or forever')

export const overloadSection = section({
  enabled: flag().prefault(true).describe('Whether calls are refused under overload.'),
  event_loop_delay: wait().prefault('1s').describe('How late the event loop may be, smoothed.'),
  memory_percent: whole(10, 99).prefault(90).describe('Of the heap, or of what the container allows.'),
  calls: whole(1).prefault(10_000).describe('In flight, per process.'),
}).prefault({})

export const retentionSection = section({
  generations: retentionAge().prefault('90d').describe('Records, unless a delivery waits or may be replayed.'),
  content: retentionAge().optional().describe('Texts, if a workspace keeps them; `30d` by default, at most `generations`.'),
  dead_letters: retentionAge().prefault('30d').describe('Deliveries that were given up.'),
  activity: age(DAY_MS, 'a duration of a day or more, such as 400d, or forever').prefault('400d').describe('Sums per day, key and endpoint.'),
  spend: age(LEAST_SPEND_MS, 'a duration of 32d or more, because a month that runs is still counted, or forever')
    .prefault('62d')
    .describe('Spending of past periods; at least `32d`.'),
  deleted_destinations: retentionAge().prefault('90d').describe('Remains of deleted destinations.'),
  every: duration()
    .refine((ms) => ms >= 60_000 && ms <= DAY_MS, { error: 'a duration from 1m to 1d' })
    .prefault('1h')
    .describe('Between two rounds of cleaning.'),
})
  .refine(({ content = 0, generations }) => content <= generations, {
    path: ['content'],
    error: 'no more than generations, because content goes with its generation',
  })
  .prefault({})

export const toOverload = (entry: z.output<typeof overloadSection>): OverloadConfig => ({
  enabled: entry.enabled,
  eventLoopDelayMs: entry.event_loop_delay,
  memoryShare: entry.memory_percent / 100,
  calls: entry.calls,
})

export const toRetention = (entry: z.output<typeof retentionSection>): RetentionConfig => ({
  generationsMs: entry.generations,
  contentMs: entry.content ?? Math.min(CONTENT_MS, entry.generations),
  deadLettersMs: entry.dead_letters,
  activityMs: entry.activity,
  spendMs: entry.spend,
  deletedDestinationsMs: entry.deleted_destinations,
  everyMs: entry.every,
})
