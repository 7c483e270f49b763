import { describe, expect, it } from 'vitest'
import { startFakeUpstream, type Reply } from '../../src/testing/fake-upstream.ts'
import { startGateway } from '../../src/testing/start-gateway.ts'
import { PLACE, PLACES, setVoicesStage, voices, withoutSummaries } from './voices-stage.ts'

/** What the format of Messages guarantees to its callers besides the text: turns that survive it, and failures in its own envelope. */

type Json = { readonly [field: string]: unknown }

const stage = setVoicesStage()

const post = (body: unknown, path = '/api/v1/messages', headers: Json = {}): Promise<Response> =>
  fetch(`${stage.gateway().url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': stage.gateway().key, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })

describe.each(voices.map((voice) => [voice.dialect, voice] as const))('a turn of an upstream of %s', (dialect, voice) => {
  const question = 'How is it there?'

  async function byMessages(stream: boolean): Promise<Json> {
    const ask = async (messages: readonly unknown[]): Promise<readonly Json[]> => {
      const body = { model: `acme/${dialect}`, messages, tools: [{ name: 'look', input_schema: PLACE }], max_tokens: 9_000, stream }
      const response = await post({ ...body, thinking: { type: 'adaptive' }, output_config: { effort: 'high' } })
      expect(response.status).toBe(200)
      return stream ? contentOf(await response.text()) : ((await response.json()) as { readonly content: readonly Json[] }).content
    }
    const asked = { role: 'user', content: question }
    const content = await ask([asked])
    const calls = content.filter(({ type }) => type === 'tool_use')
    const results = calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: 'sunny' }))
    await ask([asked, { role: 'assistant', content }, { role: 'user', content: results }])
    return stage.heardBy(dialect)
  }

  it.each([
    ['a stream', true],
    ['JSON', false],
  ])('is sent back to it as if no other format had been between: %s', async (_name, stream) => {
    stage.says(dialect, PLACES)
    const expected = await stage.givenBack(dialect, question, { reasoning: { enabled: true, effort: 'high', within_output: true } })
    const heard = await byMessages(stream)
    expect(heard).toEqual(withoutSummaries(expected))
    if (voice.returnsSecret) expect(JSON.stringify(heard)).toContain(PLACES.reasoning!.secret)
  })
})

/** The blocks of a stream. */
function contentOf(wire: string): readonly Json[] {
  const blocks: { [field: string]: unknown }[] = []
  for (const line of wire.split('\n').filter((one) => one.startsWith('data: '))) {
    const {
      type,
      index,
      content_block: block,
      delta,
    } = JSON.parse(line.slice(6)) as { type: string; index: number; content_block: Json; delta: Json }
    if (type === 'content_block_start') blocks[index] = { ...block, json: '' }
    if (type !== 'content_block_delta') continue
    const open = blocks[index]!
    if (delta['signature'] !== undefined) open['signature'] = delta['signature']
    for (const [field, piece] of [
      ['text', delta['text']],
      ['thinking', delta['thinking']],
      ['json', delta['partial_json']],
    ] as const)
      if (typeof piece === 'string') open[field] = `${open[field] as string}${piece}`
  }
  return blocks.map(({ json, ...block }) => (json === '' ? block : { ...block, input: JSON.parse(json as string) as unknown }))
}

it.each(voices.map(({ dialect }) => dialect))(
  'a stream of %s reports the input tokens in its first event, for clients that do not read later counts',
  async (dialect) => {
    stage.says(dialect, { text: 'Hello.' })
    const body = { model: `acme/${dialect}`, max_tokens: 100, stream: true, messages: [{ role: 'user', content: 'word '.repeat(100) }] }
    const events = [...(await (await post(body)).text()).matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!) as Json)
    const { usage } = events[0]!['message'] as { readonly usage: { readonly [field: string]: number } }
    const last = events.find(({ type }) => type === 'message_delta')!['usage'] as Json
    if (dialect === 'anthropic-messages') expect(last).toMatchObject({ input_tokens: usage['input_tokens'], cache_read_input_tokens: 10 })
    else expect(usage['input_tokens']).toBeGreaterThan(10)
    expect(usage['output_tokens']).toBe(0)
  },
)

it.each([
  ['anthropic-messages', '"content":"no such file","is_error":true'],
  ['bedrock-converse', '"content":[{"text":"no such file"}],"status":"error"'],
  ['gemini', '"response":{"error":"no such file"}'],
  ['openai-chat', '"content":"Error:\\n\\nno such file"'],
  ['openai-responses', '"Error:'],
])('a failed tool result reaches %s in the notation of its format', async (dialect, told) => {
  stage.says(dialect, { text: 'Sorry.' })
  const messages = [
    { role: 'user', content: 'Read it.' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'read', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'no such file', is_error: true }] },
  ]
  const tools = [{ name: 'read', input_schema: { type: 'object' } }]
  expect((await post({ model: `acme/${dialect}`, max_tokens: 100, messages, tools })).status).toBe(200)
  expect(JSON.stringify(stage.heardBy(dialect))).toContain(told)
})

it.each(['anthropic-messages', 'bedrock-converse', 'gemini'])('reasoning counts within the output limit of %s', async (dialect) => {
  stage.says(dialect, { text: 'Hello.' })
  const ask = { model: `acme/${dialect}`, messages: [{ role: 'user', content: 'Hi' }] }
  for (const thinking of [{ type: 'enabled', budget_tokens: 8_000 }, { type: 'adaptive' }]) {
    expect((await post({ ...ask, max_tokens: 10_000, thinking })).status).toBe(200)
    const { max_tokens: limit, inferenceConfig, generationConfig } = stage.heardBy(dialect) as { readonly [field: string]: Json | undefined }
    expect(limit ?? inferenceConfig?.['maxTokens'] ?? generationConfig?.['maxOutputTokens']).toBe(10_000)
  }
})

describe('documents with citations enabled', () => {
  const cited = { citations: { enabled: true } }
  const content = [
    { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Grass is green.' }, title: 'Facts', ...cited },
    {
      type: 'document',
      source: {
        type: 'content',
        content: [
          { type: 'text', text: 'Snow' },
          { type: 'text', text: 'is white.' },
        ],
      },
      ...cited,
    },
    { type: 'text', text: 'What is green?' },
  ]
  const ask = (dialect: string, stream: boolean): Promise<Response> =>
    post({ model: `acme/${dialect}`, max_tokens: 100, stream, messages: [{ role: 'user', content }] })
  const place = {
    type: 'char_location',
    cited_text: 'Grass is green.',
    document_index: 0,
    document_title: 'Facts',
    start_char_index: 0,
    end_char_index: 15,
  }
  const blocks = [
    { type: 'text', text: 'The facts say ' },
    { type: 'text', text: 'grass is.', citations: [place] },
    { type: 'text', text: ' That is all.' },
  ]
  const told = (index: number, { text, citations = [] }: (typeof blocks)[number]): Json[] => [
    { type: 'content_block_start', index, content_block: { type: 'text', text: '', citations: [] } },
    ...citations.map((citation) => ({ type: 'content_block_delta', index, delta: { type: 'citations_delta', citation } })),
    { type: 'content_block_delta', index, delta: { type: 'text_delta', text } },
    { type: 'content_block_stop', index },
  ]
  const answers: Reply = async (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const message = { id: 'm', type: 'message', role: 'assistant', content: [], model: 'm', usage: { input_tokens: 9, output_tokens: 1 } }
    const events: Json[] = [
      { type: 'message_start', message },
      ...blocks.flatMap((block, index) => told(index, block)),
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 9 } },
      { type: 'message_stop' },
    ]
    response.end(events.map((event) => `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`).join(''))
  }

  it.each([true, false])('are sent as documents to their vendor, whose citations come back block by block (stream: %s)', async (stream) => {
    stage.does('anthropic-messages', answers)
    const text = await (await ask('anthropic-messages', stream)).text()
    expect((stage.heardBy('anthropic-messages')['messages'] as [{ content: unknown }])[0].content).toEqual([
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Grass is green.' }, title: 'Facts', ...cited },
      content[1],
      { type: 'text', text: 'What is green?' },
    ])
    const whole = blocks.map((block) => ({ citations: [], ...block }))
    if (!stream) return expect(JSON.parse(text)).toMatchObject({ content: whole })
    const events = [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!) as Json)
    const deltas = events.filter(({ type }) => type === 'content_block_delta').map(({ index, delta }) => [index, delta])
    expect(deltas).toEqual([
      [0, { type: 'text_delta', text: 'The facts say ' }],
      [1, { type: 'text_delta', text: 'grass is.' }],
      [1, { type: 'citations_delta', citation: { ...place, file_id: null } }],
      [2, { type: 'text_delta', text: ' That is all.' }],
    ])
  })

  it('keep the citations of their vendor when the answer comes from the cache', async () => {
    stage.does('anthropic-messages', answers)
    const body = {
      model: 'acme/anthropic-messages',
      max_tokens: 100,
      messages: [{ role: 'user', content: [...content, { type: 'text', text: 'Again?' }] }],
    }
    const asked = async (): Promise<unknown[]> => {
      const response = await post(body, undefined, { 'x-gateway-cache': 'true' })
      return [response.headers.get('x-gateway-cache-status'), ((await response.json()) as Json)['content']]
    }
    const [, first] = await asked()
    expect(first).toMatchObject([{}, { citations: [place] }, {}])
    expect(await asked()).toEqual(['HIT', first])
  })

  it.each(voices.map(({ dialect }) => dialect).filter((dialect) => dialect !== 'anthropic-messages'))(
    'are read by %s, which has no such feature',
    async (dialect) => {
      stage.says(dialect, { text: 'Grass.' })
      const response = await ask(dialect, false)
      expect([response.status, await response.json()]).toMatchObject([200, { content: [{ type: 'text', text: 'Grass.' }] }])
      const heard = JSON.stringify(stage.heardBy(dialect))
      expect(heard).toContain('Facts\\nGrass is green.')
      expect(heard).not.toContain('"cited"')
    },
  )
})

describe('an error', () => {
  const hi = { model: 'acme/openai-chat', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] }

  it.each<readonly [string, number, string, () => Promise<Response>]>([
    ['no key', 401, 'authentication_error', () => fetch(`${stage.gateway().url}/api/v1/messages`, { method: 'POST', body: '{}' })],
    ['a wrong key', 401, 'authentication_error', () => post(hi, '/api/v1/messages', { 'x-api-key': 'sk-sb-v1-wrong' })],
    ['a key that manages', 403, 'permission_error', () => post(hi, '/api/v1/messages', { 'x-api-key': stage.gateway().managementKey })],
    ['no JSON', 400, 'invalid_request_error', () => post('{"model":')],
    ['an encoding', 400, 'invalid_request_error', () => post(hi, '/api/v1/messages', { 'content-encoding': 'gzip' })],
    ['a body of no end', 413, 'invalid_request_error', () => post({ ...hi, system: 'x'.repeat(70_000) })],
    ['a model nobody has', 404, 'not_found_error', () => post({ ...hi, model: 'nobody/nothing' })],
    ['another route of the format', 404, 'not_found_error', () => post(hi, '/api/v1/messages/batches')],
    ['a prompt to count that is none', 400, 'invalid_request_error', () => post({ ...hi, messages: [] }, '/api/v1/messages/count_tokens')],
    ['metadata that is none', 400, 'invalid_request_error', () => post(hi, undefined, { 'x-gateway-metadata': 'team=search' })],
    ['no key to count with', 401, 'authentication_error', () => post(hi, '/api/v1/messages/count_tokens', { 'x-api-key': 'sk-sb-v1-wrong' })],
    ['another method', 404, 'not_found_error', () => fetch(`${stage.gateway().url}/api/v1/messages`)],
  ])('has the envelope of the format: %s', async (_name, status, type, send) => {
    const response = await send()
    const body: unknown = await response.json()
    expect([response.status, body]).toEqual([
      status,
      expect.objectContaining({
        type: 'error',
        error: { type, message: expect.any(String), error_type: expect.any(String) },
        request_id: expect.any(String),
      }),
    ])
  })

  it('is not caused by a query in the URL, as clients with betas send it', async () => {
    stage.says('openai-chat', { text: 'Hello' })
    const response = await post(hi, '/api/v1/messages?beta=true', { 'anthropic-beta': 'a,b', 'anthropic-version': '2023-06-01' })
    expect([response.status, await response.json()]).toMatchObject([200, { content: [{ type: 'text', text: 'Hello' }] }])
  })
})

describe('beta features', () => {
  it('a caller asks for in a header reach the upstream that knows them, from every front door', async () => {
    stage.says('anthropic-messages', { text: 'Hello' })
    const upstream = await startFakeUpstream(stage.speak('anthropic-messages'))
    const provider = { slug: 'acme', name: 'Acme', dialect: 'anthropic-messages', base_url: upstream.url, api_keys: ['key'] }
    const gateway = await startGateway({
      providers: [{ ...provider, options: { betas: ['always-1'], caller_betas: ['^known-'] } }],
      models: [{ slug: 'acme/m', context_length: 9_000, endpoints: [{ provider: 'acme', upstream_model: 'm', pricing: { input: 1, output: 1 } }] }],
    })
    try {
      const ask = async (path: string, body: Json, headers: { readonly [name: string]: string }): Promise<unknown[]> => {
        const response = await fetch(`${gateway.url}/api/v1/${path}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${gateway.key}`, 'x-gateway-experimental-metadata': 'enabled', ...headers },
          body: JSON.stringify({ model: 'acme/m', ...body }),
        })
        const answer = (await response.json()) as { readonly gateway_metadata: { readonly params?: unknown } }
        const { headers: heard, body: sent } = upstream.requests.at(-1)!
        return [response.status, heard['anthropic-beta'], JSON.stringify(sent).includes('betas'), JSON.stringify(answer.gateway_metadata)]
      }
      const messages = [{ role: 'user', content: 'Hi' }]
      const told = expect.stringContaining('beta feature odd-1')
      const asked = 'known-1,odd-1'
      expect(await ask('messages', { messages, max_tokens: 9 }, { 'anthropic-beta': asked })).toEqual([200, 'always-1,known-1', false, told])
      expect(await ask('responses', { input: 'Hi' }, { 'x-anthropic-beta': asked })).toEqual([200, 'always-1,known-1', false, told])
      expect(await ask('chat/completions', { messages }, { 'x-anthropic-beta': asked })).toEqual([200, 'always-1,known-1', false, told])
      expect(await ask('responses', { input: 'Hi', vendor_betas: ['known-2'] }, {})).toEqual([200, 'always-1', false, expect.any(String)])
      const kept = async (beta: string): Promise<string | null> => {
        const headers = { authorization: `Bearer ${gateway.key}`, 'x-gateway-cache': 'true', 'x-anthropic-beta': beta }
        const body = JSON.stringify({ model: 'acme/m', input: 'Hi' })
        return (await fetch(`${gateway.url}/api/v1/responses`, { method: 'POST', headers, body })).headers.get('x-gateway-cache-status')
      }
      expect([await kept('known-1'), await kept('known-1'), await kept('known-2')]).toEqual(['MISS', 'HIT', 'MISS'])
    } finally {
      await gateway.close()
      await upstream.close()
    }
  })
})

it.each(['/api/v1/models', '/api/v1/models/acme/gemini', '/api/v1/models/acme%2Fgemini'])('the key of the format opens %s, too', async (path) => {
  const ask = async (headers: { readonly [name: string]: string }): Promise<number> => (await fetch(stage.gateway().url + path, { headers })).status
  expect(await ask({ 'x-api-key': stage.gateway().key })).toBe(200)
  expect(await ask({ 'x-api-key': 'sk-sb-v1-wrong' })).toBe(401)
  expect(await ask({})).toBe(401)
})

it('tokens are estimated without asking anyone', async () => {
  const count = async (body: object): Promise<number> => {
    const response = await post({ model: 'nobody/nothing', ...body }, '/api/v1/messages/count_tokens?beta=true')
    const answer = (await response.json()) as { readonly input_tokens: number }
    expect([response.status, Object.keys(answer)]).toEqual([200, ['input_tokens']])
    return answer.input_tokens
  }
  const before = voices.map(({ dialect }) => stage.asked(dialect))
  const messages = [{ role: 'user', content: 'word '.repeat(1_000) }]
  const alone = await count({ messages })
  expect(alone).toBeGreaterThan(800)
  expect(alone).toBeLessThan(1_600)
  expect(await count({ messages, system: [{ type: 'text', text: 'word '.repeat(1_000) }] })).toBeGreaterThan(1.8 * alone)
  expect(voices.map(({ dialect }) => stage.asked(dialect))).toEqual(before)
})
