import { describe, expect, it } from 'vitest'
import type { CacheLifetime } from '../core/item.ts'
import type { ModelRequest } from '../core/request.ts'
import { GatewayError } from '../core/error.ts'
import { testCatalog, testEndpoint } from '../testing/endpoints.ts'
import { fastestOf } from '../testing/fastest-of.ts'
import { createHealth } from './health.ts'
import { hash64, sampleText, unitHash } from './hash.ts'
import { planRoute } from './plan.ts'
import { createSticky, pinTtl } from './sticky.ts'
import type { PinStore } from './sticky.ts'
import { verifies } from '../../e2e/requirements.ts'
import { manualClock } from '../testing/deterministic.ts'

const clock = manualClock()
const chat = (...messages: readonly (readonly [role: 'system' | 'user' | 'assistant' | 'developer', text: string])[]): ModelRequest => ({
  input: messages.map(([role, content]) => ({ type: 'message' as const, role, content })),
})
const MINUTE = 60_000

describe('the session key', () => {
  const sticky = createSticky({ clock })
  const id = (request: ModelRequest, sessionId?: string, workspace = 'w'): string | undefined => sticky.open(workspace, request, sessionId)?.id

  it('is session_id, else the header, else prompt_cache_key', () => {
    const full: ModelRequest = { ...chat(['user', 'hi']), session_id: 's', prompt_cache_key: 'p' }
    const { session_id: _session, ...keyed } = full
    expect(id(full)).toBe(id({ input: [], session_id: 's' }))
    expect(id(full, 'header')).toBe(id(full))
    expect(id(keyed, 's')).toBe(id(full))
    expect(id(keyed)).toBe(id({ input: [], prompt_cache_key: 'p' }))
    expect(sticky.open('w', full)?.explicit).toBe(true)
  })
  it(verifies('P25', 'is else the first system or developer message and the first other one'), () => {
    const opening = id(chat(['system', 'be brief'], ['user', 'hi']))
    expect(id(chat(['system', 'be brief'], ['user', 'hi'], ['assistant', 'yes?'], ['user', 'more']))).toBe(opening)
    expect(id(chat(['developer', 'be brief'], ['user', 'hi']))).toBe(opening)
    expect(id({ ...chat(['user', 'hi']), instructions: 'be brief' })).toBe(opening)
    expect(id(chat(['system', 'be long'], ['user', 'hi']))).not.toBe(opening)
    expect(id(chat(['system', 'be brief'], ['user', 'ho']))).not.toBe(opening)
    expect(sticky.open('w', chat(['user', 'hi']))?.explicit).toBe(false)
    expect(sticky.open('w', chat(['system', 'alone']))).toBeUndefined()
  })
  it(verifies('F7', 'P25', 'belongs to a workspace, and a derived key never equals an explicit one'), () => {
    expect(id({ input: [], session_id: 's' }, undefined, 'w1')).not.toBe(id({ input: [], session_id: 's' }, undefined, 'w2'))
    expect(id({ input: [], session_id: '\u0000hi' })).not.toBe(id(chat(['user', 'hi'])))
  })
  it('is the text of all parts of a message, and no item that is none', () => {
    const parts = (...texts: readonly string[]): ModelRequest => ({
      input: [
        { type: 'reasoning', id: 'rs_1', summary: [] },
        { type: 'message', role: 'user', content: texts.map((text) => ({ type: 'input_text', text })) },
      ],
    })
    expect(id(parts('hi ', 'there'))).toBe(id(chat(['user', 'hi there'])))
    expect(id(parts('hi', 'you'))).not.toBe(id(parts('hi', 'all')))
  })
  it('tells media apart without reading it', () => {
    const image = (url: string): ModelRequest => ({
      input: [
        {
          type: 'message',
          role: 'user',
          content: [
            { type: 'input_text', text: 'what?' },
            { type: 'input_image', image_url: url },
          ],
        },
      ],
    })
    expect(id(image(`data:${'A'.repeat(100_000)}x`))).not.toBe(id(image(`data:${'A'.repeat(100_000)}y`)))
    const [small, large] = [image(`data:${'A'.repeat(1_000)}`), image(`data:${'A'.repeat(4_000_000)}`)]
    expect(fastestOf(() => id(large), 200)).toBeLessThan(50 * fastestOf(() => id(small), 200))
  })
})

describe('hashing', () => {
  it('samples long text by head, tail and length', () => {
    const long = 'x'.repeat(10_000)
    expect(sampleText(long).length).toBeLessThan(700)
    expect(sampleText(long)).not.toBe(sampleText(`${long}x`))
    expect(sampleText('short')).toBe('short')
  })
  it('spreads evenly and does not collide on near keys', () => {
    const seen = new Set<string>()
    const buckets = Array.from({ length: 16 }, () => 0)
    for (let n = 0; n < 20_000; n++) {
      const { high, low } = hash64(`session-${n}`)
      seen.add(`${high}.${low}`)
      const unit = unitHash(low, 77)
      expect(unit > 0 && unit < 1).toBe(true)
      buckets[Math.floor(unit * 16)]!++
    }
    expect(seen.size).toBe(20_000)
    for (const count of buckets) expect(Math.abs(count - 1_250)).toBeLessThan(150)
  })
})

describe('pins', () => {
  const setup = (options: { readonly maxEntries?: number; readonly store?: PinStore; readonly limitMs?: number } = {}) => {
    const time = manualClock()
    return { time, sticky: createSticky({ clock: time, ...options }) }
  }
  const served = (endpointId: string, cachedTokens = 0): { readonly model: string; readonly endpointId: string; readonly cachedTokens: number } => ({
    model: 'm',
    endpointId,
    cachedTokens,
  })
  const keyed: ModelRequest = { input: [], session_id: 's' }

  it('an explicit key pins from the first success', () => {
    const { sticky } = setup()
    const session = sticky.open('w', keyed)!
    expect(session.pinned('m')).toBeUndefined()
    sticky.succeeded(session, served('a'))
    expect(session.pinned('m')).toBe('a')
    expect(session.pinned('other')).toBeUndefined()
  })
  it('without a key the first cache read pins', () => {
    const { sticky } = setup()
    const session = sticky.open('w', chat(['user', 'hi']))!
    sticky.succeeded(session, served('a'))
    expect(session.pinned('m')).toBeUndefined()
    sticky.succeeded(session, served('a', 1_000))
    expect(session.pinned('m')).toBe('a')
    sticky.succeeded(session, served('b'))
    expect(session.pinned('m')).toBe('b')
  })
  it('moves only when another endpoint succeeds, and not for a manual order', () => {
    const { sticky } = setup()
    const session = sticky.open('w', keyed)!
    sticky.succeeded(session, served('a'))
    sticky.succeeded(session, served('b'), true)
    expect(session.pinned('m')).toBe('a')
    sticky.succeeded(session, served('b'))
    expect(session.pinned('m')).toBe('b')
  })
  it(verifies('P24', 'ends ten minutes after its last use'), () => {
    const { time, sticky } = setup()
    const session = sticky.open('w', keyed)!
    sticky.succeeded(session, served('a'))
    time.advance(9 * MINUTE)
    sticky.succeeded(session, served('a'))
    time.advance(9 * MINUTE)
    expect(session.pinned('m')).toBe('a')
    time.advance(MINUTE)
    expect(session.pinned('m')).toBeUndefined()
    expect(sticky.size).toBe(0)
  })
  it(verifies('P24', 'lives as long as the cache the request declares'), () => {
    expect(pinTtl({ input: [] })).toBe(10 * MINUTE)
    expect(pinTtl({ input: [], cache_control: { type: 'ephemeral', ttl: '5m' } })).toBe(10 * MINUTE)
    expect(pinTtl({ input: [], cache_control: { type: 'ephemeral', ttl: '1h' } })).toBe(60 * MINUTE)
    expect(pinTtl({ input: [], prompt_cache_options: { mode: 'explicit', ttl: '30m' } })).toBe(30 * MINUTE)
    expect(pinTtl({ input: [], prompt_cache_retention: '24h' })).toBe(24 * 60 * MINUTE)
    expect(pinTtl({ input: [], prompt_cache_retention: '999999d' })).toBe(24 * 60 * MINUTE)
    expect(pinTtl({ input: [], prompt_cache_retention: 'in_memory' })).toBe(10 * MINUTE)
    const marked = (ttl?: CacheLifetime) => ({
      type: 'input_text' as const,
      text: 'q',
      prompt_cache_breakpoint: { mode: 'explicit' as const, ...(ttl === undefined ? {} : { ttl }) },
    })
    const user = (...content: ReturnType<typeof marked>[]) => ({ type: 'message' as const, role: 'user' as const, content })
    expect(pinTtl({ input: [user(marked('5m')), user(marked())] })).toBe(10 * MINUTE)
    expect(pinTtl({ input: [user(marked('30m')), user(marked('5m'))] })).toBe(30 * MINUTE)
    expect(pinTtl({ input: [user(marked('1h')), user(marked('12h'), marked('30m'))] })).toBe(12 * 60 * MINUTE)
    expect(pinTtl({ input: [user(marked(), marked('1h')), user(marked('5m'))] })).toBe(60 * MINUTE)
    expect(pinTtl({ input: [{ type: 'function_call_output', call_id: 'c', output: [marked('1h')] }] })).toBe(60 * MINUTE)
    const { prompt_cache_breakpoint } = marked('1h')
    expect(pinTtl({ input: [], tools: [{ type: 'function', name: 'f', prompt_cache_breakpoint }] })).toBe(60 * MINUTE)
    expect(pinTtl({ input: [{ type: 'function_call', call_id: 'c', name: 'f', arguments: '{}', prompt_cache_breakpoint }] })).toBe(60 * MINUTE)
  })
  it('without a key and a cache read nothing is pinned, whatever other sessions do', () => {
    const { sticky } = setup()
    sticky.succeeded(sticky.open('w', keyed)!, served('a'))
    const opening = sticky.open('w', chat(['user', 'hi']))!
    sticky.succeeded(opening, served('a'))
    expect([opening.pinned('m'), sticky.size]).toEqual([undefined, 1])
  })
  it('evicts the least recently used first', () => {
    const { sticky } = setup({ maxEntries: 2 })
    const [first, second, third] = [0, 1, 2].map((n) => sticky.open('w', { input: [], session_id: `s${n}` })!)
    for (const session of [first!, second!, first!, third!]) sticky.succeeded(session, served('a'))
    expect([first, second, third].map((session) => session!.pinned('m'))).toEqual(['a', undefined, 'a'])
  })
  it('keeps a bounded table, evicting the oldest first', () => {
    const { sticky } = setup({ maxEntries: 3 })
    const sessions = [0, 1, 2, 3].map((n) => sticky.open('w', { input: [], session_id: `s${n}` })!)
    for (const session of sessions) sticky.succeeded(session, served('a'))
    expect(sticky.size).toBe(3)
    expect(sessions.map((session) => session.pinned('m'))).toEqual([undefined, 'a', 'a', 'a'])
  })
  it('shares pins through a store, is notified of moved pins, and works without a store that is slow or broken', async () => {
    const shared = new Map<string, string>()
    let tell: (pin: { readonly key: string; readonly endpointId: string }) => void = () => undefined
    const store: PinStore = { get: async (key) => shared.get(key), set: (key, id) => void shared.set(key, id) }
    const [here, there] = [setup({ store }).sticky, setup({ store }).sticky]
    here.succeeded(here.open('w', keyed)!, served('a'))
    const session = there.open('w', keyed)!
    await there.load(session, ['m'])
    expect(session.pinned('m')).toBe('a')

    const follower = setup({ store: { ...store, listen: (handler) => void (tell = handler) } }).sticky
    const followed = follower.open('w', keyed)!
    await follower.load(followed, ['m'])
    const moves: boolean[] = []
    const mover = setup({ store: { ...store, set: (_key, _id, _ttl, moved) => void moves.push(moved) } }).sticky
    for (const endpoint of ['a', 'a', 'b']) mover.succeeded(mover.open('w', keyed)!, served(endpoint))
    expect(moves).toEqual([false, false, true])
    tell({ key: `${followed.id}/m`, endpointId: 'b' })
    tell({ key: `${followed.id}/unknown`, endpointId: 'b' })
    expect([followed.pinned('m'), followed.pinned('unknown'), follower.size]).toEqual(['b', undefined, 1])

    const hanging = createSticky({ clock, limitMs: 5, store: { get: () => new Promise(() => undefined), set: () => undefined } })
    await hanging.load(hanging.open('w', keyed)!, ['m'])
    const broken = createSticky({ clock, store: { get: () => Promise.reject(new Error('lost')), set: () => undefined } })
    await broken.load(broken.open('w', keyed)!, ['m'])
    expect(broken.open('w', keyed)?.pinned('m')).toBeUndefined()
  })
  it('uses a shared pin that arrives in time, unless a call has set one meanwhile', async () => {
    const answers: ((endpointId: string | undefined) => void)[] = []
    const asked: string[] = []
    const slow: PinStore = {
      get: (key) => new Promise((resolve) => void (asked.push(key), answers.push(resolve))),
      set: () => undefined,
    }
    const { sticky } = setup({ store: slow, limitMs: 10_000 })
    const session = sticky.open('w', keyed)!
    const loaded = sticky.load(session, ['m', 'other', 'none'])
    sticky.succeeded(session, served('mine'))
    for (const [n, endpointId] of ['theirs', 'theirs', undefined].entries()) answers[n]!(endpointId)
    await loaded
    expect(['m', 'other', 'none'].map((model) => session.pinned(model))).toEqual(['mine', 'theirs', undefined])
    expect(sticky.size).toBe(2)
    // Known pins are not requested again.
    void sticky.load(session, ['m', 'other'])
    expect(asked).toHaveLength(3)

    const hasty = setup({ store: slow, limitMs: 5 }).sticky
    const late = hasty.open('w', keyed)!
    await hasty.load(late, ['m'])
    answers.at(-1)!('theirs')
    await Promise.resolve()
    await Promise.resolve()
    expect(late.pinned('m')).toBeUndefined()
  })
})

describe('several processes without shared state', () => {
  const prices = [1, 1.5, 2, 2.5, 3]
  const endpoints = prices.map((price, i) => testEndpoint({ tag: `p${i}`, pricing: { input: price, output: price } }))
  const catalog = testCatalog(endpoints)
  const down = new GatewayError('provider_unavailable', 'down', { source: 'provider' })
  const requestOf = (session: number): ModelRequest => ({ model: 'acme/small', input: [], session_id: `session-${session}` })

  const cluster = () => {
    const time = manualClock()
    const processes = Array.from({ length: 4 }, (_, n) => ({
      sticky: createSticky({ clock: time }),
      health: createHealth({ clock: time }),
      random: () => (n + 1) * 0.2,
    }))
    /** One request of a session through one process; the first live endpoint serves. Returns its tag. */
    const route = (session: number, process: number, dead?: string): string => {
      const { sticky, health, random } = processes[process]!
      const request = requestOf(session)
      const opened = sticky.open('w', request)!
      const plan = planRoute({ request, catalog, health: health.view(), session: opened, random, now: time.now() })
      for (const { endpoint } of plan.attempts) {
        health.started(endpoint.id)
        if (endpoint.tag === dead) {
          health.failure(endpoint.id, down)
          continue
        }
        health.success(endpoint.id, {})
        sticky.succeeded(opened, { model: 'acme/small', endpointId: endpoint.id, cachedTokens: 0 })
        return endpoint.tag
      }
      return 'none'
    }
    /** A request of each session through each process; returns the tags that served, by session. */
    const round = (dead?: string): readonly (readonly string[])[] =>
      Array.from({ length: 1_000 }, (_, session) => processes.map((_process, n) => route(session, n, dead)))
    return { time, processes, route, round }
  }

  it('agree on every session; a failed endpoint moves only its own sessions; its return moves none back until pins end', () => {
    const { time, round } = cluster()
    const before = round()
    for (const tags of before) expect(new Set(tags).size).toBe(1)
    const home = before.map(([tag]) => tag)
    const count = (tag: string): number => home.filter((one) => one === tag).length
    // Weighted: the cheapest holds about 1 / (1 + .44 + .25 + .16 + .11) = 51 %.
    expect(count('p0')).toBeGreaterThan(450)
    expect(count('p0')).toBeLessThan(570)
    expect(count('p4')).toBeGreaterThan(20)

    const during = round('p0')
    during.forEach((tags, n) => {
      expect(new Set(tags).size).toBe(1)
      if (home[n] === 'p0') expect(tags[0]).not.toBe('p0')
      else expect(tags[0]).toBe(home[n])
    })

    time.advance(MINUTE)
    round().forEach((tags, n) => expect(tags).toEqual(during[n]))

    // After the pins have expired, each session returns to its original endpoint.
    time.advance(11 * MINUTE)
    round().forEach((tags, n) => expect(tags).toEqual(before[n]))
  })
  it('agree after an outage even on sessions that some of them have not seen since', () => {
    const { time, processes, route } = cluster()
    for (const { health } of processes) for (let n = 0; n < 3; n++) health.failure(endpoints[0]!.id, down)
    const moved = Array.from({ length: 200 }, (_, session) => route(session, session % 4, 'p0'))
    time.advance(2 * MINUTE)
    moved.forEach((tag, session) => {
      for (let process = 0; process < 4; process++) expect(route(session, process)).toBe(tag)
    })
  })
  it('lets calls without a session return at once', () => {
    const { time, processes } = cluster()
    const { health } = processes[0]!
    for (let n = 0; n < 3; n++) health.failure(endpoints[0]!.id, down)
    time.advance(5_000)
    health.started(endpoints[0]!.id)
    health.success(endpoints[0]!.id, {})
    const plan = planRoute({ request: { model: 'acme/small', input: [] }, catalog, health: health.view(), random: () => 0, now: time.now() })
    expect(plan.attempts[0]?.endpoint.tag).toBe('p0')
  })
})
