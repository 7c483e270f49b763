import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { chatEvents, chatText, startFakeUpstream, stream, type FakeUpstream, type Reply } from '../../src/testing/fake-upstream.ts'
import { chatConfig, startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { calls } from '../../src/testing/tool-script.ts'
import { verifies } from '../requirements.ts'

/** Callers who let a model write but disconnect before its last word, so that nobody reports the usage. */
let upstream: FakeUpstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startFakeUpstream()
  gateway = await startGateway(chatConfig([upstream.url], { routing: { sticky: false, cooldown: false, retries: false } }))
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const PIECE = 'word '.repeat(100)
const PIECES = 20
/** Four characters per token, at two dollars per million tokens. */
const TOKENS = (PIECE.length * PIECES) / 4
const USD = TOKENS * 2e-6

const written = {
  text: Array.from({ length: PIECES }, () => chatEvents.text(PIECE)),
  reasoning: Array.from({ length: PIECES }, () => chatEvents.reasoning(PIECE)),
  'arguments of a call': [chatEvents.call(0, 'call_1', 'write', '{"text":"'), ...Array.from({ length: PIECES }, () => chatEvents.args(0, PIECE))],
}
const TOOLS = [{ type: 'function', name: 'write', parameters: { type: 'object' } }]

const spent = async (): Promise<number> =>
  ((await (await gateway.api('GET', '/api/v1/key', undefined, gateway.key)).json()) as { data: { usage: number } }).data.usage

/** The cost of a call whose caller disconnected once the upstream had written everything but the end. */
async function costOfLeaving(
  events: readonly unknown[],
  body: object,
  headers: { readonly [name: string]: string } = {},
  turns: readonly Reply[] = [],
): Promise<number> {
  let sent = false
  const all = stream([chatEvents.role(), ...events], { then: 'hang' })
  upstream.script(...turns, async (request, response) => {
    await all(request, response)
    sent = true
  })
  const before = await spent()
  const gone = new AbortController()
  const answer = gateway.respond({ model: 'acme/small', input: 'hi', tools: TOOLS, ...body }, { signal: gone.signal, headers })
  const read = answer.then((response) => response.text())
  read.catch(() => undefined)
  await vi.waitFor(() => expect(sent).toBe(true))
  // The last bytes are read a moment after they are written.
  await new Promise((resolve) => setTimeout(resolve, 100))
  gone.abort()
  await expect(read).rejects.toThrow()
  await vi.waitFor(() => expect(gateway.app.calls.size).toBe(0))
  return (await spent()) - before
}

describe.each([
  ['read it', { stream: true }, {}],
  ['did not read it, for the answer was to come in one piece', {}, {}],
  ['did not read it, for the stream was held back', { stream: true }, { 'x-gateway-stream-failure': 'buffer' }],
] as const)('a caller who leaves and %s', (_name, body, headers) => {
  it.each(Object.entries(written))(verifies('P29', 'pays for the %s the model wrote'), async (_what, events) => {
    const cost = await costOfLeaving(events, body, headers)
    expect(cost).toBeGreaterThan(USD * 0.9)
    expect(cost).toBeLessThan(USD * 1.2)
  })

  it(verifies('P29', 'pays nothing where the model wrote nothing'), async () => {
    expect(await costOfLeaving([], body, headers)).toBe(0)
  })
})

const USAGE = { prompt_tokens: 10, completion_tokens: TOKENS, total_tokens: TOKENS + 10 }

describe('a caller who leaves while a tool asks models', () => {
  it.each([true, false])(verifies('P29', 'pays for those that have answered, read or not (stream: %s)'), async (streamed) => {
    const tasks = ['one', 'two'].map((task) => ['subagent', { task_name: task, task_description: task }] as const)
    const answered = stream([...chatText('done').slice(0, 3), chatEvents.usage(USAGE), chatEvents.done()])
    const cost = await costOfLeaving([], { stream: streamed, tools: [{ type: 'gateway:subagent' }] }, {}, [calls(...tasks), answered])
    expect(cost).toBeGreaterThan(USD * 0.9)
    expect(cost).toBeLessThan(USD * 1.2)
  })
})

describe('a caller who leaves in the second turn of a tool loop', () => {
  const call = chatEvents.call(0, 'call_1', 'datetime', '{}')
  const first = stream([chatEvents.role(), call, chatEvents.finish('tool_calls'), chatEvents.usage(USAGE), chatEvents.done()])
  const tools = [{ type: 'gateway:datetime' }]

  it.each([true, false])(verifies('P29', 'pays for the first turn, whether the caller saw it or not (stream: %s)'), async (streamed) => {
    const cost = await costOfLeaving([], { stream: streamed, tools }, {}, [first])
    expect(cost).toBeGreaterThan(USD * 0.9)
    expect(cost).toBeLessThan(USD * 1.2)
  })

  it.each([true, false])(verifies('P29', 'pays for the part of the second turn that was sent, or would have been (stream: %s)'), async (streamed) => {
    const cost = await costOfLeaving(written.text, { stream: streamed, tools }, {}, [first])
    expect(cost).toBeGreaterThan(USD * 1.9)
    expect(cost).toBeLessThan(USD * 2.3)
  })
})
