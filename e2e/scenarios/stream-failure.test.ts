import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { checkWire } from '../../src/testing/check-wire.ts'
import { CHAT_USAGE, chatEvents, chatText, startFakeUpstream, status, stream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { chatConfig, startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { verifies } from '../requirements.ts'

/** A stream that breaks after its first content, for callers who opted in: another endpoint continues it, or provides all of it. */
let primary: FakeUpstream
let backup: FakeUpstream
let third: FakeUpstream
let gateway: TestGateway
let more: TestGateway | undefined

const launch = (options: readonly object[] = [], routing: object = {}): Promise<TestGateway> => {
  const config = chatConfig([primary.url, backup.url, third.url]) as { providers: object[] }
  const timeouts = { first_token: '2s', idle: '500ms' }
  return startGateway({
    ...config,
    providers: config.providers.map((provider, n) => ({ ...provider, timeouts, ...options[n] })),
    routing: { sticky: false, cooldown: false, ...routing },
  })
}

beforeEach(async () => {
  primary = await startFakeUpstream(stream([chatEvents.role(), chatEvents.text('Once upon '), chatEvents.text('a time ')], { then: 'reset' }))
  backup = await startFakeUpstream(stream(chatText('there was', ' a king')))
  third = await startFakeUpstream(stream(chatText('there was', ' a queen')))
  gateway = await launch()
  more = undefined
})
afterEach(async () => {
  await Promise.all([gateway.close(), more?.close()])
  await Promise.all([primary, backup, third].map((upstream) => upstream.close()))
})

type Mode = 'fail' | 'continue' | 'buffer'
const send = (mode: Mode | undefined, body: object = {}, to = gateway): Promise<Response> =>
  to.respond(
    { model: 'acme/small', input: 'Tell me a story', stream: true, provider: { order: ['acme', 'backup1', 'backup2'] }, ...body },
    { headers: { 'x-gateway-experimental-metadata': 'enabled', ...(mode === undefined ? {} : { 'x-gateway-stream-failure': mode }) } },
  )
const ask = async (mode: Mode | undefined, body: object = {}, to = gateway) => {
  const { terminal, text, output, events } = checkWire(await (await send(mode, body, to)).text())
  const response = terminal['response'] as {
    readonly usage: { readonly [field: string]: number }
    readonly gateway_metadata: { readonly params: { readonly [name: string]: unknown } }
  }
  return { type: terminal.type, text, output, events, response, params: response.gateway_metadata.params }
}
const tries = (): readonly number[] => [primary, backup, third].map(({ requests }) => requests.length)
const refusesPrefill = status(400, { error: { message: 'This model does not support assistant message prefill', type: 'invalid_request_error' } })

describe('reasoning that a format does not show', () => {
  it.each([
    ['/v1/chat/completions', { model: 'acme/small', messages: [{ role: 'user', content: 'hi' }], stream: true, include_reasoning: false }],
    ['/v1beta/models/acme/small:streamGenerateContent?alt=sse', { contents: [{ parts: [{ text: 'hi' }] }] }],
  ])('may break off, as the caller has seen nothing of it: %s', async (path, body) => {
    primary.script(stream([chatEvents.role(), chatEvents.reasoning('Let me '), chatEvents.reasoning('think')], { then: 'reset' }))
    const response = await gateway.api('POST', `/api${path}`, { ...body, provider: { order: ['acme', 'backup1'] } }, gateway.key)
    expect(response.status).toBe(200)
    const wire = await response.text()
    expect(wire).toContain('there was')
    expect(wire).not.toContain('"error"')
    // The endpoint is asked once more before the next one.
    expect(tries()).toEqual([2, 1, 0])
  })
})

it('a call that generateContent shows only when it is complete may break off', async () => {
  primary.script(stream([chatEvents.role(), chatEvents.call(0, 'c1', 'look', '{"at"')], { then: 'reset' }))
  const body = {
    contents: [{ parts: [{ text: 'hi' }] }],
    tools: [{ functionDeclarations: [{ name: 'look' }] }],
    provider: { order: ['acme', 'backup1'] },
  }
  const response = await gateway.api('POST', '/api/v1beta/models/acme/small:streamGenerateContent?alt=sse', body, gateway.key)
  expect(response.status).toBe(200)
  expect(await response.text()).toContain('there was')
})

describe('stream_failure: continue', () => {
  it(verifies('C8', 'continues in the same message, with the answer so far as the last message of the assistant'), async () => {
    const { type, text, output, params, response } = await ask('continue')
    expect({ type, text }).toEqual({ type: 'response.completed', text: 'Once upon a time there was a king' })
    expect(output).toHaveLength(1)
    expect(output[0]).toMatchObject({ type: 'message', status: 'completed', content: [{ text: 'Once upon a time there was a king' }] })
    expect((backup.requests[0]!.body['messages'] as object[]).at(-1)).toMatchObject({ role: 'assistant', content: 'Once upon a time' })
    expect(params['stream_failure']).toBe('continued by Acme 1 after 17 characters')
    // The usage of the broken endpoint is an estimate, added to what the other one reports; each is paid at its own price.
    expect(response.usage['output_tokens']).toBeGreaterThan(CHAT_USAGE.completion_tokens)
    expect(response.usage['cost']).toBeGreaterThan(0)
    expect(tries()).toEqual([1, 1, 0])
  })

  it('costs the same where a server tool was offered and never called', async () => {
    const costly = { pricing: { input: 1_000, output: 1_000 } }
    const config = chatConfig([primary.url, backup.url]) as { models: readonly { readonly endpoints: readonly object[] }[] }
    const models = config.models.map((model) => ({
      ...model,
      endpoints: model.endpoints.map((endpoint, n) => (n === 1 ? { ...endpoint, ...costly } : endpoint)),
    }))
    more = await startGateway({ ...config, models, routing: { sticky: false, cooldown: false } })
    const costOf = async (body: object): Promise<number> => {
      const { response } = await ask('continue', { provider: { order: ['acme', 'backup1'] }, ...body }, more)
      return response.usage['cost'] ?? NaN
    }
    const plain = await costOf({})
    // The tool's description makes the prompt longer, for which the first endpoint is paid at its own, low price.
    expect(await costOf({ tools: [{ type: 'gateway:datetime' }] })).toBeCloseTo(plain, 3)
    expect(plain).toBeGreaterThan(0.01)
  })

  describe('is paid for at the prices of all endpoints that took part', () => {
    /** The first endpoint is expensive per call, so that its part is visible. */
    const launchDear = async (): Promise<void> => {
      const config = chatConfig([primary.url, backup.url]) as { models: readonly { readonly endpoints: readonly object[] }[] }
      const models = config.models.map((model) => ({
        ...model,
        endpoints: model.endpoints.map((endpoint, n) => (n === 0 ? { ...endpoint, pricing: { input: 1, output: 1, request: 7 } } : endpoint)),
      }))
      more = await startGateway({ ...config, models, routing: { sticky: false, cooldown: false } })
    }
    const order = { provider: { order: ['acme', 'backup1'] } }
    const goesOn = [chatEvents.role(), chatEvents.text('there was '), chatEvents.text('a king')]
    const spent = async (): Promise<number> => {
      const { data } = (await (await more!.api('GET', '/api/v1/key', undefined, more!.key)).json()) as { data: { usage: number } }
      return data.usage
    }

    it.each([
      ['though the second one breaks, too', stream(goesOn, { then: 'reset' })],
      ['though the second one does not say what it used', stream([...goesOn, chatEvents.finish(), chatEvents.done()])],
    ])('%s', async (_what, second) => {
      backup.script(second)
      await launchDear()
      const { response } = await ask('continue', order, more)
      expect(response.usage['cost']).toBeGreaterThan(7)
      expect(response.usage['cost']).toBeLessThan(7.1)
      await expect.poll(spent, { timeout: 10_000 }).toBeCloseTo(response.usage['cost']!, 9)
    })

    it('even if the caller leaves while the second endpoint writes', async () => {
      backup.script(stream(goesOn, { then: 'hang' }))
      await launchDear()
      const reader = (await send('continue', order, more)).body!.getReader()
      let seen = ''
      while (!seen.includes('a king')) seen += new TextDecoder().decode((await reader.read()).value)
      await reader.cancel()
      await expect.poll(spent, { timeout: 10_000 }).toBeGreaterThan(7)
    })
  })

  it('removes a repeated beginning', async () => {
    backup.script(stream(chatText('Once upon a', ' time there', ' was a king')))
    primary.script(stream([chatEvents.text('Once upon a time ')], { then: 'hang' }))
    expect((await ask('continue')).text).toBe('Once upon a time there was a king')
  })

  it('continues after a second break', async () => {
    backup.script(stream([chatEvents.role(), chatEvents.text('there was ')], { then: 'end' }))
    third.script(stream(chatText('a dragon')))
    const { text, output } = await ask('continue')
    expect(text).toBe('Once upon a time there was a dragon')
    expect(output).toHaveLength(1)
    expect((third.requests[0]!.body['messages'] as object[]).at(-1)).toMatchObject({ content: 'Once upon a time there was' })
  })

  it('starts over if only reasoning was sent', async () => {
    primary.script(stream([chatEvents.role(), chatEvents.reasoning('Hm, a story')], { then: 'reset' }))
    backup.script(stream(chatText('A whole story')))
    const { type, text, output } = await ask('continue')
    expect({ type, text }).toEqual({ type: 'response.completed', text: 'A whole story' })
    expect(output.map((item) => [item.type, item['status']])).toEqual([
      ['reasoning', 'incomplete'],
      ['message', 'completed'],
    ])
    expect((backup.requests[0]!.body['messages'] as object[]).at(-1)).toMatchObject({ role: 'user' })
  })

  it('passes on a tool call of the continuing endpoint', async () => {
    backup.script(
      stream([
        chatEvents.role(),
        chatEvents.text('let me see'),
        chatEvents.call(0, 'c1', 'look', '{}'),
        chatEvents.finish('tool_calls'),
        chatEvents.usage(),
        chatEvents.done(),
      ]),
    )
    const { type, output } = await ask('continue', { tools: [{ type: 'function', name: 'look', parameters: { type: 'object' } }] })
    expect(type).toBe('response.completed')
    expect(output.map((item) => item.type)).toEqual(['message', 'function_call'])
  })

  it.each([
    ['inside a tool call', [chatEvents.role(), chatEvents.text('hm'), chatEvents.call(0, 'c1', 'look', '{"at"')], {}],
    ['in structured output', [chatEvents.role(), chatEvents.text('{"a":')], { text: { format: { type: 'json_object' } } }],
  ])('never continues %s', async (_where, events, body) => {
    primary.script(stream(events, { then: 'reset' }))
    expect((await ask('continue', body)).type).toBe('response.failed')
    expect(tries()).toEqual([1, 0, 0])
  })

  it(verifies('C14', 'skips an endpoint that refuses prefill'), async () => {
    backup.script(refusesPrefill)
    expect((await ask('continue')).text).toBe('Once upon a time there was a queen')
    expect(tries()).toEqual([1, 1, 1])
  })

  it(verifies('C14', 'does not ask an endpoint that is known to refuse prefill'), async () => {
    more = await launch([{}, { options: { prefill: false } }])
    expect((await ask('continue', {}, more)).text).toBe('Once upon a time there was a queen')
    expect(tries()).toEqual([1, 0, 1])
  })

  it(verifies('C14', 'P12', 'reports the original failure when no endpoint can continue'), async () => {
    backup.script(refusesPrefill)
    third.script(refusesPrefill)
    const { type, text, response } = await ask('continue')
    expect({ type, text }).toEqual({ type: 'response.failed', text: 'Once upon a time ' })
    expect(response).toMatchObject({ error_type: 'provider_unavailable' })
    expect(JSON.stringify(response)).not.toContain('prefill')
  })

  it.each([
    ['nobody can go on', [], 3],
    ['nothing can go on', [{ choices: [{ index: 0, delta: { refusal: 'I will' } }] }], 1],
  ])(verifies('P50', 'names all attempts to a JSON caller when %s'), async (_why, begun, attempts) => {
    if (begun.length > 0) primary.script(stream([chatEvents.role(), ...begun], { then: 'reset' }))
    backup.script(refusesPrefill)
    third.script(refusesPrefill)
    const response = await send('continue', { stream: false })
    expect(response.status).toBe(502)
    const { error } = (await response.json()) as { error: { metadata: { attempts: { provider: string; error_type: string }[] } } }
    expect(error.metadata.attempts?.map(({ provider }) => provider)).toEqual(['Acme 0', 'Acme 1', 'Acme 2'].slice(0, attempts))
    expect(error.metadata.attempts[0]).toMatchObject({ error_type: 'provider_unavailable' })
  })

  it.each([
    ['tools', [chatEvents.call(0, 'c1', 'look', '{"at"')], { tools: [{ type: 'function', name: 'look', parameters: { type: 'object' } }] }],
    ['a schema', [chatEvents.text('{"a":')], { text: { format: { type: 'json_object' } } }],
  ])('gives a JSON caller, who has seen nothing, another answer if he asked for %s', async (_what, begun, body) => {
    primary.script(stream([chatEvents.role(), ...begun], { then: 'hang' }))
    const response = await send('continue', { stream: false, ...body })
    expect(await response.json()).toMatchObject({
      status: 'completed',
      output_text: 'there was a king',
      usage: { input_tokens: CHAT_USAGE.prompt_tokens, output_tokens: CHAT_USAGE.completion_tokens },
    })
    expect(tries()).toEqual([1, 1, 0])
  })

  it('gives a JSON caller another answer where every other endpoint is known to start over', async () => {
    more = await launch([{}, { options: { prefill: false } }, { options: { prefill: false } }])
    primary.script(stream([chatEvents.role(), chatEvents.text('Once ')], { then: 'hang' }))
    expect(await (await send('continue', { stream: false }, more)).json()).toMatchObject({
      status: 'completed',
      output_text: 'there was a king',
      usage: { input_tokens: CHAT_USAGE.prompt_tokens, output_tokens: CHAT_USAGE.completion_tokens },
    })
    expect(tries()).toEqual([1, 1, 0])
  })

  it('serves a JSON caller as well', async () => {
    const response = await send('continue', { stream: false })
    expect(await response.json()).toMatchObject({ status: 'completed', output_text: 'Once upon a time there was a king' })
  })
})

describe('stream_failure: buffer', () => {
  it(verifies('C8', 'sends nothing of a broken answer and all of another'), async () => {
    primary.script(stream([chatEvents.role(), chatEvents.text('Once ')], { then: 'hang' }))
    const { type, text, params, response } = await ask('buffer')
    expect({ type, text }).toEqual({ type: 'response.completed', text: 'there was a king' })
    expect(params['stream_failure']).toContain('held back')
    expect(response.usage).toMatchObject({ input_tokens: CHAT_USAGE.prompt_tokens, output_tokens: CHAT_USAGE.completion_tokens })
  })

  it('answers with an HTTP error when no endpoint completes an answer', async () => {
    for (const upstream of [primary, backup, third]) upstream.script(stream([chatEvents.text('half')], { then: 'hang' }))
    expect((await send('buffer')).status).toBe(408)
  })

  it('streams an answer that outgrows the buffer', async () => {
    const big = 'x'.repeat(256 * 1024)
    primary.script(stream([chatEvents.role(), ...Array.from({ length: 5 }, () => chatEvents.text(big))], { then: 'reset' }))
    const { type, text, params } = await ask('buffer')
    expect(type).toBe('response.failed')
    expect(text).toHaveLength(5 * big.length)
    expect(params['stream_failure']).toContain('outgrew')
    expect(tries()).toEqual([1, 0, 0])
  })
})

describe('the setting stream_failure', () => {
  it('is fail by default', async () => {
    expect((await ask(undefined)).type).toBe('response.failed')
    expect(tries()).toEqual([1, 0, 0])
  })

  it('can be set by the operator, and overridden by the caller', async () => {
    more = await launch([], { stream_failure: 'continue' })
    expect((await ask(undefined, {}, more)).text).toBe('Once upon a time there was a king')
    expect((await ask('fail', {}, more)).type).toBe('response.failed')
  })

  it('has three values', async () => {
    const response = await send('retry' as Mode)
    expect(response.status).toBe(400)
    expect(await response.text()).toContain('expected fail, continue or buffer')
  })
})
