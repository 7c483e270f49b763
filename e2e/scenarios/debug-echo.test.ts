import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { checkWire, type CheckedStream } from '../../src/testing/check-wire.ts'
import { chatEvents, chatText, status, startFakeUpstream, stream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { chatConfig, startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'

/** `debug.echo_upstream_body`: shows the caller, on request, what each upstream received. */
const echo = { debug: { echo_upstream_body: true } }
const asked = { model: 'acme/small', instructions: 'Be brief', input: 'hi', max_output_tokens: 50, stream: true }

let first: FakeUpstream
let second: FakeUpstream
let gateway: TestGateway
beforeAll(async () => {
  first = await startFakeUpstream()
  second = await startFakeUpstream()
  gateway = await startGateway(chatConfig([first.url, second.url], { routing: { retries: false, cooldown: false } }))
})
beforeEach(() => {
  first.script(stream(chatText('one')))
  second.script(stream(chatText('two')))
})
afterAll(async () => {
  await gateway.close()
  await Promise.all([first.close(), second.close()])
})

const order = { provider: { order: ['acme', 'backup1'] } }
const bodies = ({ events }: CheckedStream): unknown[] =>
  events.filter(({ type }) => type === 'response.debug').map(({ debug }) => (debug as { readonly echo_upstream_body: unknown }).echo_upstream_body)
const read = async (body: object, at = gateway): Promise<CheckedStream> =>
  checkWire(await (await at.respond({ ...asked, ...body })).text(), { debug: true })

describe('a stream with the debug option', () => {
  it('contains the body as the upstream got it, after response.created and before the first item', async () => {
    const echoed = await read({ ...order, ...echo })
    expect(echoed.events.slice(0, 4).map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.debug',
      'response.output_item.added',
    ])
    expect(bodies(echoed)).toEqual([first.requests.at(-1)!.body])
    expect(bodies(echoed)[0]).toMatchObject({ model: 'small-1', messages: [{ role: 'system', content: 'Be brief' }, { role: 'user' }] })
  })

  it('contains one for each upstream that was tried', async () => {
    first.script(status(503, { error: { message: 'busy' } }))
    const echoed = await read({ ...order, ...echo })
    expect(echoed.text).toBe('two')
    expect(bodies(echoed)).toEqual([first.requests.at(-1)!.body, second.requests.at(-1)!.body])
  })

  it('contains it for an answer that breaks, too', async () => {
    first.script(stream([chatEvents.role(), chatEvents.text('on')], { then: 'reset' }))
    const echoed = await read({ ...order, ...echo })
    expect(echoed.terminal.type).toBe('response.failed')
    expect(bodies(echoed)).toHaveLength(1)
  })

  it('contains one for each turn of a call in which the gateway runs tools', async () => {
    const { role, call, finish, usage, done } = chatEvents
    first.script(stream([role(), call(0, 'call_0', 'datetime', '{}'), finish('tool_calls'), usage(), done()]), stream(chatText('noon')))
    const echoed = await read({ ...order, ...echo, tools: [{ type: 'gateway:datetime' }] })
    expect(echoed.text).toBe('noon')
    expect(bodies(echoed)).toEqual(first.requests.slice(-2).map(({ body }) => body))
  })

  it.each([[{}], [{ debug: {} }], [{ debug: { echo_upstream_body: false } }]])('contains none unless the caller asks: %j', async (body) => {
    expect(bodies(await read(body))).toEqual([])
  })
})

it('an error before any answer carries the last body', async () => {
  for (const upstream of [first, second])
    upstream.script(status(400, { error: { message: 'temperature: not with this model', type: 'invalid_request_error' } }))
  const response = await gateway.respond({ ...asked, ...order, ...echo })
  const { debug } = (await response.json()) as { readonly debug?: { readonly echo_upstream_body: unknown } }
  expect([response.status, debug?.echo_upstream_body]).toEqual([400, first.requests.at(-1)!.body])
})

it('JSON answers contain no body', async () => {
  const answer = (await (await gateway.respond({ ...asked, ...echo, stream: false })).json()) as object
  expect(answer).not.toHaveProperty('debug')
})

it('the operator can switch it off', async () => {
  const silent = await startGateway(chatConfig([first.url], { responses: { echo_upstream_body: false } }))
  try {
    expect(bodies(await read(echo, silent))).toEqual([])
  } finally {
    await silent.close()
  }
})
