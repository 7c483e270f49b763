import { createHash } from 'node:crypto'
import type { ChainableCommander, Redis } from 'ioredis'
import { TTL_MS } from './scripts.ts'

/** What Redis holds for a call under way. */
export interface OpenCall {
  readonly places: readonly Place[]
  /** If it was reserved in this process while Redis was away: among how many processes the limits were shared. Undefined: reserved in Redis. */
  readonly aloneAmong: number | undefined
}

export interface Place {
  readonly subject: string
  /** What the call reserves of the subject's budgets, nanodollars; 0 without budgets. */
  readonly nanos: number
}

export interface OpenPlacesOptions {
  readonly redis: Redis
  readonly namespace: string
  readonly leaseMs: number
  readonly openCalls: ReadonlyMap<string, OpenCall>
}

interface Held {
  readonly id: string
  readonly call: OpenCall
  readonly nanos: number
}

interface Group {
  readonly subject: string
  readonly calls: readonly Held[]
}

/** Calls renewed in one round trip, so that others wait for none of them long. */
const AT_ONCE = 500

/** Keys as in `scripts.ts`; ARGV: id, end of the lease, nanodollars, lifetime of the keys. Harmless for a call that is still known. */
const PUT_BACK = `
local key, open, held = KEYS[1], KEYS[2], KEYS[3]
local reserved = tonumber(redis.call('HGET', key, 'reserved'))
if not reserved then
  reserved = 0
  for _, amount in ipairs(redis.call('HVALS', held)) do reserved = reserved + tonumber(amount) end
end
-- The same as when a call is reserved: what is left of a sum whose parts are lost would never be given back.
if redis.call('EXISTS', open, held) < 2 then
  reserved = 0
  redis.call('DEL', held)
end
redis.call('ZADD', open, ARGV[2], ARGV[1])
redis.call('PEXPIRE', open, ARGV[4])
if ARGV[3] ~= '0' and redis.call('HSETNX', held, ARGV[1], ARGV[3]) == 1 then
  redis.call('PEXPIRE', held, ARGV[4])
  redis.call('HSET', key, 'reserved', string.format('%.0f', reserved + tonumber(ARGV[3])))
  redis.call('PEXPIRE', key, ARGV[4])
end
return 1
`
const SHA = createHash('sha1').update(PUT_BACK).digest('hex')

/**
 * The places of this process's open calls in Redis: renewed with each heartbeat, and put back if Redis has lost them (emptied, restarted without its
 * data, an eviction) or others ended them because this process was stopped for longer than a lease. `renew` rejects if Redis refuses it.
 */
export function createOpenPlaces({ redis, namespace, leaseMs, openCalls }: OpenPlacesOptions): { renew(serverNow: number): Promise<void> } {
  const keys = (subject: string) => [`{${namespace}}:${subject}`, `{${namespace}}:${subject}:open`, `{${namespace}}:${subject}:held`] as const

  /** Renews, and resolves with the calls that Redis does not know, or whose amount it does not know. */
  const lostOf = async (groups: readonly Group[], lease: number): Promise<readonly Group[]> => {
    const pipeline = redis.pipeline()
    for (const { subject, calls } of groups) {
      const [, open, held] = keys(subject)
      pipeline.zadd(open, 'XX', 'CH', ...calls.flatMap(({ id }) => [lease, id]))
      pipeline.hmget(held, ...calls.map(({ id }) => id))
    }
    const replies = await accepted(pipeline)
    return groups.map(({ subject, calls }, i) => {
      const [renewed, amounts] = [replies[2 * i] as number, replies[2 * i + 1] as readonly (string | null)[]]
      return { subject, calls: renewed < calls.length ? calls : calls.filter(({ nanos }, j) => nanos > 0 && amounts[j] === null) }
    })
  }

  const putBack = async (groups: readonly Group[], lease: number): Promise<void> => {
    const pipeline = redis.pipeline()
    for (const { subject, calls } of groups) {
      for (const { id, call, nanos } of calls) {
        // Ended or reserved anew meanwhile: then this would come too late.
        if (openCalls.get(id) !== call) continue
        // Once with its text. Sent again by itself after the server did not know it, it could come after the end of its call.
        if (pipeline.length === 0) pipeline.eval(PUT_BACK, 3, ...keys(subject), id, lease, nanos, TTL_MS)
        else pipeline.evalsha(SHA, 3, ...keys(subject), id, lease, nanos, TTL_MS)
      }
    }
    if (pipeline.length > 0) await accepted(pipeline)
  }

  return {
    async renew(serverNow) {
      const lease = serverNow + leaseMs
      for (const groups of batches(openCalls)) await putBack(await lostOf(groups, lease), lease)
    },
  }
}

/** Reserved in Redis, by subject, a limited number at a time. */
function* batches(openCalls: ReadonlyMap<string, OpenCall>): Iterable<readonly Group[]> {
  let groups = new Map<string, Held[]>()
  let count = 0
  for (const [id, call] of openCalls) {
    if (call.aloneAmong !== undefined) continue
    for (const { subject, nanos } of call.places) {
      const calls = groups.get(subject)
      if (calls) calls.push({ id, call, nanos })
      else groups.set(subject, [{ id, call, nanos }])
      count++
    }
    if (count < AT_ONCE) continue
    yield Array.from(groups, ([subject, calls]) => ({ subject, calls }))
    groups = new Map()
    count = 0
  }
  if (count > 0) yield Array.from(groups, ([subject, calls]) => ({ subject, calls }))
}

/** The replies of all commands. Rejects with the first error. */
export async function accepted(pipeline: ChainableCommander): Promise<unknown[]> {
  const replies = (await pipeline.exec()) ?? []
  const refusal = replies.find(([error]) => error !== null)?.[0]
  if (refusal) throw refusal
  return replies.map(([, reply]) => reply)
}
