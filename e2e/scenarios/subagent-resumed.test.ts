import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { startFakeSite, type FakeSite } from '../../src/testing/fake-site.ts'
import { chatEvents, startFakeUpstream, status, type FakeUpstream, type Reply } from '../../src/testing/fake-upstream.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { askGateway, calls, says } from '../../src/testing/tool-script.ts'

/** Subagents that go on with the results of functions: what they cost if the answer fails afterwards, and odd histories. */
type Json = Record<string, unknown>

let upstream: FakeUpstream
let web: FakeSite
let gateway: TestGateway
let scripts: { [model: string]: Reply[] } = {}

beforeAll(async () => {
  upstream = await startFakeUpstream((request, response) => {
    const script = scripts[request.body['model'] as string] ?? []
    const reply = script.length > 1 ? script.shift() : script[0]
    return (reply ?? status(500, { error: { message: 'not scripted' } }))(request, response)
  })
  web = await startFakeSite((_request, response) => {
    const results = [{ url: 'https://example.com/orders', title: 'Orders', content: 'They are shipped.' }]
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ results }))
  })
  gateway = await startGateway({
    network: { allow_private: { tools: true } },
    tools: { web_search: { engines: { searxng: { base_url: web.url, price: 0.01 } } } },
    providers: [{ slug: 'acme', name: 'Acme', dialect: 'openai-chat', base_url: upstream.url, api_keys: ['upstream-key'] }],
    models: ['small', 'big'].map((name) => ({
      slug: `acme/${name}`,
      context_length: 64_000,
      endpoints: [{ provider: 'acme', upstream_model: name, pricing: { input: 1, output: 2 } }],
    })),
    routing: { sticky: false, cooldown: false },
  })
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
  web.close()
})
beforeEach(() => {
  scripts = {}
})

const order = { type: 'function', name: 'look_up', parameters: { type: 'object', properties: { id: { type: 'string' } } } }
const worker = (parameters: Json = {}): Json => ({
  type: 'gateway:subagent',
  parameters: { model: 'acme/big', inherited_function_names: ['look_up'], ...parameters },
})
const tools = [order, worker()]
const task = { task_name: 'find', task_description: 'Find order 1.' }
const question = { type: 'message', role: 'user', content: 'Where is it?' }
const result = (call: Json | undefined): Json => ({ type: 'function_call_output', call_id: call!['call_id'], output: 'found' })
const messagesTo = (model: string) => upstream.requests.findLast(({ body }) => body['model'] === model)!.body['messages'] as readonly Json[]

/** A conversation in which a subagent waits for a result, which is the last item. */
async function suspended(before: readonly Json[] = [question]): Promise<readonly Json[]> {
  scripts = { small: [calls(['subagent', task])], big: [calls(['look_up', { id: '1' }])] }
  const { output } = await askGateway(gateway, { input: before, tools }, false)
  return [...before, ...output, result(output[1])]
}

/** Begins an answer, and nothing more. */
const pauses: Reply = (_request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const event of [chatEvents.role(), chatEvents.text('Some words.')]) response.write(`data: ${JSON.stringify(event)}\n\n`)
}

async function newKey() {
  const made = await gateway.api('POST', '/api/v1/keys', { name: 'own' })
  const { data, key } = (await made.json()) as { data: { hash: string }; key: string }
  const usage = async () => ((await (await gateway.api('GET', `/api/v1/keys/${data.hash}`)).json()) as { data: { usage: number } }).data.usage
  return { key, usage }
}

it.each([true, false])('is paid if the model fails afterwards (stream: %s)', async (stream) => {
  const input = await suspended()
  const { key, usage } = await newKey()
  scripts = { small: [status(400, { error: { message: 'no' } })], big: [says('Shipped.')] }
  const response = await gateway.respond({ model: 'acme/small', input, tools, stream }, { key })
  const text = await response.text()
  expect(text.includes('Shipped.')).toBe(stream)
  await expect.poll(usage).toBe(25e-6)
})

it.each([
  [true, 'afterwards', { small: [pauses], big: [says('Shipped.')] }, 25e-6],
  [true, 'meanwhile', { small: [says('no')], big: [pauses] }, 5e-6],
  [false, 'meanwhile', { small: [says('no')], big: [pauses] }, 5e-6],
] as const)('is paid by a caller who leaves (stream: %s, %s)', async (stream, _when, { small, big }, least) => {
  const input = await suspended()
  const { key, usage } = await newKey()
  const before = upstream.requests.length
  scripts = { small: [...small], big: [...big] }
  const leaving = new AbortController()
  const answer = gateway.respond({ model: 'acme/small', input, tools, stream }, { key, signal: leaving.signal }).then((response) => response.text())
  const pausing = small[0] === pauses ? 2 : 1
  const leave = async (): Promise<void> => {
    await expect.poll(() => upstream.requests.length - before).toBe(pausing)
    await setTimeout(100)
    leaving.abort()
  }
  await Promise.all([leave(), expect(answer).rejects.toThrow(/abort/i)])
  await expect.poll(usage).toBeGreaterThan(least)
})

it.each([
  ['it waits again', { big: [calls(['look_up', { id: '2' }])] }],
  ['the model fails', { small: [status(400, { error: { message: 'no' } })], big: [says('Shipped.')] }],
])('is paid besides what plugins buy if %s', async (_what, script) => {
  const input = await suspended()
  const { key, usage } = await newKey()
  scripts = script
  await gateway.respond({ model: 'acme/small', input, tools, plugins: [{ id: 'web' }], stream: true }, { key }).then((response) => response.text())
  await expect.poll(usage).toBe(0.010025)
})

it.each([true, false])('goes on if its id is that of a finished call (stream: %s)', async (streamed) => {
  scripts = { small: [calls(['subagent', task]), says('First.')], big: [says('One.')] }
  const first = await askGateway(gateway, { input: [question], tools }, streamed)
  const input = await suspended([question, ...first.output, { type: 'message', role: 'user', content: 'And again?' }])
  scripts = { small: [says('Second.')], big: [says('Two.')] }
  const second = await askGateway(gateway, { input, tools }, streamed)
  expect(second.output).toMatchObject([{ type: 'gateway:subagent', status: 'completed', outcome: 'Two.' }, { type: 'message' }])
  const told = (): unknown[] => messagesTo('small').flatMap(({ role, content }) => (role === 'tool' ? [JSON.parse(String(content))['outcome']] : []))
  expect(told()).toEqual(['One.', 'Two.'])
  scripts = { small: [says('Third.')] }
  await askGateway(gateway, { input: [...input, ...second.output, question], tools }, streamed)
  expect(told()).toEqual(['One.', 'Two.'])
})

it('calls no more than it may, also if its model does not obey', async () => {
  scripts = { small: [calls(['subagent', task]), says('Done.')], big: [calls(['look_up', {}])] }
  const limited = [order, worker({ max_tool_calls: 1 })]
  const first = await askGateway(gateway, { input: [question], tools: limited }, false)
  const second = await askGateway(gateway, { input: [question, ...first.output, result(first.output[1])], tools: limited }, false)
  expect(second.output).toMatchObject([{ type: 'gateway:subagent', status: 'failed' }, { type: 'message' }])
})

it('reads hundreds of thousands of items in its name', async () => {
  const [asked, waiting, call, output] = (await suspended()) as [Json, Json, Json, Json]
  const items = Array.from({ length: 200_000 }, () => ({ type: 'x' }))
  scripts = { small: [says('Done.')], big: [says('Shipped.')] }
  const answer = await askGateway(gateway, { input: [asked, waiting, { ...call, subagent_items: items }, output], tools }, false)
  expect(answer['output_text']).toBe('Done.')
})
