import { OpenRouter as Agent } from '@openrouter/agent'
import { OpenRouter } from '@openrouter/sdk'
import type { OpenResponsesResult, StreamEvents } from '@openrouter/sdk/models'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startFakeUpstream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { chatConfig, startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { calls, says } from '../../src/testing/tool-script.ts'
import { expectKnown } from './expect-known.ts'

/** Presets, guardrails and names that let the gateway choose, with common clients. */
let upstream: FakeUpstream
let gateway: TestGateway
let router: OpenRouter
let manager: OpenRouter
let openai: OpenAI
let agent: Agent
beforeAll(async () => {
  upstream = await startFakeUpstream(says('hello'))
  gateway = await startGateway(chatConfig([upstream.url], { routing: { sticky: false, cooldown: false } }))
  const serverURL = `${gateway.url}/api/v1`
  router = new OpenRouter({ apiKey: gateway.key, serverURL, retryConfig: { strategy: 'none' } })
  manager = new OpenRouter({ apiKey: gateway.managementKey, serverURL, retryConfig: { strategy: 'none' } })
  agent = new Agent({ apiKey: gateway.key, serverURL })
  openai = new OpenAI({ apiKey: gateway.key, baseURL: serverURL, maxRetries: 0 })
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

/** For each client: sends a request for a model name, whole or streamed, and returns the model that served. */
const speakers: { readonly [client: string]: (model: string, streamed: boolean, more?: object) => Promise<string> } = {
  async openai(model, streamed, more = {}) {
    const body = { model, input: 'hi', ...more }
    const answer = streamed ? await openai.responses.stream(body).finalResponse() : await openai.responses.create(body)
    expect(answer.output_text).toBe('hello')
    return answer.model
  },
  async '@openrouter/sdk'(model, streamed, more = {}) {
    const responsesRequest = { model, input: 'hi', ...more }
    if (!streamed) {
      const answer = (await router.beta.responses.send({ responsesRequest: { ...responsesRequest, stream: false } })) as OpenResponsesResult
      expectKnown(answer)
      return answer.model
    }
    const events = (await router.beta.responses.send({ responsesRequest: { ...responsesRequest, stream: true } })) as AsyncIterable<StreamEvents>
    let last: StreamEvents | undefined
    for await (const event of events) {
      expectKnown(event)
      last = event
    }
    if (last?.type !== 'response.completed') throw new Error(`the last event is ${String(last?.type)}`)
    return last.response.model
  },
  async '@openrouter/agent'(model, streamed, more = {}) {
    const result = agent.callModel({ model, input: 'hi', ...more })
    let text = ''
    // This client streams from the gateway either way.
    if (streamed) for await (const delta of result.getTextStream()) text += delta
    else text = await result.getText()
    expect(text).toBe('hello')
    return (await result.getResponse()).model
  },
}
const all = Object.entries(speakers).flatMap(([name, speak]) =>
  [false, true].map((streamed) => [name, streamed ? 'streamed' : 'whole', speak, streamed] as const),
)

describe('presets', () => {
  it('are made, read and listed by @openrouter/sdk', async () => {
    const made = await router.presets.createPresetsResponses({
      slug: 'mail',
      responsesRequest: { model: 'acme/small', instructions: 'Be brief.', temperature: 0.5, input: 'x' },
    })
    expectKnown(made)
    expect(made.data).toMatchObject({ slug: 'mail', status: 'active', designatedVersion: { version: 1, systemPrompt: 'Be brief.' } })
    expectKnown(await router.presets.get({ slug: 'mail' }))
    expectKnown(await router.presets.getVersion({ slug: 'mail', version: '1' }))
    expect((await router.presets.listVersions({ slug: 'mail' })).result.totalCount).toBe(1)
    const list = await router.presets.list()
    expectKnown(list.result)
    expect(list.result.data.map(({ slug }) => slug)).toEqual(['mail'])
  })

  it.each(all)('are used by %s, %s', async (_name, _how, speak, streamed) => {
    expect(await speak('@preset/mail', streamed)).toBe('acme/small')
    expect(upstream.requests.at(-1)!.body).toMatchObject({ temperature: 0.5, messages: [{ role: 'system', content: 'Be brief.' }, { role: 'user' }] })
  })
})

describe('names of model routers', () => {
  it.each(all)('serve %s, %s', async (_name, _how, speak, streamed) => {
    expect(await speak('openrouter/auto', streamed, { plugins: [{ id: 'auto-router', cost_tier: 'low', costTier: 'low' }] })).toBe('acme/small')
    expect(await speak('openrouter/pareto-code', streamed)).toBe('acme/small')
    expect(await speak('gateway/fusion', streamed)).toBe('acme/small')
  })

  it('let @openrouter/sdk parse a fusion item with its schema', async () => {
    const analysis = { consensus: ['a'], contradictions: [], partial_coverage: [], unique_insights: [], blind_spots: [] }
    upstream.script(calls(['fusion', { prompt: 'x' }]), says('an opinion'), says(JSON.stringify(analysis)), says('hello'))
    const answer = (await router.beta.responses.send({
      responsesRequest: { model: 'openrouter/fusion', input: 'hi', toolChoice: 'required', stream: false },
    })) as OpenResponsesResult
    expectKnown(answer)
    expect(answer.output.map(({ type }) => type)).toEqual(['openrouter:fusion', 'message'])
    upstream.script(says('hello'))
  })
})

describe('guardrails', () => {
  it('are managed by @openrouter/sdk, and end in the right error everywhere', async () => {
    const { data } = await manager.guardrails.create({
      createGuardrailRequest: { name: 'strict', contentFilterBuiltins: [{ slug: 'email', action: 'block' }], limitUsd: 5, resetInterval: 'daily' },
    })
    expectKnown(data)
    const { key, secret } = await gateway.app.accounts.create({ name: 'guarded', kind: 'inference' })
    expect(await manager.guardrails.bulkAssignKeys({ id: data.id, bulkAssignKeysRequest: { keyHashes: [key.hash] } })).toEqual({ assignedCount: 1 })
    expectKnown((await manager.guardrails.listGuardrailKeyAssignments({ id: data.id })).result)
    expectKnown((await manager.guardrails.listKeyAssignments()).result)
    expectKnown((await manager.guardrails.list()).result)
    expectKnown(await manager.guardrails.get({ id: data.id }))

    const guarded = new OpenAI({ apiKey: secret.reveal(), baseURL: `${gateway.url}/api/v1`, maxRetries: 0 })
    for (const stream of [false, true] as const) {
      const refused = guarded.responses.create({ model: 'acme/small', input: 'mail jane@example.com', stream })
      await expect(refused).rejects.toBeInstanceOf(OpenAI.PermissionDeniedError)
      await expect(refused).rejects.toThrow('Email address')
    }
    const other = new OpenRouter({ apiKey: secret.reveal(), serverURL: `${gateway.url}/api/v1`, retryConfig: { strategy: 'none' } })
    await expect(
      other.beta.responses.send({ responsesRequest: { model: 'acme/small', input: 'jane@example.com', stream: false } }),
    ).rejects.toMatchObject({ statusCode: 403 })

    expectKnown(await manager.guardrails.update({ id: data.id, updateGuardrailRequest: { allowedModels: ['acme/*'], contentFilterBuiltins: null } }))
    expect((await guarded.responses.create({ model: 'acme/small', input: 'mail jane@example.com' })).output_text).toBe('hello')
    expect(await manager.guardrails.bulkUnassignKeys({ id: data.id, bulkUnassignKeysRequest: { keyHashes: [key.hash] } })).toEqual({
      unassignedCount: 1,
    })
    expect(await manager.guardrails.delete({ id: data.id })).toMatchObject({ deleted: true })
  })
})
