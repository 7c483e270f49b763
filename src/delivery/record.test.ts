import { describe, expect, it } from 'vitest'
import type { Generation } from '../core/generation.ts'
import { otlpParentSpanId, otlpTraceId } from '../lib/derived-id.ts'
import { presentGeneration } from '../http/management/generation-shapes.ts'
import { CANARY, embeddingGeneration, failedGeneration, fullGeneration, minimalGeneration } from '../testing/sample-generations.ts'
import { BROADCAST_GROUPS, broadcastFields } from './broadcast.ts'
import { toDeliveryRecord } from './record.ts'

const none = { cost: false, identity: false, requestContext: false }
const all = { cost: true, identity: true, requestContext: true }
const { generation, content } = fullGeneration()

describe('toDeliveryRecord', () => {
  it("resolves the caller's names and ids", () => {
    const record = toDeliveryRecord(generation, content, { privacyMode: false, broadcast: none })
    expect(record.names).toEqual({ trace: 'Checkout', generation: 'Draft reply', wrapper: 'Answer question' })
    expect(record.ids.trace).toBe('order-123')
    expect(record.ids.otlp.parentSpanId).toBe('b7ad6b7169203331')
    expect(record.ids.otlp.wrapperSpanId).toMatch(/^[0-9a-f]{16}$/)
    expect(record.environment).toBe('Production')
    expect(record.tags).toEqual(['blue', 'beta'])
  })

  it("has no NUL in the caller's ids, which join the same traces and spans as ever", () => {
    const named = { ...generation, trace: { trace_id: 'order\0-1', parent_span_id: 'span\0-1' } }
    const { ids } = toDeliveryRecord(named, content, { privacyMode: false, broadcast: none })
    expect([ids.trace, ids.parent]).toEqual(['order\ufffd-1', 'span\ufffd-1'])
    expect([ids.otlp.traceId, ids.otlp.parentSpanId]).toEqual([otlpTraceId('order\0-1'), otlpParentSpanId('span\0-1')])
  })

  it('names the source of a cached answer, which has neither tokens nor attempts', () => {
    const told = { ...generation, cacheSourceId: 'gen-1-source', attempts: [] }
    expect(toDeliveryRecord(told, content, { privacyMode: true, broadcast: none }).gateway).toMatchObject({
      attempts: 0,
      response_cache_source_id: 'gen-1-source',
    })
    expect(toDeliveryRecord(generation, content, { privacyMode: true, broadcast: none }).gateway).not.toHaveProperty('response_cache_source_id')
  })

  it('falls back to the generation id and fixed names', () => {
    const sample = minimalGeneration()
    const record = toDeliveryRecord(sample.generation, sample.content, { privacyMode: false, broadcast: none })
    expect(record.names).toEqual({ trace: 'Gateway Request', generation: 'LLM Generation' })
    expect(record.ids.otlp.traceId.startsWith(record.ids.otlp.generationSpanId)).toBe(true)
  })

  it.each([
    [{}, 'Checkout'],
    [{ generation_name: 'Draft' }, 'Draft'],
    [{ span_name: 'Answer' }, 'LLM Generation'],
    [{ parent_span_id: 'b7ad6b7169203331' }, 'LLM Generation'],
  ])('names a generation that is the root of its trace after it, unless it has a name: %j is %s', (more, expected) => {
    const named = { ...generation, trace: { trace_name: 'Checkout', ...more } }
    expect(toDeliveryRecord(named, content, { privacyMode: false, broadcast: none }).names).toMatchObject({ trace: 'Checkout', generation: expected })
  })

  it('marks missing content where content may be sent', () => {
    const seen = (privacyMode: boolean, said: typeof content | undefined) => toDeliveryRecord(generation, said, { privacyMode, broadcast: none })
    expect(seen(false, undefined)).toMatchObject({ truncated: true, gateway: { content_truncated: true } })
    for (const whole of [seen(false, content), seen(true, content), seen(true, undefined)]) {
      expect(whole.truncated).toBe(false)
      expect(whole.gateway).not.toHaveProperty('content_truncated')
    }
  })

  it("keeps the caller's keys beside the gateway's own of the same name", () => {
    const metadata = { gateway: 'north', 'gateway.source': 'x', caller_gateway: 'mine', gateway_id: '7' }
    const record = toDeliveryRecord({ ...generation, metadata, trace: { provider_responses: [1] } }, content, { privacyMode: false, broadcast: none })
    expect(record.metadata).toEqual({
      caller_caller_gateway: 'north',
      'caller_gateway.source': 'x',
      caller_gateway: 'mine',
      gateway_id: '7',
      caller_provider_responses: [1],
    })
    expect(record.gateway['source']).toBe(generation.apiType)
  })

  it('passes custom metadata through with its types, without the reserved keys', () => {
    const { metadata } = toDeliveryRecord(generation, content, { privacyMode: false, broadcast: none })
    expect(metadata).toEqual({
      ticket: 'T-1',
      environment: 'Production',
      release: '1.4.0',
      tags: ['blue', 'beta'],
      team: 'search',
      attempt: 2,
      score: 0.5,
      flags: { dark: true },
    })
  })

  it('separates the key’s owner from the user of the call', () => {
    const { gateway } = toDeliveryRecord(generation, content, { privacyMode: false, broadcast: none })
    expect(gateway).toMatchObject({ creator_user_id: 'user-17', user_id: 'customer-5' })
  })

  it('makes children of attempts and tool steps, which carry no usage', () => {
    const { children } = toDeliveryRecord(generation, content, { privacyMode: false, broadcast: none })
    expect(children.map((c) => [c.kind, c.name, c.ok])).toEqual([
      ['attempt', 'provider attempt 1: Acme', false],
      ['attempt', 'provider attempt 2: Beta', true],
      ['tool', 'tool: datetime', true],
    ])
    expect(children[2]).toMatchObject({ input: expect.stringContaining('zone'), output: expect.stringContaining('2026') })
    expect(new Set(children.map((c) => c.otlpSpanId)).size).toBe(3)
    expect(JSON.stringify(children)).not.toMatch(/usage|cost|operation/)
  })

  it('contains each tag once', () => {
    const tags = ['blue', 'beta', 'blue']
    const record = toDeliveryRecord({ ...generation, trace: { tags } }, content, { privacyMode: false, broadcast: none })
    expect(record.tags).toEqual(['blue', 'beta'])
  })

  it('takes at most fifty tags that are not empty', () => {
    const tags = ['', 7, null, ...Array.from({ length: 60 }, (_, i) => `t${i}`)]
    const record = toDeliveryRecord({ ...generation, trace: { tags } }, content, { privacyMode: false, broadcast: none })
    expect(record.tags).toEqual(Array.from({ length: 50 }, (_, i) => `t${i}`))
  })

  it('leaves out unknown values: empty names, metadata that is null', () => {
    const changes = { keyName: '', nativeFinishReason: '', trace: { nothing: null, zero: 0 }, metadata: {} }
    const record = toDeliveryRecord({ ...generation, ...changes }, content, { privacyMode: false, broadcast: none })
    expect(record.metadata).toEqual({ zero: 0 })
    expect(record.gateway).not.toHaveProperty('api_key_name')
    expect(record.gateway).not.toHaveProperty('finish_reason')
  })

  it('marks a call that the caller cancelled', () => {
    const record = toDeliveryRecord({ ...generation, status: 'cancelled' }, content, { privacyMode: false, broadcast: none })
    expect(record.failure).toEqual({ type: 'cancelled', message: 'The caller closed the connection' })
    expect(toDeliveryRecord(generation, content, { privacyMode: false, broadcast: none }).failure).toBeUndefined()
  })

  it('makes at most a hundred child spans for tools, whoever ran them', () => {
    const [step] = generation.steps!
    const steps = Array.from({ length: 150 }, (_, i) => ({ ...step!, itemId: `call_${i}` }))
    const { steps: _steps, ...unknown } = generation
    const calls = Array.from({ length: 150 }, (_, i) => ({ type: 'web_search_call' as const, id: `ws_${i}`, status: 'completed' as const }))
    const toolsOf = (...[given, said]: Parameters<typeof toDeliveryRecord>): number =>
      toDeliveryRecord(given, said, { privacyMode: false, broadcast: none }).children.filter(({ kind }) => kind === 'tool').length
    expect(toolsOf({ ...generation, steps }, content, { privacyMode: false, broadcast: none })).toBe(100)
    expect(toolsOf(unknown, { input: [], output: calls }, { privacyMode: false, broadcast: none })).toBe(100)
  })

  it('makes child spans for tools of the provider, without times, and none for calls to the caller', () => {
    const { steps: _steps, ...unknown } = generation
    const output = [
      { type: 'web_search_call' as const, id: 'ws_1', status: 'completed' as const, action: { type: 'search', query: 'cats' } },
      { type: 'custom_tool_call' as const, id: 'ct_1', call_id: 'c', name: 'mine', input: 'x' },
      { type: 'function_call' as const, id: 'fc_1', call_id: 'd', name: 'mine', arguments: '{}' },
      { type: 'tool_search_call' as const, id: 'tsc_1', call_id: 'e', execution: 'client', arguments: { query: 'docs' } },
      { type: 'local_shell_call' as const, id: 'lsh_1', call_id: 'f', action: { type: 'exec', command: ['ls'] } },
      { type: 'computer_call' as const, id: 'cu_1', call_id: 'g', action: { type: 'screenshot' } },
      { type: 'apply_patch_call' as const, id: 'apc_1', call_id: 'h', operation: { type: 'delete_file', path: 'a' } },
      { type: 'shell_call' as const, id: 'sh_1', call_id: 'i', action: { commands: ['ls'] } },
    ]
    const { children } = toDeliveryRecord({ ...unknown, attempts: [] }, { input: [], output }, { privacyMode: false, broadcast: none })
    expect(children).toMatchObject([
      { kind: 'tool', name: 'tool: web_search', input: '{"type":"search","query":"cats"}', attributes: { 'gateway.tool.timing': 'unknown' } },
    ])
  })

  it('makes a child span for a shell of the provider, with its output', () => {
    const { steps: _steps, ...unknown } = generation
    const output = [
      { type: 'shell_call' as const, id: 'sh_1', call_id: 'i', action: { commands: ['ls'] } },
      { type: 'shell_call_output' as const, id: 'sho_1', call_id: 'i', output: [{ stdout: 'a.txt', outcome: { type: 'exit', exit_code: 0 } }] },
    ]
    const { children } = toDeliveryRecord({ ...unknown, attempts: [] }, { input: [], output }, { privacyMode: false, broadcast: none })
    expect(children).toMatchObject([
      { kind: 'tool', name: 'tool: shell', input: '{"commands":["ls"]}', output: expect.stringContaining('"stdout":"a.txt"') },
    ])
  })

  it('makes a child span for a search for tools of the provider, with what it found', () => {
    const { steps: _steps, ...unknown } = generation
    const output = [
      { type: 'tool_search_call', id: 'tsc_1', call_id: 't', execution: 'server', arguments: { query: 'mail' } },
      { type: 'tool_search_output', id: 'tso_1', call_id: 't', execution: 'server', tools: [{ type: 'function', name: 'send_mail' }] },
    ] as const
    const { children } = toDeliveryRecord({ ...unknown, attempts: [] }, { input: [], output }, { privacyMode: false, broadcast: none })
    expect(children).toMatchObject([{ name: 'tool: tool_search', output: expect.stringContaining('send_mail') }])
  })

  it.each([
    [
      { type: 'mcp_call', id: 'm', server_label: 's', name: 'read', arguments: '{}', error: { code: 404, message: 'no such page' } },
      false,
      'no such page',
    ],
    [{ type: 'mcp_call', id: 'm', server_label: 's', name: 'read', arguments: '{}', error: 'timed out' }, false, 'timed out'],
    [{ type: 'image_generation_call', id: 'ig', status: 'failed', result: null }, false, undefined],
    [{ type: 'mcp_call', id: 'm', server_label: 's', name: 'read', arguments: '{}', output: 'a page', error: null }, true, undefined],
  ] as const)('tells a failed tool of the provider from one that succeeded: %o', (item, ok, said) => {
    const { steps: _steps, ...unknown } = generation
    const { children } = toDeliveryRecord({ ...unknown, attempts: [] }, { input: [], output: [item] }, { privacyMode: false, broadcast: none })
    expect(children).toMatchObject([{ ok, attributes: ok ? {} : { 'error.type': 'provider_unavailable' } }])
    expect(children[0]?.message).toEqual(said === undefined ? undefined : expect.stringContaining(said))
  })

  it.each([
    [{ type: 'code_interpreter_call', id: 'ci', code: 'print(6*7)', outputs: [{ type: 'logs', logs: '42' }] }, 'print(6*7)', '42'],
    [{ type: 'image_generation_call', id: 'ig', prompt: 'a red cat', result: 'AAAA' }, 'a red cat', 'image/png'],
  ] as const)('contains input and output of a tool of the provider: %o', (item, given, found) => {
    const { steps: _steps, ...unknown } = generation
    const { children } = toDeliveryRecord({ ...unknown, attempts: [] }, { input: [], output: [item] }, { privacyMode: false, broadcast: none })
    expect(children).toMatchObject([{ input: expect.stringContaining(given), output: expect.stringContaining(found) }])
  })

  it.each([
    [
      { type: 'gateway:datetime', id: 'dt', datetime: '2026-01-15T12:00:00Z', timezone: 'UTC' },
      '{"datetime":"2026-01-15T12:00:00Z","timezone":"UTC"}',
    ],
    [
      { type: 'gateway:web_fetch', id: 'wf', call_id: 'c', name: 'f', url: 'https://a.example', error: 'no answer', httpStatus: null },
      '{"url":"https://a.example","error":"no answer"}',
    ],
    [{ type: 'gateway:bash', id: 'b', status: 'completed', output: 'a.txt', exitCode: 0 }, 'a.txt'],
    [{ type: 'web_search_call', id: 'ws', status: 'completed', action: { type: 'search', query: 'cats' } }, undefined],
  ] as const)('contains the tool fields of other items: %o', (item, found) => {
    const { steps: _steps, ...unknown } = generation
    const { children } = toDeliveryRecord({ ...unknown, attempts: [] }, { input: [], output: [item] }, { privacyMode: false, broadcast: none })
    expect(children.map(({ output }) => output)).toEqual([found])
  })

  it('gives each tool of the provider a span of its own, also if the provider uses the id of a call again', () => {
    const { steps: _steps, ...unknown } = generation
    const call = (query: string) => ({ type: 'tool_search_call', id: 'tsc', call_id: 'call_0', execution: 'server', arguments: { query } }) as const
    const output = [call('mail'), call('files'), call('news')]
    const spansOf = () => toDeliveryRecord({ ...unknown, attempts: [] }, { input: [], output }, { privacyMode: false, broadcast: none }).children
    expect(new Set(spansOf().map(({ id }) => id)).size).toBe(3)
    expect(new Set(spansOf().map((span) => span.otlpSpanId)).size).toBe(3)
    expect(spansOf()).toEqual(spansOf())
  })

  it('gives each tool of the provider its own result, also if the provider uses the id of a call again', () => {
    const { steps: _steps, ...unknown } = generation
    const call = (command: string) => ({ type: 'shell_call', call_id: 'call_0', action: { commands: [command] } }) as const
    const result = (stdout: string) => ({ type: 'shell_call_output', call_id: 'call_0', output: [{ stdout }] }) as const
    const output = [call('ls'), result('a.txt'), call('pwd'), result('/root'), call('date')]
    const { children } = toDeliveryRecord({ ...unknown, attempts: [] }, { input: [], output }, { privacyMode: false, broadcast: none })
    expect(children.map((child) => [child.input, child.output])).toEqual([
      ['{"commands":["ls"]}', '[{"stdout":"a.txt"}]'],
      ['{"commands":["pwd"]}', '[{"stdout":"/root"}]'],
      ['{"commands":["date"]}', undefined],
    ])
  })

  it("contains the provider's own tools and those the gateway ran, each once", () => {
    const output = [...content.output, { type: 'web_search_call' as const, id: 'ws_1', status: 'completed' as const }]
    const { children } = toDeliveryRecord({ ...generation, attempts: [] }, { input: [], output }, { privacyMode: false, broadcast: none })
    expect(children.map(({ name, attributes }) => [name, attributes['gateway.tool.timing']])).toEqual([
      ['tool: datetime', undefined],
      ['tool: web_search', 'unknown'],
    ])
  })

  it('finds the item of a step by its id as well, and has no status for an attempt without one', () => {
    const steps = [{ ...generation.steps![0]!, itemId: 'dt_1' }]
    const attempts = [{ ...generation.attempts[0]!, status: 0 }]
    const { children } = toDeliveryRecord({ ...generation, steps, attempts }, content, { privacyMode: false, broadcast: none })
    expect(children[1]).toMatchObject({ kind: 'tool', output: expect.stringContaining('2026') })
    expect(children[0]?.attributes).not.toHaveProperty('http.response.status_code')
  })

  it('keeps the metadata of a failed generation and says what failed', () => {
    const sample = failedGeneration()
    const record = toDeliveryRecord(sample.generation, sample.content, { privacyMode: false, broadcast: none })
    expect(record.failure).toEqual({ type: 'content_policy_violation', message: `Your prompt "${CANARY}" was flagged` })
    expect(record.metadata).toEqual({ team: 'search', environment: 'staging' })
  })
})

describe('media', () => {
  const png = `data:image/png;base64,iVBORw0KGgo${'A1b2'.repeat(40)}`

  it.each([false, true])('are not sent in any name, tag or value of the caller, privacy mode: %s', (privacyMode) => {
    const trace = {
      trace_name: png,
      generation_name: png,
      span_name: png,
      environment: png,
      release: png,
      tags: ['ok', png],
      image: png,
      deep: [{ signature: png }],
    }
    const record = toDeliveryRecord({ ...generation, trace, metadata: { image: png } }, content, { privacyMode, broadcast: all })
    expect(JSON.stringify(record)).not.toContain('iVBORw0KGgo')
    expect(record.tags).toEqual(['ok', '[image/png, 128 bytes]'])
    expect(record.names).toEqual({ trace: '[image/png, 128 bytes]', generation: '[image/png, 128 bytes]', wrapper: '[image/png, 128 bytes]' })
  })

  it('are not suspected in metadata because of the name of a field', () => {
    const metadata = { signature: 'QA->answer', file_data: 'orders-2026' }
    const trace = { step: { data: 'row 7', format: 'csv' } }
    const record = toDeliveryRecord({ ...generation, trace, metadata }, content, { privacyMode: false, broadcast: none })
    expect(record.metadata).toEqual({ ...metadata, ...trace })
    expect(record.generation).toMatchObject({ metadata, trace })
  })
})

describe('privacy mode', () => {
  it.each([
    ['full', fullGeneration()],
    ['failed', failedGeneration()],
  ])('leaves no text of prompt or answer anywhere in the record: %s', (_name, sample) => {
    const record = toDeliveryRecord(sample.generation, sample.content, { privacyMode: true, broadcast: all })
    expect(JSON.stringify(record)).not.toContain(CANARY)
    expect(record.content).toBeUndefined()
  })

  it('keeps of parameters numbers, switches and names, never a text the caller wrote', () => {
    const words = `${CANARY} and more than forty characters of it`
    const parameters = {
      prompt_cache_key: CANARY,
      service_tier: 'flex',
      truncation: words,
      verbosity: 'low',
      store: false,
      reasoning: { effort: words, summary: CANARY },
      stop: CANARY,
    }
    const { parameters: kept } = toDeliveryRecord({ ...generation, parameters }, content, { privacyMode: true, broadcast: all }).generation
    expect(kept).toEqual({ service_tier: 'flex', verbosity: 'low', store: false })
  })

  it("keeps a server's ids and reasons only if they are one word", () => {
    const kept = (text: string): unknown[] => {
      const attempts = [{ ...generation.attempts[0]!, upstreamId: text }]
      const told = { ...generation, nativeFinishReason: text, upstreamId: text, attempts }
      const { generation: seen } = toDeliveryRecord(told, content, { privacyMode: true, broadcast: all })
      return [seen.nativeFinishReason, seen.upstreamId, seen.attempts[0]?.upstreamId]
    }
    expect(kept('chatcmpl-9/a.b:c=')).toEqual(['chatcmpl-9/a.b:c=', 'chatcmpl-9/a.b:c=', 'chatcmpl-9/a.b:c='])
    expect(kept(`blocked for saying ${CANARY}`)).toEqual([undefined, undefined, undefined])
  })

  it("keeps the counters of a server's tools only if their names are one word", () => {
    const usage = { ...generation.usage, serverToolUse: { web_search: 2, [`found ${CANARY}`]: 1 } }
    const { generation: seen } = toDeliveryRecord({ ...generation, usage }, content, { privacyMode: true, broadcast: all })
    expect(seen.usage.serverToolUse).toEqual({ web_search: 2 })
  })

  it('leaves out the error texts of tools', () => {
    const steps = [{ ...generation.steps![0]!, errorType: 'tool_error', errorMessage: `cannot read ${CANARY}` }]
    const record = toDeliveryRecord({ ...generation, steps }, content, { privacyMode: true, broadcast: all })
    expect(JSON.stringify(record)).not.toContain(CANARY)
    expect(record.children.at(-1)).toMatchObject({ ok: false, attributes: { 'error.type': 'tool_error' } })
  })

  it("names the gateway's own tools, and of another server's only the kind", () => {
    const [own] = generation.steps!
    const steps = [own!, { ...own!, itemId: 'mcp_1', name: `${CANARY}__search`, source: 'mcp' }]
    const record = toDeliveryRecord({ ...generation, steps }, content, { privacyMode: true, broadcast: all })
    expect(JSON.stringify(record)).not.toContain(CANARY)
    const tools = record.children.filter(({ kind }) => kind === 'tool')
    expect(tools.map(({ name }) => name)).toEqual(['tool: datetime', 'tool: mcp'])
    expect(tools[1]?.attributes).toMatchObject({ 'gen_ai.tool.name': 'mcp' })
  })

  it('keeps tokens, cost, timing, model, ids and custom metadata', () => {
    const record = toDeliveryRecord(generation, content, { privacyMode: true, broadcast: none })
    expect(record.generation).toMatchObject({
      id: generation.id,
      model: 'acme/small',
      sessionId: 'session-9',
      cost: generation.cost,
      firstTokenMs: 320,
    })
    expect(record.generation.usage.inputTokens).toBe(1200)
    expect(record.generation.parameters).toEqual({ temperature: 0.2, top_p: 0.9, max_output_tokens: 400, reasoning: { effort: 'low' } })
    expect(record.metadata['team']).toBe('search')
    expect(record.children).toHaveLength(3)
  })
})

describe('the cost', () => {
  it('has no rounding errors of sums, in the record and in the broadcast fields', () => {
    const dusty: Generation = { ...generation, cost: { ...generation.cost, total: 0.1 + 0.2, input: 0.1 + 0.2, output: 0 } }
    const record = toDeliveryRecord(dusty, content, { privacyMode: false, broadcast: all })
    expect(record.generation.cost).toMatchObject({ total: 0.3, input: 0.3 })
    expect(record.broadcast).toMatchObject({ total_cost: 0.3, usage: 0.3 })
    expect(presentGeneration(dusty)).toMatchObject({ total_cost: 0.3, usage: 0.3 })
  })
})

describe('broadcast groups', () => {
  it('are a partition', () => {
    const names = Object.values(BROADCAST_GROUPS).flatMap((fields) => Object.keys(fields(generation)))
    expect(new Set(names).size).toBe(names.length)
  })

  it('add only what was opted in to, and only what is known', () => {
    expect(broadcastFields(generation, none)).toBeUndefined()
    expect(broadcastFields(generation, { ...none, cost: true })).toEqual({
      usage: 0.0123,
      total_cost: 0.0123,
      cache_discount: 0.0009,
      is_byok: false,
    })
    expect(broadcastFields(minimalGeneration().generation, { ...none, cost: true })).toEqual({ is_byok: false })
    const own: Generation = { ...generation, isByok: true, cost: { ...generation.cost, byok: generation.cost.total } }
    expect(broadcastFields(own, { ...none, cost: true })).toMatchObject({
      usage: 0,
      total_cost: 0,
      upstream_inference_cost: 0.0123,
      is_byok: true,
    })
    expect(broadcastFields(generation, { ...none, identity: true })).toMatchObject({ external_user: 'customer-5', api_key_name: 'production' })
    expect(broadcastFields(generation, { ...none, requestContext: true })).toMatchObject({ streamed: true, tokens_prompt: 1200 })
  })

  it.each([
    ['full', generation],
    ['minimal', minimalGeneration().generation],
    ['failed', failedGeneration().generation],
    ['embedding', embeddingGeneration().generation],
    ['by an own key', { ...generation, isByok: true, cost: { ...generation.cost, cacheDiscount: 0 } }],
  ])('have the same values as the record under every shared name: %s', (_name, each) => {
    const shown: { readonly [field: string]: unknown } = presentGeneration(each)
    const sent = broadcastFields(each, all) ?? {}
    const shared = Object.keys(sent).filter((name) => name in shown)
    expect(shared.length).toBeGreaterThan(15)
    for (const name of shared) expect([name, sent[name]]).toEqual([name, shown[name]])
    // What the record leaves open is left out.
    for (const [name, value] of Object.entries(shown)) if (value === null) expect(Object.keys(sent)).not.toContain(name)
  })
})
