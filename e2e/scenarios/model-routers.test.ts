import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startFakeUpstream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { SPEAKERS, type Turn } from '../../src/testing/scripted-model.ts'
import { chatConfig, startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'

/** Names that let the gateway choose: which model serves, why, and how to influence the choice. */
type Json = { readonly [field: string]: unknown }

const says = (...text: string[]) => SPEAKERS['openai-chat'].speak({ text })
const plays = (turn: Turn) => SPEAKERS['openai-chat'].speak(turn)

let upstream: FakeUpstream
let gateway: TestGateway
const model = (slug: string, price: number, extra: object = {}) => ({
  slug,
  context_length: 128_000,
  created: 1_700_000_000,
  endpoints: [{ provider: 'acme', upstream_model: slug.slice(slug.indexOf('/') + 1), pricing: { input: price, output: price * 4 }, ...extra }],
})
beforeAll(async () => {
  upstream = await startFakeUpstream(says('hello'))
  gateway = await startGateway(
    chatConfig([upstream.url], {
      routing: { sticky: true, cooldown: false },
      models: [
        model('acme/nano', 0.1),
        model('acme/small', 0.5),
        model('bolt/medium', 2),
        model('bolt/coder', 2),
        model('coil/large', 5),
        model('coil/huge', 20),
        model('coil/exact', 6, { quantization: 'bf16' }),
        model('dyno/blind', 0.05, { supports: ['text', 'temperature'] }),
      ],
      plugins: { pareto_router: { scores: { 'acme/small': 0.4, 'bolt/coder': 0.8, 'coil/large': 0.7, 'coil/huge': 0.95 } } },
    }),
  )
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})
beforeEach(() => upstream.script(says('hello')))

async function ask(body: object): Promise<{ readonly status: number; readonly answer: Json; readonly metadata: Json }> {
  const response = await gateway.respond(body, { headers: { 'x-gateway-experimental-metadata': 'enabled' } })
  const text = await response.text()
  const streamed = response.headers.get('content-type')!.startsWith('text/event-stream')
  const events = streamed ? text.split('\n').flatMap((line) => (line.startsWith('data: {') ? [JSON.parse(line.slice(6)) as Json] : [])) : []
  const answer = streamed ? (events.at(-1)?.['response'] as Json) : (JSON.parse(text) as Json)
  return { status: response.status, answer, metadata: answer['gateway_metadata'] as Json }
}
const stageOf = ({ metadata }: { readonly metadata: Json }): { readonly name: string; readonly data: Json } => (metadata['pipeline'] as never[])[0]!

describe('provider preferences of the request', () => {
  it.each(['gateway/auto', 'gateway/pareto-code'])('leave %s the models they allow, whichever they are', async (name) => {
    for (const provider of [{ quantizations: ['bf16'] }, { quantizations: ['bf16'], order: ['acme'], allow_fallbacks: false }]) {
      const { status, answer } = await ask({ model: name, input: 'hello there', provider })
      expect([status, answer['model']]).toEqual([200, 'coil/exact'])
    }
    expect((await ask({ model: name, input: 'hello there', provider: { only: [' ACME '] } })).status).toBe(200)
    expect((await ask({ model: name, input: 'hello there', provider: { only: [] } })).status).toBe(200)
    expect((await ask({ model: name, input: 'hello there', provider: { quantizations: ['int4'] } })).status).toBe(404)
  })
})

describe('explained plans', () => {
  const explain = async (body: object): Promise<{ readonly status: number; readonly plan: Json }> => {
    const response = await gateway.api('POST', '/api/v1/route/explain', body, gateway.key)
    return { status: response.status, plan: (await response.json()) as Json }
  }

  it.each(['gateway/auto', 'gateway/auto:nitro', 'gateway/pareto-code', 'gateway/fusion'])(
    'show for %s the models a call would get, without calling a provider',
    async (name) => {
      const before = upstream.requests.length
      const { status, plan } = await explain({ model: name, input: 'hello there' })
      expect(upstream.requests).toHaveLength(before)
      const { metadata, answer } = await ask({ model: name, input: 'hello there' })
      expect(status).toBe(200)
      expect(plan).toMatchObject({ requested: name, strategy: metadata['strategy'], error: null })
      expect((plan['attempts'] as readonly Json[])[0]).toMatchObject({ model: answer['model'] })
      expect((plan['params'] as Json)['router']).toEqual((metadata['params'] as Json | undefined)?.['router'])
    },
  )

  it('refuse what a call would be refused for', async () => {
    const excluded = [{ id: 'auto-router', excluded_models: ['*'] }]
    expect((await explain({ model: 'gateway/auto', input: 'hi', plugins: excluded })).status).toBe(404)
    expect((await explain({ model: 'gateway/atuo', input: 'hi' })).plan).toMatchObject({ attempts: [], error: { code: 404 } })
  })

  it('refuse plugins that this gateway cannot run, as the call does', async () => {
    const body = { model: 'acme/small', input: 'hi', plugins: [{ id: 'moderation' }] }
    const { status, plan } = await explain(body)
    expect(status).toBe(400)
    expect((await gateway.respond(body)).status).toBe(400)
    expect(plan).toMatchObject({ error: { message: expect.stringContaining('no model to ask') } })
  })

  it('consider tools that plugins add: endpoints without tools come last', async () => {
    const required = { provider: { require_parameters: true }, plugins: [{ id: 'fusion' }], input: 'hi' }
    for (const [name, served] of [
      ['dyno/blind', 404],
      ['acme/small', 200],
    ] as const) {
      expect((await gateway.respond({ model: name, ...required })).status).toBe(served)
      const { plan } = await explain({ model: name, ...required })
      expect((plan['error'] as Json | null)?.['code'] ?? 200).toBe(served)
    }
  })
})

describe('gateway/auto', () => {
  for (const stream of [false, true]) {
    it(`serves with a concrete model and says why, ${stream ? 'streamed' : 'in JSON'}`, async () => {
      const asked = await ask({ model: 'gateway/auto', input: 'hello there', stream })
      expect(asked.status).toBe(200)
      expect(asked.metadata).toMatchObject({
        requested: 'gateway/auto',
        strategy: 'auto',
        params: { router: { task_type: 'conversation', cost_tier: 'low' } },
      })
      expect(stageOf(asked)).toMatchObject({
        type: 'plugin',
        name: 'auto-router',
        data: { task_type: 'conversation', cost_tier_from: 'task', chosen_by: 'rank' },
      })
      expect((stageOf(asked).data['models'] as Json[])[0]).toMatchObject({ model: asked.answer['model'] })
      expect(upstream.requests.at(-1)!.body['model']).toBe((asked.answer['model'] as string).split('/')[1])
    })
  }

  it('is recognised under the name of drop-in clients, and passes variants on', async () => {
    const asked = await ask({ model: 'openrouter/auto:floor', input: 'hello' })
    expect(asked.metadata).toMatchObject({ requested: 'openrouter/auto:floor', strategy: 'auto' })
  })

  it('chooses by the task, the price band and the caller’s patterns', async () => {
    const code = 'Fix this bug: my python function throws an exception.\n```python\ndef f(): return 1/0\n```'
    expect(stageOf(await ask({ model: 'gateway/auto', input: code })).data).toMatchObject({ task_type: 'code:debugging' })
    const medium = await ask({ model: 'gateway/auto', input: code, plugins: [{ id: 'auto-router', cost_tier: 'high' }] })
    expect(medium.answer['model']).toBe('bolt/coder')
    const only = await ask({
      model: 'gateway/auto',
      input: 'hi',
      plugins: [{ id: 'auto-router', allowed_models: ['coil/*'], excluded_models: ['coil/huge'] }],
    })
    expect(only.answer['model']).toBe('coil/large')
    const none = await ask({ model: 'gateway/auto', input: 'hi', plugins: [{ id: 'auto-router', allowed_models: ['nobody/*'] }] })
    expect(none).toMatchObject({ status: 404, answer: { error: { message: 'No models match your request and model restrictions' } } })
  })

  it('reads only the settings of its own plugin', async () => {
    const beta = await ask({ model: 'gateway/auto-beta', input: 'hi', plugins: [{ id: 'auto-router', allowed_models: ['coil/huge'] }] })
    expect(stageOf(beta).name).toBe('auto-beta-router')
    expect(beta.answer['model']).not.toBe('coil/huge')
    // Without such a name there is no choice.
    const named = await ask({ model: 'acme/small', input: 'hi', plugins: [{ id: 'auto-router', allowed_models: ['coil/huge'] }] })
    expect(named.metadata).toMatchObject({ strategy: 'direct' })
    expect(named.metadata).not.toHaveProperty('pipeline')
  })

  it('chooses only models that can: tools, pictures, length', async () => {
    const tools = [{ type: 'function', name: 'f', parameters: { type: 'object', properties: {} } }]
    const asked = await ask({
      model: 'gateway/auto',
      input: 'hi',
      tools,
      plugins: [{ id: 'auto-router', allowed_models: ['dyno/*', 'acme/*'], cost_tier: 'low' }],
    })
    expect(asked.answer['model']).toBe('acme/nano')
    expect(stageOf(asked).data).toMatchObject({ task_type: 'agent:tools' })
  })

  it('stays with the model of a conversation while it is among the best', async () => {
    const session_id = 'conversation-1'
    const first = await ask({ model: 'gateway/auto', session_id, input: 'hello', plugins: [{ id: 'auto-router', cost_tier: 'high' }] })
    const code = 'Fix this bug: my python function throws an exception. ```def f(): pass```'
    const second = await ask({ model: 'gateway/auto', session_id, input: code, plugins: [{ id: 'auto-router', cost_tier: 'high' }] })
    expect(second.answer['model']).toBe(first.answer['model'])
    expect(stageOf(second).data).toMatchObject({ chosen_by: 'conversation' })
  })

  it('stays with the model of the last answer, if so configured', async () => {
    const input = [
      { role: 'user', content: 'hi' },
      {
        type: 'message',
        id: 'm1',
        status: 'completed',
        role: 'assistant',
        model: 'coil/huge',
        content: [{ type: 'output_text', text: 'hello', annotations: [] }],
      },
      { role: 'user', content: 'again' },
    ]
    const asked = await ask({ model: 'gateway/auto', input, plugins: [{ id: 'auto-router', pin_model: true }] })
    expect(asked.answer['model']).toBe('coil/huge')
    expect(stageOf(asked).data).toMatchObject({ chosen_by: 'pin_model' })
  })

  it('chooses within guardrails', async () => {
    const { data } = (await (await gateway.api('POST', '/api/v1/guardrails', { name: 'g', allowed_models: ['coil/large'] })).json()) as {
      data: { id: string }
    }
    const { key, secret } = await gateway.app.accounts.create({ name: 'guarded', kind: 'inference' })
    await gateway.api('POST', `/api/v1/guardrails/${data.id}/assignments/keys`, { key_hashes: [key.hash] })
    const response = await gateway.respond({ model: 'gateway/auto', input: 'hi' }, { key: secret.reveal() })
    expect(((await response.json()) as Json)['model']).toBe('coil/large')
  })

  it('never chooses a simulated model, unless it is named', async () => {
    const alone = await startGateway({})
    try {
      expect((await alone.respond({ model: 'gateway/auto', input: 'hi', provider: { only: ['demo'] } })).status).toBe(404)
      const named = await alone.respond({ model: 'gateway/auto', input: 'hi', plugins: [{ id: 'auto-router', allowed_models: ['demo/echo'] }] })
      expect(((await named.json()) as Json)['model']).toBe('demo/echo')
    } finally {
      await alone.close()
    }
  })
})

describe('gateway/pareto-code', () => {
  for (const stream of [false, true]) {
    it(`takes the cheapest of the best coding models, ${stream ? 'streamed' : 'in JSON'}`, async () => {
      const asked = await ask({ model: 'gateway/pareto-code', input: 'merge two lists', stream })
      expect(asked.answer['model']).toBe('bolt/coder')
      expect(asked.metadata).toMatchObject({ strategy: 'pareto' })
      expect(stageOf(asked)).toMatchObject({ name: 'pareto-router', data: { tier: 'high', score_source: 'configured', considered: 4 } })
    })
  }

  it('takes a lower tier, and the best below a price', async () => {
    const score = await ask({ model: 'gateway/pareto-code', input: 'x', plugins: [{ id: 'pareto-router', min_coding_score: 0.4 }] })
    expect(score.answer['model']).toBe('acme/small')
    const price = await ask({ model: 'gateway/pareto-code', input: 'x', plugins: [{ id: 'pareto-router', max_price: 5 }] })
    expect(price.answer['model']).toBe('bolt/coder')
    expect(stageOf(price).data).toMatchObject({ frontier: ['bolt/coder', 'acme/small'] })
    const none = await ask({ model: 'gateway/pareto-code', input: 'x', plugins: [{ id: 'pareto-router', max_price: 0.01 }] })
    expect(none.status).toBe(404)
  })

  it('falls back to the next of the tier when the first is down', async () => {
    upstream.script(
      (_request, response) => void response.writeHead(503).end('{}'),
      (_request, response) => void response.writeHead(503).end('{}'),
      says('rescued'),
    )
    const asked = await ask({ model: 'gateway/pareto-code', input: 'y' })
    expect(asked.answer['model']).toBe('coil/large')
  })
})

describe('gateway/fusion', () => {
  const deliberates = (): void =>
    upstream.script(async (request, response) => {
      const body = request.body as {
        readonly model: string
        readonly tools?: readonly Json[]
        readonly messages: readonly Json[]
        readonly response_format?: unknown
      }
      const outer = body.tools?.some((tool) => (tool['function'] as Json | undefined)?.['name'] === 'fusion') === true
      const back = body.messages.some(({ role }) => role === 'tool')
      const turn: Turn =
        outer && !back
          ? { calls: [{ id: 'c1', name: 'fusion', arguments: ['{"prompt":"Ridge or lasso?"}'] }] }
          : back
            ? { text: ['Both.'] }
            : body.response_format === undefined
              ? { text: [`opinion of ${body.model}`] }
              : { text: [JSON.stringify({ consensus: ['fine'], contradictions: [], partial_coverage: [], unique_insights: [], blind_spots: [] })] }
      await plays(turn)(request, response)
    })

  for (const stream of [false, true]) {
    it(`asks a panel before it answers, ${stream ? 'streamed' : 'in JSON'}`, async () => {
      deliberates()
      const asked = await ask({ model: 'gateway/fusion', input: 'Compare ridge and lasso.', tool_choice: 'required', stream })
      expect(asked.status).toBe(200)
      expect(asked.metadata).toMatchObject({ requested: 'gateway/fusion', strategy: 'fusion' })
      const output = asked.answer['output'] as readonly Json[]
      const call = output.find(({ type }) => type === 'gateway:fusion')!
      expect((call['responses'] as readonly Json[]).map((one) => one['model'])).toEqual(['coil/huge', 'bolt/medium', 'acme/small'])
      expect(call['analysis']).toMatchObject({ consensus: ['fine'] })
      expect(asked.answer['model']).toBe('coil/huge')
      expect((asked.metadata['pipeline'] as readonly Json[]).find(({ name }) => name === 'fusion')).toMatchObject({
        data: { panel_from: 'general-high', analyst: 'coil/huge' },
      })
    })
  }

  it('takes the caller’s panel and analyst, and his own model', async () => {
    deliberates()
    const plugins = [{ id: 'fusion', analysis_models: ['acme/nano', 'acme/small'], model: 'coil/large' }]
    const router = await ask({ model: 'gateway/fusion', input: 'Compare.', plugins })
    expect(router.answer['model']).toBe('coil/large')
    deliberates()
    const own = await ask({ model: 'bolt/medium', input: 'Compare.', plugins: [{ id: 'fusion', analysis_models: ['acme/nano'] }] })
    expect(own.answer['model']).toBe('bolt/medium')
    expect(own.metadata).toMatchObject({ strategy: 'fusion' })
    expect((own.answer['output'] as readonly Json[]).find(({ type }) => type === 'gateway:fusion')!['responses']).toMatchObject([
      { model: 'acme/nano' },
    ])
  })

  it('has a fast panel under a name of its own', async () => {
    const asked = await ask({ model: 'gateway/fusion-flash', input: 'hi' })
    expect(stageOf(asked).data).toMatchObject({ panel_from: 'general-fast' })
  })
})
