import { afterAll, beforeAll, expect } from 'vitest'
import { startFakeUpstream, type FakeUpstream, type Reply, type SeenRequest } from '../../src/testing/fake-upstream.ts'
import { SPEAKERS, type SpeakerName, type Turn } from '../../src/testing/scripted-model.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'

/** Every client's tests run with an upstream of each of these formats behind the gateway. */
export const DIALECTS: readonly SpeakerName[] = ['openai-chat', 'openai-responses']

export const MODEL = 'acme/small'

/** A gateway in front of one scripted upstream. */
export interface Stage {
  readonly dialect: SpeakerName
  gateway(): TestGateway
  /** The base URL in the form that clients expect. */
  baseURL(): string
  /** Sets what the upstream does with the next requests, in order; the last repeats. Forgets earlier requests. */
  says(...turns: readonly (Turn | Reply)[]): void
  /** The requests since `says`, in a form common to both formats. */
  heard(): readonly Heard[]
  /** Resolves with the time when the upstream has noticed that the caller of its n-th request hung up. */
  hungUp(n?: number): Promise<number>
}

/** One upstream request, read independently of the gateway's own code. */
export interface Heard {
  readonly body: { readonly [field: string]: unknown }
  readonly tools: readonly { readonly name: string; readonly parameters: unknown }[]
  /** The calls of all assistant turns, grouped by turn. */
  readonly callTurns: readonly (readonly { readonly id: string; readonly name: string; readonly arguments: string }[])[]
  readonly results: readonly { readonly id: string; readonly output: string }[]
  readonly images: readonly string[]
  readonly system: string
  readonly schema: unknown
}

/**
 * Starts gateway and upstream for the tests of the enclosing `describe`. Retries and cooldowns are off, so each test sees one attempt. `declared`: what
 * the configuration declares about the upstream if it accepts more than its format by default.
 */
export function setStage(
  dialect: SpeakerName,
  declared: { readonly supports?: readonly string[]; readonly options?: { readonly [option: string]: unknown } } = {},
): Stage {
  let gateway: TestGateway | undefined
  let upstream: FakeUpstream | undefined
  let from = 0
  const { supports, options } = declared
  beforeAll(async () => {
    upstream = await startFakeUpstream()
    gateway = await startGateway({
      providers: [{ slug: 'acme', name: 'Acme', dialect, base_url: upstream.url, api_keys: ['upstream-key'], ...(options && { options }) }],
      models: [
        {
          slug: MODEL,
          context_length: 128_000,
          endpoints: [{ provider: 'acme', upstream_model: 'small-1', pricing: { input: 1, output: 2 }, ...(supports && { supports }) }],
        },
      ],
      routing: { cooldown: false, retries: false, sticky: false },
      // Clients connect in advance, and a stop waits for what they have to say: a second for each of them, for nothing.
      server: { shutdown_grace: '100ms' },
    })
  })
  afterAll(async () => {
    await gateway?.close()
    await upstream?.close()
  })
  const requests = (): readonly SeenRequest[] => upstream!.requests.slice(from)
  return {
    dialect,
    gateway: () => gateway!,
    baseURL: () => `${gateway!.url}/api/v1`,
    says(...turns) {
      from = upstream!.requests.length
      upstream!.script(...turns.map((turn) => (typeof turn === 'function' ? turn : SPEAKERS[dialect].speak(turn))))
    },
    heard: () =>
      requests().map(({ body, path, headers }) => {
        expect(path).toBe(`/v1${SPEAKERS[dialect].path}`)
        expect(headers.authorization).toBe('Bearer upstream-key')
        return dialect === 'openai-chat' ? readChat(body) : readResponses(body)
      }),
    async hungUp(n = 0) {
      const until = performance.now() + 5_000
      while (performance.now() < until) {
        const at = requests()[n]?.abortedAt
        if (at !== undefined) return at
        await new Promise((resolve) => setTimeout(resolve, 2))
      }
      throw new Error('the upstream was never left')
    },
  }
}

/** Waits until the upstream has received the n-th request since `says`. */
export async function arrived(stage: Stage, n = 1): Promise<void> {
  const until = performance.now() + 5_000
  while (stage.heard().length < n) {
    if (performance.now() > until) throw new Error(`the upstream got ${stage.heard().length} requests, not ${n}`)
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}

/** A script that sends a few events and then stalls. */
export const hesitates =
  (dialect: SpeakerName, turn: Turn): Reply =>
  async (request, response) => {
    const whole: string[] = []
    const recorder = { writeHead: () => undefined, flushHeaders: () => undefined, write: (text: string) => whole.push(text), end: () => undefined }
    await SPEAKERS[dialect].speak({ ...turn, fails: 'never told' })(request, recorder as never)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.flushHeaders()
    // Everything except the error; what was begun stays open.
    for (const frame of whole.slice(0, -1)) response.write(frame)
  }

type Json = { readonly [field: string]: unknown }

function readChat(body: Json): Heard {
  const messages = body['messages'] as readonly (Json & { role: string; content: unknown })[]
  const parts = messages.flatMap(({ content }) => (Array.isArray(content) ? (content as Json[]) : []))
  const calls = (message: Json) => (message['tool_calls'] ?? []) as { id: string; function: { name: string; arguments: string } }[]
  return {
    body,
    tools: ((body['tools'] ?? []) as { function: { name: string; parameters: unknown } }[]).map((tool) => tool.function),
    callTurns: messages.map((message) => calls(message).map(({ id, function: called }) => ({ id, ...called }))).filter((turn) => turn.length > 0),
    results: messages
      .filter(({ role }) => role === 'tool')
      .map((message) => ({ id: String(message['tool_call_id']), output: textOf(message.content) })),
    images: parts.filter((part) => part['type'] === 'image_url').map((part) => (part['image_url'] as { url: string }).url),
    system: messages
      .filter(({ role }) => role === 'system' || role === 'developer')
      .map(({ content }) => textOf(content))
      .join('\n'),
    schema: (body['response_format'] as { json_schema?: { schema?: unknown } } | undefined)?.json_schema?.schema,
  }
}

function readResponses(body: Json): Heard {
  const input = body['input'] as readonly Json[]
  const parts = input.flatMap((item) => (Array.isArray(item['content']) ? (item['content'] as Json[]) : []))
  const turns: { id: string; name: string; arguments: string }[][] = []
  let inTurn = false
  for (const item of input) {
    const isCall = item['type'] === 'function_call'
    if (isCall) {
      if (!inTurn) turns.push([])
      turns.at(-1)!.push({ id: String(item['call_id']), name: String(item['name']), arguments: String(item['arguments']) })
    }
    inTurn = isCall
  }
  const spoken = input.filter((item) => item['role'] === 'system' || item['role'] === 'developer')
  return {
    body,
    tools: (body['tools'] ?? []) as Heard['tools'],
    callTurns: turns,
    results: input
      .filter((item) => item['type'] === 'function_call_output')
      .map((item) => ({ id: String(item['call_id']), output: textOf(item['output']) })),
    images: parts.filter((part) => part['type'] === 'input_image').map((part) => String(part['image_url'])),
    system: [textOf(body['instructions']), ...spoken.map((item) => textOf(item['content']))].filter((text) => text !== '').join('\n'),
    schema: (body['text'] as { format?: { schema?: unknown } } | undefined)?.format?.schema,
  }
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  return ((content ?? []) as { text?: string }[]).map(({ text }) => text ?? '').join('')
}

// ---- what the tests of all clients share ----

export const PIXEL = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** Two calls in one turn, then the answer that needs both results. */
export const WEATHER_TURNS: readonly Turn[] = [
  {
    reasoning: 'Two cities, two calls.',
    calls: [
      { id: 'call_bern', name: 'weather', arguments: ['{"city"', ':"Bern"}'] },
      { id: 'call_oslo', name: 'weather', arguments: ['{"city":', '"Oslo"}'] },
    ],
  },
  { text: ['Bern is sunny, ', 'Oslo is sunny.'] },
]

export const WEATHER_SCHEMA = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false } as const

export const weatherIn = (city: string): string => `sunny in ${city}`

/** Checks the second request of a weather loop, whichever client made it. */
export function expectWeatherLoop(stage: Stage): void {
  const [first, second, ...more] = stage.heard()
  expect(more).toEqual([])
  expect(first!.tools.map(({ name }) => name)).toEqual(['weather'])
  expect(second!.callTurns).toHaveLength(1)
  expect(second!.callTurns[0]!.map(({ id, name, arguments: args }) => [id, name, JSON.parse(args)])).toEqual([
    ['call_bern', 'weather', { city: 'Bern' }],
    ['call_oslo', 'weather', { city: 'Oslo' }],
  ])
  expect(second!.results.map(({ id }) => id)).toEqual(['call_bern', 'call_oslo'])
  for (const [n, city] of ['Bern', 'Oslo'].entries()) expect(second!.results[n]!.output).toContain(weatherIn(city))
}

/** HTTP errors of the upstream, and how the caller must see them. */
export const UPSTREAM_ERRORS = [
  { name: 'a wrong parameter', upstream: 400, status: 400, message: "Invalid value for 'temperature'", errorType: 'invalid_request' },
  { name: 'a rate limit', upstream: 429, status: 429, message: 'Slow down', errorType: 'rate_limit_exceeded' },
  { name: 'an overloaded upstream', upstream: 503, status: 503, message: 'Overloaded', errorType: 'provider_overloaded' },
  { name: 'a rejected credential of the gateway', upstream: 401, status: 502, message: 'Incorrect API key', errorType: 'provider_unavailable' },
] as const
