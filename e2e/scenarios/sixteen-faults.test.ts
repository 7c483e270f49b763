import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkWire } from '../../src/testing/check-wire.ts'
import {
  CHAT_USAGE,
  chatEvents,
  chatText,
  reset,
  silence,
  startFakeUpstream,
  status,
  stream,
  type FakeUpstream,
  type Reply,
} from '../../src/testing/fake-upstream.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { verifies } from '../requirements.ts'

/**
 * The sixteen faults of a public fault lab, over real sockets and under the gateway's own default limits: a caller streams, a primary model misbehaves,
 * and a fallback model may serve. All rows run at the same time, each against its own upstreams. Times are measured at the caller.
 */

interface Answer {
  readonly status: number
  /** From sending the request to the last byte. */
  readonly ms: number
  /** The model that served, and its text; both are undefined for an HTTP error. */
  readonly model?: string
  readonly text?: string
  readonly terminal?: string
  readonly response: { readonly [field: string]: unknown }
  readonly error?: { readonly message: string; readonly metadata: { readonly [field: string]: unknown } }
  readonly generationId: string
}

/** The environment of a row: two upstreams and a caller. */
interface Lab {
  readonly primary: FakeUpstream
  readonly fallback: FakeUpstream
  /** Streams from the primary model, with or without the fallback model behind it. */
  ask(options?: { readonly alone?: boolean; readonly streamFailure?: 'continue' | 'buffer' }): Promise<Answer>
  api(path: string): Promise<{ readonly data: { readonly [field: string]: unknown } }>
}

interface Row {
  /** Cites the id of the row's fault. */
  readonly title: string
  readonly timeouts?: object
  run(lab: Lab): Promise<void>
}

const WORDS = Array.from({ length: 60 }, (_, n) => `word${n} `)
const FALLBACK = 'the fallback answers'
const healthy = (...pieces: readonly string[]): Reply => stream(chatText(...pieces))
const busy = { error: { message: 'The engine is overloaded', type: 'server_error' } }
const limited = { error: { message: 'Rate limit reached', type: 'rate_limit_error' } }
const tooLong = { error: { message: 'The maximum context length is 8000 tokens', type: 'invalid_request_error', code: 'context_length_exceeded' } }
const flagged = { error: { message: 'The prompt was flagged as hateful', type: 'invalid_request_error', code: 'content_policy_violation' } }

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const tries = ({ requests }: FakeUpstream): number => requests.length
/** The largest number of requests within any period of `ms`. */
const burst = ({ requests }: FakeUpstream, ms: number, from = 0): number => {
  const tried = requests.slice(from)
  return Math.max(0, ...tried.map(({ at }) => tried.filter((other) => other.at >= at && other.at < at + ms).length))
}

/** `usage`: the usage of one answer, or more if several endpoints contributed. */
function expectServed(answer: Answer, from: 'primary' | 'fallback', text: string, usage: 'whole' | 'more' = 'whole'): void {
  const input = usage === 'whole' ? CHAT_USAGE.prompt_tokens : expect.any(Number)
  expect(answer).toMatchObject({ status: 200, terminal: 'response.completed', text, response: { usage: { input_tokens: input } } })
  expect(answer.model).toMatch(new RegExp(`/${from}$`))
}
/** A clear, typed failure in the stream, and never a success without its end. */
function expectBroken(answer: Answer, errorType: string, text: string): void {
  expect(answer).toMatchObject({ status: 200, terminal: 'response.failed', text, response: { error_type: errorType } })
}

const ROWS: readonly Row[] = [
  {
    title: verifies('C1', '429 with Retry-After: 2, then healthy'),
    async run({ primary, fallback, ask }) {
      primary.script(status(429, limited, { 'retry-after': '2' }), healthy('waited'))
      fallback.script(healthy(FALLBACK))
      expectServed(await ask({ alone: true }), 'primary', 'waited')
      expect(tries(primary)).toBe(2)
      expect(primary.requests[1]!.at - primary.requests[0]!.at).toBeGreaterThanOrEqual(1_800)
      primary.script(status(429, limited, { 'retry-after': '2' }))
      expectServed(await ask(), 'fallback', FALLBACK)
      expect(burst(primary, 1_500)).toBeLessThanOrEqual(2)
    },
  },
  {
    title: verifies('C2', '429 always, without a hint'),
    async run({ primary, fallback, ask }) {
      primary.script(status(429, limited))
      fallback.script(healthy(FALLBACK))
      expectServed(await ask(), 'fallback', FALLBACK)
      const before = tries(primary)
      expect(before).toBe(1)
      const alone = await ask({ alone: true })
      expect(alone).toMatchObject({ status: 429, error: { metadata: { error_type: 'rate_limit_exceeded' } } })
      expect(burst(primary, 3_000, before)).toBeLessThanOrEqual(4)
      expect(tries(primary) - before).toBeGreaterThan(1)
      expect(tries(primary)).toBeLessThanOrEqual(6)
    },
  },
  {
    title: verifies('C3', '500 once, then healthy'),
    async run({ primary, fallback, ask }) {
      primary.script(status(500, busy), healthy('once more'))
      expectServed(await ask(), 'primary', 'once more')
      expect([tries(primary), tries(fallback)]).toEqual([2, 0])
    },
  },
  {
    title: verifies('C4', '503 always'),
    async run({ primary, fallback, ask }) {
      primary.script(status(503, busy))
      fallback.script(healthy(FALLBACK))
      expectServed(await ask(), 'fallback', FALLBACK)
      const alone = await ask({ alone: true })
      expect(alone).toMatchObject({ status: 503, error: { message: expect.stringContaining('overloaded'), metadata: { source: 'provider' } } })
      expect(tries(primary)).toBeLessThanOrEqual(6)
    },
  },
  {
    title: verifies('C5', 'a reset before the headers, once'),
    async run({ primary, fallback, ask }) {
      primary.script(reset(), healthy('after the reset'))
      expectServed(await ask(), 'primary', 'after the reset')
      expect([tries(primary), tries(fallback)]).toEqual([2, 0])
    },
  },
  {
    title: verifies('C6', 'accepted and never answered'),
    async run({ primary, fallback, ask }) {
      primary.script(silence())
      fallback.script(healthy(FALLBACK))
      const answer = await ask()
      expectServed(answer, 'fallback', FALLBACK)
      expect(answer.ms).toBeLessThan(100_000)
      expect([tries(primary), tries(fallback)]).toEqual([1, 1])
    },
  },
  {
    title: verifies('C7', 'headers at once, the first token after 20 s'),
    async run({ primary, fallback, ask }) {
      primary.script(stream(chatText('late'), { firstMs: 20_000 }))
      fallback.script(healthy(FALLBACK))
      const answer = await ask()
      expectServed(answer, 'fallback', FALLBACK)
      expect(answer.ms).toBeLessThan(15_000)
      expect(tries(primary)).toBe(1)
    },
  },
  {
    title: verifies('C8', 'the stream dies after 40 of 60 tokens'),
    async run({ primary, fallback, ask }) {
      const forty = [chatEvents.role(), ...WORDS.slice(0, 40).map(chatEvents.text)]
      fallback.script(healthy(FALLBACK))
      for (const then of ['end', 'reset'] as const) {
        primary.script(stream(forty, { everyMs: 2, then }))
        expectBroken(await ask(), 'provider_unavailable', WORDS.slice(0, 40).join(''))
      }
      expect(tries(fallback)).toBe(0)
    },
  },
  {
    title: verifies('C8', 'the same for callers who opted into a rescue'),
    async run({ primary, fallback, ask }) {
      primary.script(stream([chatEvents.role(), ...WORDS.slice(0, 40).map(chatEvents.text)], { everyMs: 2, then: 'end' }))
      fallback.script(healthy(...WORDS.slice(40)), healthy(...WORDS))
      expectServed(await ask({ streamFailure: 'continue' }), 'fallback', WORDS.join(''), 'more')
      expectServed(await ask({ streamFailure: 'buffer' }), 'fallback', WORDS.join(''))
    },
  },
  {
    title: verifies('C9', '20 tokens, then 30 s of silence'),
    async run({ primary, fallback, ask }) {
      const twenty = [chatEvents.role(), ...WORDS.slice(0, 20).map(chatEvents.text)]
      primary.script(async (seen, response) => {
        await stream(twenty, { then: 'hang' })(seen, response)
        await pause(30_000)
        response.end()
      }, healthy('well again'))
      const answer = await ask()
      expectBroken(answer, 'provider_unavailable', WORDS.slice(0, 20).join(''))
      expect(answer.ms).toBeLessThan(45_000)
      expectServed(await ask(), 'primary', 'well again')
      expect(tries(fallback)).toBe(0)
    },
  },
  {
    title: verifies('C9', '20 tokens, then 30 s of silence, then the rest'),
    async run({ primary, fallback, ask }) {
      const events = chatText(...WORDS)
      primary.script(async (seen, response) => {
        await stream(events.slice(0, 21), { then: 'hang' })(seen, response)
        await pause(30_000)
        for (const event of events.slice(21)) response.write(typeof event === 'string' ? event : `data: ${JSON.stringify(event)}\n\n`)
        response.end()
      })
      expectServed(await ask(), 'primary', WORDS.join(''))
      expect(tries(fallback)).toBe(0)
    },
  },
  {
    title: verifies('C9', '20 tokens, then silence without end'),
    async run({ primary, ask }) {
      primary.script(stream([chatEvents.role(), ...WORDS.slice(0, 20).map(chatEvents.text)], { then: 'hang' }), healthy('well again'))
      const answer = await ask()
      expectBroken(answer, 'timeout', WORDS.slice(0, 20).join(''))
      expect(answer.ms).toBeLessThan(45_000)
      expectServed(await ask(), 'primary', 'well again')
      expect(primary.requests[0]!.abortedAt).toBeDefined()
    },
  },
  {
    title: verifies('C9', '20 tokens, then silence without end, where 10 s of it are allowed'),
    timeouts: { idle: '10s' },
    async run({ primary, ask }) {
      primary.script(stream([chatEvents.role(), ...WORDS.slice(0, 20).map(chatEvents.text)], { then: 'hang' }), healthy('well again'))
      const answer = await ask()
      expectBroken(answer, 'timeout', WORDS.slice(0, 20).join(''))
      expect(answer.ms).toBeLessThan(15_000)
      expectServed(await ask(), 'primary', 'well again')
      expect(primary.requests[0]!.abortedAt).toBeDefined()
    },
  },
  {
    title: verifies('C10', 'one event in the middle is not JSON'),
    async run({ primary, fallback, ask }) {
      const events = chatText(...WORDS)
      primary.script(stream([...events.slice(0, 30), 'data: {"choices":[{"delta":{"content": oops\n\n', ...events.slice(30)]))
      expectServed(await ask(), 'primary', WORDS.join(''))
      expect(tries(fallback)).toBe(0)
    },
  },
  {
    title: verifies('C11', 'a complete stream without [DONE]'),
    async run({ primary, ask }) {
      for (const then of ['end', 'hang'] as const) {
        primary.script(stream(chatText(...WORDS).slice(0, -1), { then }))
        const answer = await ask()
        expectServed(answer, 'primary', WORDS.join(''))
        expect(answer.ms).toBeLessThan(8_000)
      }
    },
  },
  {
    title: verifies('C12', '400 context_length_exceeded'),
    async run({ primary, fallback, ask }) {
      primary.script(status(400, tooLong))
      fallback.script(healthy(FALLBACK))
      expectServed(await ask(), 'fallback', FALLBACK)
      expect([tries(primary), tries(fallback)]).toEqual([1, 1])
    },
  },
  {
    title: verifies('C13', '400 content_policy_violation'),
    async run({ primary, fallback, ask }) {
      primary.script(status(400, flagged))
      fallback.script(status(400, flagged))
      const reason = {
        status: 400,
        error: { message: expect.stringContaining('flagged as hateful'), metadata: { error_type: 'content_policy_violation' } },
      }
      expect(await ask()).toMatchObject(reason)
      expect([tries(primary), tries(fallback)]).toEqual([1, 1])
      expect(await ask({ alone: true })).toMatchObject(reason)
      expect(tries(primary)).toBe(2)
    },
  },
  {
    title: verifies('C14', 'the stream dies half-way and the fallback rejects assistant prefill'),
    async run({ primary, fallback, ask }) {
      primary.script(stream([chatEvents.role(), ...WORDS.slice(0, 30).map(chatEvents.text)], { then: 'reset' }))
      fallback.script(refusesPrefill)
      for (const rescue of [{}, { streamFailure: 'continue' }] as const) {
        const answer = await ask(rescue)
        expectBroken(answer, 'provider_unavailable', WORDS.slice(0, 30).join(''))
        expect(JSON.stringify(answer.response)).not.toContain('prefill')
        expect(tries(fallback)).toBe('streamFailure' in rescue ? 1 : 0)
      }
      expectServed(await ask({ streamFailure: 'buffer' }), 'fallback', FALLBACK)
    },
  },
  {
    title: verifies('C15', 'the primary answers 503 for a while, then recovers; a request every second'),
    async run({ primary, fallback, ask }) {
      // Longer than the time until the circuit opens (under 4 s on a busy machine) plus its first wait, so at least one probe falls into it.
      const OUTAGE_MS = 10_000
      const began = performance.now()
      const after = (): number => performance.now() - began
      primary.script((seen, response) => (after() < OUTAGE_MS ? status(503, busy) : healthy('back'))(seen, response))
      fallback.script(healthy(FALLBACK))
      let calls = 0
      let back = 0
      while (after() < OUTAGE_MS + 30_000 && back < 3) {
        const answer = await ask()
        calls++
        back = answer.text === 'back' ? back + 1 : 0
        if (back === 0) expectServed(answer, 'fallback', FALLBACK)
        await pause(Math.max(0, calls * 1_000 - after()))
      }
      expect(back).toBe(3)
      const during = primary.requests.filter(({ at }) => at - began < OUTAGE_MS)
      // Two calls with a retry each open the circuit; all further requests are probes.
      expect(during.length).toBeLessThanOrEqual(5)
      expect(during.at(-1)!.at - began).toBeGreaterThan(4_000)
    },
  },
  {
    title: verifies('C16', '503 always, and the bill names the fallback alone'),
    async run({ primary, fallback, ask, api }) {
      primary.script(status(503, busy))
      fallback.script(healthy(FALLBACK))
      const answer = await ask()
      expectServed(answer, 'fallback', FALLBACK)
      // 18 tokens at 10 USD per million; the primary would have cost a hundred times as much.
      expect((answer.response['usage'] as { cost: number }).cost).toBeCloseTo(180e-6, 12)
      const { data } = await api(`/api/v1/generation?id=${answer.generationId}`)
      expect(data['model']).toBe(answer.model)
      expect(data['total_cost']).toBeCloseTo(180e-6, 12)
    },
  },
]

/** A server that requires a user message at the end, as some do. */
function refusesPrefill(...[seen, response]: Parameters<Reply>): void {
  const messages = seen.body['messages'] as readonly { readonly role: string }[]
  const prefilled = messages.at(-1)?.role === 'assistant'
  const reply = prefilled
    ? status(400, { error: { message: 'This model does not support assistant message prefill', type: 'invalid_request_error' } })
    : healthy(FALLBACK)
  void reply(seen, response)
}

describe('the sixteen faults', () => {
  let gateway: TestGateway
  const upstreams: FakeUpstream[] = []
  const runs: Promise<{ readonly error?: Error }>[] = []
  const times = new Map<string, number>()

  beforeAll(async () => {
    for (let n = 0; n < 2 * ROWS.length; n++) upstreams.push(await startFakeUpstream())
    gateway = await startGateway(labConfig(upstreams))
    for (const [n, row] of ROWS.entries()) runs.push(measured(row, labOf(gateway, n, upstreams[2 * n]!, upstreams[2 * n + 1]!)))
  })
  afterAll(async () => {
    process.stdout.write(`${ROWS.map(({ title }) => `${((times.get(title) ?? 0) / 1000).toFixed(2).padStart(7)} s  ${title}`).join('\n')}\n`)
    await gateway.close()
    await Promise.all(upstreams.map((upstream) => upstream.close()))
  })

  async function measured(row: Row, lab: Lab): Promise<{ readonly error?: Error }> {
    const started = performance.now()
    try {
      await row.run(lab)
      return {}
    } catch (error) {
      return { error: error instanceof Error ? error : new Error(String(error)) }
    } finally {
      times.set(row.title, performance.now() - started)
    }
  }

  it.each(ROWS.map(({ title }, n) => [title, n] as const))('%s', { timeout: 60_000 }, async (_title, n) => {
    const { error } = await runs[n]!
    if (error !== undefined) throw error
  })
})

/** Two providers and two models per row. The fallback is cheaper, so only the caller's order puts the primary first. */
function labConfig(upstreams: readonly FakeUpstream[]): { readonly [key: string]: unknown } {
  const place = (n: number): { readonly row: number; readonly role: 'primary' | 'fallback' } => ({
    row: n >> 1,
    role: n % 2 === 0 ? 'primary' : 'fallback',
  })
  return {
    providers: upstreams.map(({ url }, n) => {
      const { row, role } = place(n)
      return {
        slug: `${role}${row}`,
        name: `${role} ${row}`,
        dialect: 'openai-chat',
        base_url: url,
        api_keys: ['k'],
        timeouts: ROWS[row]!.timeouts ?? {},
      }
    }),
    models: upstreams.map((_, n) => {
      const { row, role } = place(n)
      const price = role === 'primary' ? 1_000 : 10
      return {
        slug: `row${row}/${role}`,
        context_length: 128_000,
        endpoints: [{ provider: `${role}${row}`, upstream_model: role, pricing: { input: price, output: price } }],
      }
    }),
  }
}

function labOf(gateway: TestGateway, row: number, primary: FakeUpstream, fallback: FakeUpstream): Lab {
  return {
    primary,
    fallback,
    async ask({ alone = false, streamFailure } = {}) {
      const models = alone ? [`row${row}/primary`] : [`row${row}/primary`, `row${row}/fallback`]
      const started = performance.now()
      const headers: Readonly<Record<string, string>> = streamFailure === undefined ? {} : { 'x-gateway-stream-failure': streamFailure }
      const response = await gateway.respond({ models, input: 'hi', stream: true }, { headers })
      const body = await response.text()
      const facts = { status: response.status, ms: performance.now() - started, generationId: response.headers.get('x-generation-id') ?? '' }
      if (response.status !== 200) return { ...facts, response: {}, error: (JSON.parse(body) as { error: NonNullable<Answer['error']> }).error }
      const { terminal, text } = checkWire(body)
      const answer = terminal['response'] as { readonly model: string; readonly [field: string]: unknown }
      return { ...facts, terminal: terminal.type, text, model: answer.model, response: answer }
    },
    api: async (path) => (await gateway.api('GET', path)).json() as Promise<{ readonly data: { readonly [field: string]: unknown } }>,
  }
}
