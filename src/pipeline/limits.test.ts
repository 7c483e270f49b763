import { describe, expect, it } from 'vitest'
import { computeCost } from '../catalog/cost.ts'
import type { Call, CallTrace, Handler } from '../core/call.ts'
import { NO_COST } from '../core/cost.ts'
import type { CallLimits } from '../core/call-limits.ts'
import type { Counter, Reservation, Settlement, Verdict } from '../core/counter.ts'
import type { Endpoint } from '../core/endpoint.ts'
import { asGatewayError, type GatewayError } from '../core/error.ts'
import type { ModelEvent } from '../core/event.ts'
import type { Generation } from '../core/generation.ts'
import { createUsage } from '../core/usage.ts'
import { payTool } from './answer-cost.ts'
import { refusal } from './limit-refusal.ts'
import { createLimits } from './limits.ts'
import { verifies } from '../../e2e/requirements.ts'
import { manualClock } from '../testing/deterministic.ts'

/** One dollar per thousand tokens either way: prices that are easy to read. */
const PRICE = 1_000
const endpoint = (factor: number, more: Partial<Endpoint> = {}): Endpoint =>
  ({
    id: `e${factor}`,
    model: 'acme/small',
    providerName: 'Acme',
    pricing: { input: PRICE * factor, output: PRICE * factor },
    maxOutputTokens: 1_000,
    outputModalities: new Set(['text']),
    connection: { dialect: {}, options: {} },
    ...more,
  }) as Endpoint
const budget: CallLimits = [{ kind: 'key', subject: 'key:a', revision: 1, budgets: [{ interval: 'daily', limitUsd: 100 }], includeByok: false }]

function scene(
  limits: CallLimits | undefined | (() => CallLimits),
  verdict: (reservation: Reservation) => Verdict = ({ amountUsd = 0 }) => ({ ok: true, grantedUsd: amountUsd }),
  mayUseOwnKeys = false,
  counting: Partial<Counter> = {},
) {
  const reserved: Reservation[] = []
  const settled: Settlement[] = []
  const limited: string[] = []
  const counter: Counter = {
    reserve: (reservation) => {
      reserved.push(reservation)
      return Promise.resolve(verdict(reservation))
    },
    settle: (settlement) => {
      settled.push(settlement)
      return Promise.resolve()
    },
    close: () => Promise.resolve(),
    ...counting,
  }
  const served: { readonly [slug: string]: readonly Endpoint[] } = {
    'acme/small': [endpoint(1), endpoint(1.5), endpoint(50)],
    'acme/tiny': [endpoint(0.1)],
    'acme/mystery': [endpoint(1, { pricing: {} })],
  }
  const catalog = { find: (slug: string) => served[slug] && { slug, endpoints: served[slug] }, models: () => [] } as never
  const built = createLimits({
    counter,
    limitsOf: () => (typeof limits === 'function' ? limits() : limits),
    catalog: () => catalog,
    mayUseOwnKeys: () => mayUseOwnKeys,
    costOf: computeCost,
    policy: () => ({ unknownPrice: 'allow', expectedOutputTokens: 1_024 }),
    defaults: () => ({}),
    onLimited: (limit) => void limited.push(limit),
  })
  const trace = (parent?: CallTrace): CallTrace => ({
    strategy: 'direct',
    candidates: [],
    rejected: new Map(),
    attempts: [],
    pipeline: [],
    params: {},
    ...(parent === undefined ? {} : { parent }),
  })
  const call = (request: object = {}, parent?: CallTrace) =>
    ({
      id: 'gen-1',
      owner: {},
      clock: manualClock(),
      signal: new AbortController().signal,
      trace: trace(parent),
      request: { model: 'acme/small', input: [], max_output_tokens: 1_000, ...request },
    }) as unknown as Call
  return { built, reserved, settled, limited, call }
}
const drain = async (handler: Handler, call: Call): Promise<void> => {
  for await (const events of handler(call)) void events
}
const nothing: Handler = async function* () {
  yield []
}
const settledSoon = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))

describe('limits around a call', () => {
  it('do nothing at all for a caller without any', () => {
    const { built, reserved, call } = scene(undefined)
    const answer = (async function* () {})() as ReturnType<Handler>
    const one = call()
    expect(built.layer(() => answer)(one)).toBe(answer)
    expect(built.meter(() => answer)(one)).toBe(answer)
    expect(built.beforeAttempt(one, { endpoint: endpoint(1), isByok: false })).toBeUndefined()
    expect(reserved).toEqual([])
  })

  it('reserve at the price of the most expensive likely endpoint and check again only before one that is more expensive', async () => {
    const { built, reserved, call } = scene(budget)
    const one = call()
    await drain(
      built.layer(async function* (inner) {
        await built.beforeAttempt(inner, { endpoint: endpoint(1), isByok: false })
        await built.beforeAttempt(inner, { endpoint: endpoint(1.5), isByok: false })
        expect(reserved).toHaveLength(1)
        await built.beforeAttempt(inner, { endpoint: endpoint(50), isByok: false })
        yield []
      }),
      one,
    )
    expect(reserved.map(({ amountUsd }) => amountUsd)).toEqual([1.5, 50])
    expect(reserved.every(({ id }) => id === 'gen-1')).toBe(true)
  })

  it.each([
    ['a cheaper model', ['acme/tiny'], 0.1],
    ['one that nobody serves', ['acme/none'], 1],
    ['one whose price nobody knows', ['acme/mystery'], 0],
    ['a cheaper model behind it', ['acme/none', 'acme/tiny'], 0.1],
  ])('admit what is left for any of the models named: %s', async (_, models, leastUsd) => {
    const { built, reserved, call } = scene(budget)
    await drain(built.layer(nothing), call({ models }))
    expect(reserved).toMatchObject([{ amountUsd: 1.5, leastUsd }])
  })

  it(verifies('P29', 'reserve as much output as the caller names, however absurd it is'), async () => {
    const { built, reserved, call } = scene(budget)
    const absurd = call({ max_output_tokens: Number.MAX_SAFE_INTEGER })
    await drain(
      built.layer(async function* (inner) {
        await built.beforeAttempt(inner, { endpoint: endpoint(1, { maxOutputTokens: Infinity }), isByok: false })
        yield []
      }),
      absurd,
    )
    expect(reserved.at(-1)!.amountUsd).toBeGreaterThan(1e6)
    expect(reserved.at(-1)!.leastUsd).toBe(reserved.at(-1)!.amountUsd)
  })

  it('bound the output by the prices of long prompts where the prompt is one', async () => {
    const { built, call } = scene(budget, () => ({ ok: true, grantedUsd: 5 }))
    const tiers = [{ fromInputTokens: 50, output: 100 * PRICE }]
    const bounds: unknown[] = []
    for (const words of [1, 100]) {
      const input = [{ type: 'message', role: 'user', content: 'word '.repeat(words) }]
      await drain(
        built.layer(async function* (inner) {
          bounds.push(
            await built.beforeAttempt(inner, { endpoint: endpoint(1, { pricing: { input: 0, output: 10 * PRICE, tiers } }), isByok: false }),
          )
          yield []
        }),
        call({ input, max_output_tokens: null }),
      )
    }
    expect(bounds).toEqual([{ maxOutputTokens: 500 }, { maxOutputTokens: 64 }])
  })

  it('reserve for pictures what pictures cost, and bound the output by it', async () => {
    const { built, reserved, call } = scene(budget, () => ({ ok: true, grantedUsd: 5 }))
    const painter = endpoint(1, { pricing: { input: PRICE, output: PRICE, outputImage: 10 * PRICE } })
    for (const modalities of [['text'], ['image', 'text']] as const) {
      const one = call({ modalities })
      await drain(
        built.layer(async function* (inner) {
          const bound = await built.beforeAttempt(inner, { endpoint: painter, isByok: false })
          expect(bound).toEqual(modalities.includes('image' as never) ? { maxOutputTokens: 500 } : undefined)
          yield []
        }),
        one,
      )
    }
    expect(reserved.map(({ amountUsd }) => amountUsd)).toEqual([1.5, 1.5, 10])
  })

  it(verifies('P29', 'reserve what pictures cost also where nobody says what is wanted, and the model draws'), async () => {
    const { built, reserved, call } = scene(budget)
    const pricing = { input: PRICE, output: PRICE, outputImage: 10 * PRICE }
    for (const outputs of [['text'], ['text', 'image']] as const) {
      await drain(
        built.layer(async function* (inner) {
          await built.beforeAttempt(inner, { endpoint: endpoint(1, { pricing, outputModalities: new Set(outputs) }), isByok: false })
          yield []
        }),
        call(),
      )
    }
    expect(reserved.map(({ amountUsd }) => amountUsd)).toEqual([1.5, 1.5, 10])
  })

  it(verifies('P29', 'reserve a prompt as written into a cache where the model caches without being told'), async () => {
    const { built, reserved, call } = scene(budget, () => ({ ok: true, grantedUsd: 0 }))
    const pricing = { input: PRICE, output: 0, cacheWrite: 3 * PRICE }
    const input = [{ type: 'message', role: 'user', content: 'word '.repeat(100) }]
    for (const implicitCaching of [false, true]) {
      await drain(
        built.layer(async function* (inner) {
          await built.beforeAttempt(inner, { endpoint: endpoint(1, { pricing, implicitCaching }), isByok: false })
          yield []
        }),
        call({ input }),
      )
    }
    const [read, written] = reserved.filter((_, n) => n % 2 === 1).map(({ amountUsd }) => amountUsd!)
    expect(read).toBeGreaterThan(0)
    expect(written).toBeCloseTo(3 * read!, 9)
  })

  it(verifies('P29', 'bound the output by what the searches of a vendor leave'), async () => {
    const { built, reserved, call } = scene(budget, () => ({ ok: true, grantedUsd: 0.8 }))
    const searching = endpoint(1, { pricing: { input: 0, output: PRICE, webSearch: 0.1 } })
    const search = { type: 'web_search_20250305', name: 'web_search' }
    const bounds: unknown[] = []
    // None; one, as nobody says how many; as many as the caller allows.
    for (const tools of [undefined, [search], [{ ...search, max_uses: 3 }]]) {
      await drain(
        built.layer(async function* (inner) {
          bounds.push(await built.beforeAttempt(inner, { endpoint: searching, isByok: false }))
          yield []
        }),
        call({ tools }),
      )
    }
    expect(reserved.filter((_, n) => n % 2 === 1).map(({ amountUsd }) => Number(amountUsd!.toFixed(9)))).toEqual([1, 1.1, 1.3])
    expect(bounds).toEqual([{ maxOutputTokens: 800 }, { maxOutputTokens: 700 }, { maxOutputTokens: 500 }])
  })

  it(verifies('P29', 'reserve what is asked at several times the list price as what it costs, and bound the output by it'), async () => {
    const { built, reserved, call } = scene(budget, () => ({ ok: true, grantedUsd: 3 }))
    const dialect = { priceFactor: ({ speed }: { speed?: string }) => (speed === 'fast' ? 6 : 1) }
    const hasty = endpoint(1, { connection: { dialect, options: {} } as unknown as Endpoint['connection'] })
    const bounds: unknown[] = []
    for (const speed of ['standard', 'fast']) {
      await drain(
        built.layer(async function* (inner) {
          bounds.push(await built.beforeAttempt(inner, { endpoint: hasty, isByok: false }))
          yield []
        }),
        call({ speed }),
      )
    }
    expect(reserved.map(({ amountUsd }) => amountUsd)).toEqual([1.5, 1.5, 6])
    expect(bounds).toEqual([undefined, { maxOutputTokens: 500 }])
  })

  it('count the cost of an endpoint that broke in the middle of the answer', async () => {
    const { built, reserved, call } = scene(budget)
    await drain(
      built.layer(async function* (inner) {
        await built.beforeAttempt(inner, { endpoint: endpoint(1.5), isByok: false }, { ...NO_COST, total: 0.25 })
        yield []
      }),
      call(),
    )
    expect(reserved.map(({ amountUsd }) => amountUsd)).toEqual([1.5, 1.75])
  })

  it('settle once, with the recorded cost', async () => {
    const { built, settled, call } = scene([{ ...budget[0]!, tokensPerMinute: 5_000 }])
    const one = call()
    await drain(built.layer(nothing), one)
    built.finished({ cost: { total: 0.25 }, usage: createUsage({ inputTokens: 10, outputTokens: 20 }), isByok: false } as Generation, one)
    await settledSoon()
    expect(settled).toEqual([
      {
        id: 'gen-1',
        now: expect.any(Number),
        payments: [{ subject: 'key:a', spentUsd: 0.25, rates: [{ name: 'tokens', limit: 5_000, cost: 30 - 1_000 }] }],
      },
    ])
  })

  it('settle the tokens of models that tools and plugins asked, which are no part of the answer’s', async () => {
    const { built, settled, call } = scene([{ ...budget[0]!, tokensPerMinute: 5_000 }])
    const one = call()
    const answers = (tokens: number): Handler =>
      async function* (inner) {
        inner.trace.served = { endpoint: endpoint(1), status: 200, startedAt: 0 }
        yield [{ type: 'response-end', reason: 'stop', usage: createUsage({ outputTokens: tokens }) }]
      }
    await drain(
      built.layer(async function* (inner) {
        yield* built.meter(answers(400))(call({}, inner.trace))
        yield* built.meter(answers(30))(inner)
      }),
      one,
    )
    built.finished({ cost: { total: 0.43 }, usage: createUsage({ outputTokens: 30 }), isByok: false } as Generation, one)
    expect(settled[0]!.payments[0]!.rates).toEqual([{ name: 'tokens', limit: 5_000, cost: 430 - 1_000 }])
  })

  it('release the reservation of a call even if it is not recorded', async () => {
    const { built, settled, call } = scene(budget)
    const failing: Handler = async function* () {
      yield []
      throw new Error('broken')
    }
    await expect(drain(built.layer(failing), call())).rejects.toThrow('broken')
    const iterator = built.layer(nothing)(call())[Symbol.asyncIterator]()
    await iterator.next()
    await iterator.return?.()
    await settledSoon()
    expect(settled).toHaveLength(2)
  })

  it(verifies('H5', 'hold nothing for late requests of a finished call: pending admissions end before it is settled'), async () => {
    const steps: string[] = []
    const { built, call } = scene(budget, undefined, false, {
      reserve: async ({ amountUsd = 0 }) => {
        steps.push('reserve')
        if (steps.length > 1) await settledSoon()
        return { ok: true, grantedUsd: amountUsd }
      },
      settle: () => {
        steps.push('settle')
        return Promise.resolve()
      },
    })
    const one = call()
    const asks: Promise<unknown>[] = []
    const ask = (): void => void asks.push(Promise.resolve(built.beforeAttempt(call({}, one.trace), { endpoint: endpoint(50), isByok: false })))
    await drain(
      built.layer(async function* () {
        ask()
        ask()
        yield []
      }),
      one,
    )
    built.finished({ cost: NO_COST, usage: createUsage({}), isByok: false } as Generation, one)
    ask()
    const ended = await Promise.allSettled(asks)
    await settledSoon()
    const refused = { status: 'rejected', reason: expect.objectContaining({ message: 'The caller went away' }) }
    expect(ended).toEqual([expect.objectContaining({ status: 'fulfilled' }), refused, refused])
    expect(steps).toEqual(['reserve', 'reserve', 'settle'])
  })

  it('charge own keys only to subjects that count them', async () => {
    const { built, settled, call } = scene([budget[0]!, { ...budget[0]!, kind: 'workspace', subject: 'workspace:w+byok', includeByok: true }])
    const one = call()
    await drain(built.layer(nothing), one)
    // Two steps of a tool loop: one the gateway paid for, one on the caller's own key.
    built.finished({ cost: { total: 0.25, byok: 0.2 }, usage: createUsage({}), isByok: true } as Generation, one)
    expect(settled[0]!.payments.map(({ spentUsd }) => Math.round(spentUsd * 100) / 100)).toEqual([0.05, 0.25])
  })

  it('do not ask budgets that ignore own keys for an own key, even if another budget counts it', async () => {
    const mixed: CallLimits = [
      { ...budget[0]!, subject: 'key:a+byok', includeByok: true },
      { ...budget[0]!, kind: 'workspace', subject: 'workspace:w' },
    ]
    const { built, reserved, call } = scene(mixed, undefined, true)
    await drain(
      built.layer(async function* (inner) {
        for (const isByok of [true, false]) await built.beforeAttempt(inner, { endpoint: endpoint(1), isByok })
        yield []
      }),
      call(),
    )
    const asked = reserved.slice(1).map(({ charges }) => charges.filter(({ budgets }) => budgets.length > 0).map(({ subject }) => subject))
    expect(asked).toEqual([['key:a+byok'], ['key:a+byok', 'workspace:w']])
  })

  it(verifies('H5', 'bound a step of a tool loop by what the steps before it have left'), async () => {
    const { built, call } = scene(budget, () => ({ ok: true, grantedUsd: 1 }))
    const bounds: unknown[] = []
    const step: Handler = async function* (inner) {
      inner.trace.served = { endpoint: endpoint(1), status: 200, startedAt: 0 }
      bounds.push(await built.beforeAttempt(inner, { endpoint: endpoint(1), isByok: false }))
      yield [{ type: 'response-end', reason: 'stop', usage: createUsage({ outputTokens: 300 }) }]
    }
    await drain(
      built.layer(async function* (inner) {
        for (let turn = 0; turn < 3; turn++) yield* built.meter(step)(inner)
      }),
      call(),
    )
    expect(bounds).toEqual([undefined, { maxOutputTokens: 700 }, { maxOutputTokens: 400 }])
  })

  it.each([
    [true, [1.5, 1, 1.4, 1.8, 2.2]],
    [false, [1.5]],
  ])('count what steps have spent on own keys where a budget does: %s', async (includeByok, amounts) => {
    const { built, reserved, call } = scene([{ ...budget[0]!, includeByok }])
    const step: Handler = async function* (inner) {
      inner.trace.served = { endpoint: endpoint(1), status: 200, startedAt: 0, isByok: true }
      await built.beforeAttempt(inner, { endpoint: endpoint(1), isByok: true })
      yield [{ type: 'response-end', reason: 'stop', usage: createUsage({ outputTokens: 400 }) }]
    }
    await drain(
      built.layer(async function* (inner) {
        for (let turn = 0; turn < 3; turn++) yield* built.meter(step)(inner)
        // The gateway pays for the last one: what own keys have paid is no part of a budget that does not count them.
        await built.beforeAttempt(inner, { endpoint: endpoint(1), isByok: false })
      }),
      call(),
    )
    expect(reserved.map(({ amountUsd }) => Math.round(amountUsd! * 100) / 100)).toEqual(amounts)
  })

  it(verifies('H5', 'let a purchase leave what the model needs until it is asked, and from then on what it may cost'), async () => {
    const { built, reserved, call } = scene(budget)
    await drain(
      built.layer(async function* (inner) {
        for (const usd of [0.25, 0.75]) await built.beforePurchase(inner, usd)
        await built.beforeAttempt(inner, { endpoint: endpoint(1), isByok: false })
        await built.beforePurchase(inner, 0.5)
        yield []
      }),
      call(),
    )
    // Admission 1.5, which pays for 0.25 and a model of 1; both purchases and the model; all of them.
    expect(reserved.map(({ amountUsd }) => amountUsd)).toEqual([1.5, 2, 2.5])
  })

  it('take of the tokens per minute what is expected of an answer, and nothing for an answer of vectors', async () => {
    const rates: CallLimits = [{ ...budget[0]!, budgets: [], tokensPerMinute: 10_000 }]
    const { built, reserved, call } = scene(rates)
    for (const modalities of [['text'], ['embeddings']]) await drain(built.layer(nothing), call({ modalities, max_output_tokens: null }))
    expect(reserved.map(({ charges }) => charges[0]!.rates)).toEqual([
      [{ name: 'tokens', limit: 10_000, cost: 1_024 }],
      [{ name: 'tokens', limit: 10_000, cost: 0 }],
    ])
  })

  it(verifies('H5', 'add what earlier steps of a tool loop have spent, and what tools ask models meanwhile'), async () => {
    const { built, reserved, call } = scene(budget)
    const one = call()
    const usage = createUsage({ outputTokens: 400 })
    const step: Handler = async function* (inner) {
      inner.trace.served = { endpoint: endpoint(1), status: 200, startedAt: 0 }
      await built.beforeAttempt(inner, { endpoint: endpoint(1), isByok: false })
      yield [{ type: 'response-end', reason: 'stop', usage }]
    }
    await drain(
      built.layer(async function* (inner) {
        yield* built.meter(step)(inner)
        yield* built.meter(step)(inner)
        const asked = call({}, inner.trace)
        await built.beforeAttempt(inner, { endpoint: endpoint(1), isByok: false })
        yield* built.meter(step)(asked)
      }),
      one,
    )
    // Admission 1.5; two steps of 0.4 done, one of 1 under way, and the tool's own of 1.
    expect(reserved.map(({ amountUsd }) => Math.round(amountUsd! * 100) / 100)).toEqual([1.5, 1.8, 2.8])
  })

  it(
    verifies('H5', 'add what earlier steps have spent by an estimate where their upstream counts nothing, or an agent was left in the middle'),
    async () => {
      const { built, reserved, call } = scene(budget)
      const written = 'word'.repeat(400)
      const says = async function* (inner: Call, ...end: readonly ModelEvent[]): ReturnType<Handler> {
        await built.beforeAttempt(inner, { endpoint: endpoint(1), isByok: false })
        inner.trace.served = { endpoint: endpoint(1), status: 200, startedAt: 0, firstTokenMs: 1 }
        yield [{ type: 'text-delta', key: 'm', delta: written }]
        yield end
      }
      const uncounted: Handler = (inner) => says(inner, { type: 'response-end', reason: 'stop' })
      const left: Handler = async function* (inner) {
        yield* says(inner)
        throw new Error('the time of the agent is over')
      }
      const failing: Handler = async function* () {
        yield []
        throw new Error('nobody has written anything')
      }
      await drain(
        built.layer(async function* (inner) {
          yield* built.meter(uncounted)(inner)
          const agent = call({}, inner.trace)
          await expect(drain(built.meter(left), agent)).rejects.toThrow('over')
          await expect(drain(built.meter(failing), agent)).rejects.toThrow('nobody')
          await built.beforeAttempt(inner, { endpoint: endpoint(1), isByok: false })
        }),
        call(),
      )
      // Admission 1.5 holds the first step; 0.4 were written in it, and 0.4 by the agent.
      expect(reserved.map(({ amountUsd }) => Math.round(amountUsd! * 100) / 100)).toEqual([1.5, 1.8])
    },
  )

  it(verifies('H5', 'hold nothing for requests of a tool that has failed'), async () => {
    const { built, reserved, call } = scene(budget)
    const failing: Handler = async function* (inner) {
      await built.beforeAttempt(inner, { endpoint: endpoint(1), isByok: false })
      yield []
      throw new Error('nobody has written anything')
    }
    await drain(
      built.layer(async function* (inner) {
        for (let i = 0; i < 3; i++) await expect(drain(built.meter(failing), call({}, inner.trace))).rejects.toThrow('nobody')
        await built.beforeAttempt(inner, { endpoint: endpoint(1), isByok: false })
        yield []
      }),
      call(),
    )
    // What was admitted at the door covers each of them, one at a time.
    expect(reserved.map(({ amountUsd }) => amountUsd)).toEqual([1.5])
  })

  it(verifies('H5', 'count what tools cost besides the models they ask, those of agents, too'), async () => {
    const { built, reserved, call } = scene(budget)
    await drain(
      built.layer(async function* (inner) {
        const agent = call({}, inner.trace)
        payTool(inner.trace, 20)
        payTool(agent.trace, 3)
        await built.beforeAttempt(agent, { endpoint: endpoint(1), isByok: false })
        yield []
      }),
      call(),
    )
    expect(reserved.map(({ amountUsd }) => amountUsd)).toEqual([1.5, 24])
  })

  it(verifies('H5', 'price what a tool asks a model by its own prompt, however many items it has'), async () => {
    const { built, reserved, call } = scene(budget)
    const message = (words: number): object => ({ type: 'message', role: 'user', content: 'word '.repeat(words) })
    const outer = call({ input: [message(1)] })
    await drain(
      built.layer(async function* (inner) {
        const agents = call({ input: [message(50_000)] }, inner.trace)
        await built.beforeAttempt(agents, { endpoint: endpoint(1), isByok: false })
        yield []
      }),
      outer,
    )
    expect(reserved).toHaveLength(2)
    expect(reserved[1]!.amountUsd).toBeGreaterThan(50)
  })

  it(verifies('H5', 'still apply when an own key was tried first, which neither asks nor gets anything of the budget'), async () => {
    const nothingLeft = ({ amountUsd, charges }: Reservation): Verdict =>
      amountUsd !== undefined && charges.some(({ budgets }) => budgets.length > 0)
        ? { ok: false, reason: 'budget', subject: 'key:a', intervals: ['daily'], leftUsd: 0, availableUsd: 0 }
        : { ok: true, grantedUsd: amountUsd ?? 0 }
    const { built, reserved, call } = scene(budget, nothingLeft, true)
    const answer = drain(
      built.layer(async function* (inner) {
        await built.beforeAttempt(inner, { endpoint: endpoint(1), isByok: true })
        expect(reserved).toHaveLength(1)
        await built.beforeAttempt(inner, { endpoint: endpoint(1), isByok: false })
        yield []
      }),
      call(),
    )
    await expect(answer).rejects.toMatchObject({ errorType: 'payment_required' })
  })

  it.each([
    ['is looked for behind an own key that the caller has', false, true, 'next'],
    ['is not looked for if the caller has none', false, false, undefined],
    ['is not looked for behind the own key that was refused', true, true, undefined],
  ] as const)('say whether somebody else may pay, who %s', async (_, isByok, mayUseOwnKeys, failover) => {
    const refuses = ({ amountUsd = 0 }: Reservation): Verdict =>
      amountUsd <= 1.5
        ? { ok: true, grantedUsd: 0 }
        : { ok: false, reason: 'budget', subject: 'key:a', intervals: ['daily'], leftUsd: 0, availableUsd: 0 }
    const { built, call } = scene([{ ...budget[0]!, includeByok: true }], refuses, mayUseOwnKeys)
    let thrown: GatewayError | undefined
    await drain(
      built.layer(async function* (inner) {
        thrown = await built.beforeAttempt(inner, { endpoint: endpoint(2), isByok })?.then(() => undefined, asGatewayError)
        yield []
      }),
      call(),
    )
    expect([thrown?.errorType, thrown?.details.failover]).toEqual(['payment_required', failover])
  })

  it(verifies('H5', 'apply to calls that tools make at the same time'), async () => {
    const { built, call } = scene(budget, ({ amountUsd = 0, leastUsd = amountUsd }) =>
      leastUsd <= 2
        ? { ok: true, grantedUsd: Math.min(2, amountUsd) }
        : { ok: false, reason: 'budget', subject: 'key:a', intervals: ['daily'], leftUsd: 2, availableUsd: 2 },
    )
    let admitted = 0
    await drain(
      built.layer(async function* (inner) {
        const asks = Array.from({ length: 8 }, async () => built.beforeAttempt(call({}, inner.trace), { endpoint: endpoint(1.8), isByok: false }))
        admitted = (await Promise.allSettled(asks)).filter(({ status }) => status === 'fulfilled').length
        yield []
      }),
      call(),
    )
    expect(admitted).toBe(1)
  })

  it(verifies('H5', 'that are lowered meanwhile apply to the next turn of a call'), async () => {
    let current = budget
    const { built, reserved, settled, call } = scene(
      () => current,
      ({ amountUsd = 0, charges }) =>
        amountUsd <= charges[0]!.budgets[0]!.limitUsd
          ? { ok: true, grantedUsd: amountUsd }
          : { ok: false, reason: 'budget', subject: 'key:a', intervals: ['daily'], leftUsd: 0, availableUsd: 0 },
    )
    const one = call()
    const turn = () => built.beforeAttempt(one, { endpoint: endpoint(1), isByok: false })
    await drain(
      built.layer(async function* () {
        await turn()
        // Read anew and still the same: nobody has to be asked.
        current = [{ ...budget[0]! }]
        await turn()
        current = [{ ...budget[0]!, revision: 2, budgets: [{ interval: 'daily', limitUsd: 0.001 }], tokensPerMinute: 7 }]
        await expect(turn()).rejects.toMatchObject({ status: 402 })
        yield []
      }),
      one,
    )
    expect(reserved.map(({ charges }) => charges[0]!.revision)).toEqual([1, 2])
    await settledSoon()
    // Nothing was taken of a rate that did not exist.
    expect(settled[0]!.payments[0]!.rates).toEqual([])
  })

  it(
    verifies('H5', 'apply to the next turn also if they have the time of those before: the clock was set back, or another process is behind'),
    async () => {
      let current = budget
      const { built, reserved, call } = scene(() => current)
      const one = call()
      const turn = () => built.beforeAttempt(one, { endpoint: endpoint(1), isByok: false })
      await drain(
        built.layer(async function* () {
          await turn()
          current = [{ ...budget[0]!, budgets: [{ interval: 'daily', limitUsd: 50 }] }]
          await turn()
          yield []
        }),
        one,
      )
      expect(reserved.map(({ charges }) => charges[0]!.budgets[0]!.limitUsd)).toEqual([100, 50])
    },
  )

  it('let a cheaper endpoint serve what a more expensive one may not, as long as anything is left', async () => {
    const left = (availableUsd: number) =>
      refusal({ ok: false, reason: 'budget', subject: 'key:a', intervals: ['daily'], leftUsd: availableUsd, availableUsd }, budget, 0).details
        .failover
    expect([left(0.5), left(0)]).toEqual(['next', undefined])
  })

  it('say what was refused: 402 for a key, 403 for a workspace, 429 with headers, 503 when nothing is known', async () => {
    const workspace: CallLimits = [{ ...budget[0]!, kind: 'workspace', subject: 'workspace:w' }]
    const cases: readonly (readonly [CallLimits, Verdict, object])[] = [
      [
        budget,
        { ok: false, reason: 'budget', subject: 'key:a', intervals: ['daily'], leftUsd: 0, availableUsd: 0 },
        { status: 402, errorType: 'payment_required' },
      ],
      [
        workspace,
        { ok: false, reason: 'budget', subject: 'workspace:w', intervals: ['monthly', 'daily'], leftUsd: 0, availableUsd: 0 },
        { status: 403, message: expect.stringContaining('monthly') },
      ],
      [budget, { ok: false, reason: 'open', subject: 'key:a', limit: 3 }, { status: 429 }],
      [budget, { ok: false, reason: 'unknown', subject: 'key:a' }, { status: 503 }],
    ]
    for (const [limits, verdict, expected] of cases) {
      const { built, call } = scene(limits, () => verdict)
      await expect(drain(built.layer(nothing), call())).rejects.toMatchObject(expected)
    }
  })

  it.each<readonly [Extract<Verdict, { readonly ok: false }>, readonly string[]]>([
    [
      {
        ok: false,
        reason: 'rate',
        subject: 'key:a',
        rate: 'tokens',
        state: { limit: 9, remaining: 0, resetAt: 60_000 },
        retryAfterMs: 1_000,
      },
      ['tokens'],
    ],
    [{ ok: false, reason: 'open', subject: 'key:a', limit: 3 }, ['concurrent_requests']],
    [{ ok: false, reason: 'budget', subject: 'key:a', intervals: ['daily'], leftUsd: 0, availableUsd: 0 }, []],
    [{ ok: false, reason: 'unknown', subject: 'key:a' }, []],
  ])('tell of rate limits, and of no others: %o', async (verdict, expected) => {
    const { built, limited, call } = scene(budget, () => verdict)
    await expect(drain(built.layer(nothing), call())).rejects.toThrow()
    expect(limited).toEqual(expected)
  })
})
