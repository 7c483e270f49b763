import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { GatewayError } from '../../core/error.ts'
import type { InputItem, JsonObject, OtherTool } from '../../core/item.ts'
import type { ModelRequest, ReasoningOptions } from '../../core/request.ts'
import { REQUESTS, toolLoop } from './__fixtures__/requests.ts'
import { bedrockTarget, CLAUDE, LLAMA, MISTRAL, NEW_CLAUDE, NOVA } from './__fixtures__/target.ts'
import type { TargetOverrides } from './__fixtures__/target.ts'
import { bedrockConverse } from './index.ts'
import { DocumentNames } from './media.ts'

const user = (content: unknown): InputItem => ({ type: 'message', role: 'user', content })

interface Body {
  readonly messages: { readonly role: string; readonly content: JsonObject[] }[]
  readonly system?: JsonObject[]
  readonly inferenceConfig: JsonObject
  readonly toolConfig?: { readonly tools: { readonly toolSpec: JsonObject }[]; readonly toolChoice?: JsonObject }
  readonly additionalModelRequestFields?: JsonObject
  readonly [field: string]: unknown
}

function encode(request: Partial<ModelRequest>, overrides: TargetOverrides = {}): { body: Body; dropped: readonly string[] } {
  const encoded = bedrockConverse.encodeRequest({ input: [user('q')], ...request }, bedrockTarget(overrides))
  return { body: JSON.parse(encoded.body) as Body, dropped: encoded.dropped }
}

describe('encoding, by golden file', () => {
  it.each(Object.entries(REQUESTS))('%s', async (name, [request, overrides]) => {
    const { path, headers, body, dropped } = bedrockConverse.encodeRequest(request, bedrockTarget(overrides))
    const isWhole = name === 'tool-loop-llama'
    expect(headers['accept']).toBe(isWhole ? 'application/json' : 'application/vnd.amazon.eventstream')
    const golden = `${JSON.stringify({ path, body: JSON.parse(body), dropped }, undefined, 2)}\n`
    await expect(golden).toMatchFileSnapshot(`__fixtures__/requests/${name}.json`)
  })
})

describe('the path', () => {
  it('holds the model as one segment', () => {
    const path = (model: string, stream = true): string =>
      bedrockConverse.encodeRequest({ input: [user('q')] }, bedrockTarget({ model, stream })).path
    expect(path(CLAUDE)).toBe('/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream')
    expect(path('arn:aws:bedrock:us-east-1:1:inference-profile/x', false)).toBe(
      '/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Fx/converse',
    )
  })
})

/** Conditions on which the service refuses any conversation. */
function checkRules({ messages, toolConfig }: Body): void {
  expect(messages[0]?.role).toBe('user')
  let open: string[] = []
  messages.forEach(({ role, content }, at) => {
    expect(role).toBe(at % 2 === 0 ? 'user' : 'assistant')
    expect(content.length).toBeGreaterThan(0)
    for (const block of content) if ('text' in block) expect((block['text'] as string).trim()).not.toBe('')
    const results = content.flatMap((block) => ('toolResult' in block ? [(block['toolResult'] as { toolUseId: string }).toolUseId] : []))
    expect(results).toEqual(open)
    if (results.length > 0) expect(content.slice(0, results.length).every((block) => 'toolResult' in block)).toBe(true)
    open = content.flatMap((block) => ('toolUse' in block ? [(block['toolUse'] as { toolUseId: string }).toolUseId] : []))
    if (role === 'assistant') expect(content.at(-1)).not.toHaveProperty('reasoningContent')
    if (content.some((block) => 'document' in block)) expect(content.some((block) => 'text' in block)).toBe(true)
    if (open.length + results.length > 0) expect(toolConfig?.tools.length).toBeGreaterThan(0)
  })
  expect(open).toEqual([])
}

describe('a model behind an opaque id', () => {
  const ARN = 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc123'
  const asked: Partial<ModelRequest> = {
    input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'q', prompt_cache_breakpoint: {} } as never] }],
    reasoning: { effort: 'high' },
    temperature: 0.5,
  }
  it('follows the rules of the model where its id is configured, at the URL of the opaque id', () => {
    const told = bedrockConverse.encodeRequest(
      { input: asked.input!, ...asked },
      bedrockTarget({ model: ARN, options: { model_behind: 'anthropic.claude-opus-4-7' } }),
    )
    expect(told.path).toBe(`/model/${encodeURIComponent(ARN)}/converse-stream`)
    expect(JSON.parse(told.body)).toEqual(encode(asked, { model: 'anthropic.claude-opus-4-7' }).body)
    expect(JSON.parse(told.body)).toMatchObject({ additionalModelRequestFields: { thinking: { type: 'adaptive' } } })
  })
  it('counts as unknown where it is not configured', () => {
    expect(encode(asked, { model: ARN })).toMatchObject({ body: { inferenceConfig: { temperature: 0.5 } }, dropped: ['reasoning'] })
  })
})

describe('an answer that may hold calls', () => {
  const asked = { tools: [{ type: 'function', name: 'f' }] } as const
  const called: readonly InputItem[] = [
    user('q'),
    { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
    { type: 'function_call_output', call_id: 'c', output: 'r' },
    user('q'),
  ]
  const schema: ModelRequest['text'] = { format: { type: 'json_schema', name: 'a', schema: { type: 'object' } } }
  const isStreamed = (model: string, request: Partial<ModelRequest>): boolean => {
    const { path, headers } = bedrockConverse.encodeRequest({ input: [user('q')], ...request }, bedrockTarget({ model }))
    const streamed = path.endsWith('/converse-stream')
    expect(headers['accept']).toBe(streamed ? 'application/vnd.amazon.eventstream' : 'application/json')
    const { options } = bedrockTarget()
    expect(bedrockConverse.asksWhole?.({ input: [user('q')], ...request }, { options, upstreamModel: model, supports: new Set() })).toBe(!streamed)
    return streamed
  }
  it.each([
    'us.meta.llama4-maverick-17b-instruct-v1:0',
    LLAMA,
    'us.mistral.pixtral-large-2502-v1:0',
    'writer.palmyra-x5-v1:0',
    'ai21.jamba-1-5-large-v1:0',
  ])('is requested in one piece where calls cannot be streamed: %s', (model) => {
    for (const request of [asked, { input: called }, { text: schema }]) expect(isStreamed(model, request)).toBe(false)
    expect(isStreamed(model, {})).toBe(true)
  })
  it.each([CLAUDE, NOVA, MISTRAL, 'openai.gpt-oss-120b-1:0', 'a-model-nobody-knows'])('is streamed otherwise: %s', (model) => {
    for (const request of [asked, { input: called }, { text: schema }]) expect(isStreamed(model, request)).toBe(true)
  })
})

describe('any conversation', () => {
  const text = fc.constantFrom('a', ' ', 'Hello', '\n')
  const id = fc.constantFrom('a', 'b', 'c:d', 'x'.repeat(70))
  const item = fc.oneof(
    fc.record({ type: fc.constant('message'), role: fc.constantFrom('user', 'assistant', 'system', 'developer'), content: text }),
    fc.record({
      type: fc.constant('function_call'),
      call_id: id,
      name: fc.constantFrom('f', 'g h'),
      arguments: fc.constantFrom('', '{}', '{"a":1}', '[1]', '{"a'),
    }),
    fc.record({ type: fc.constant('custom_tool_call'), call_id: id, name: fc.constant('p'), input: text }),
    fc.record({
      type: fc.constant('function_call_output'),
      call_id: id,
      output: fc.oneof(text, fc.constant(''), fc.constant([{ type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=' }])),
    }),
    fc.record({
      type: fc.constant('reasoning'),
      summary: fc.constant([]),
      signature: fc.constant('S'),
      format: fc.constantFrom('anthropic-claude-v1', 'other'),
      content: fc.constant([{ type: 'reasoning_text', text: 't' }]),
    }),
  )
  it.each([CLAUDE, NOVA, LLAMA, MISTRAL, 'us.deepseek.r1-v1:0', 'amazon.titan-text-express-v1'])('obeys the rules of the service (%s)', (model) => {
    fc.assert(
      fc.property(fc.array(item, { maxLength: 12 }), fc.constantFrom('auto', 'none', 'required'), fc.boolean(), (input, tool_choice, tools) => {
        let body: Body
        try {
          body = encode({ input: input, tool_choice, tools: tools ? [{ type: 'function', name: 'f' }] : [] }, { model }).body
        } catch (error) {
          // Pictures outside a call's result are the user's own, and text-only models refuse them.
          expect(error).toMatchObject({ errorType: 'invalid_prompt', failover: 'next' })
          return
        }
        checkRules(body)
        expect(JSON.stringify(body)).not.toContain(':null')
      }),
      { numRuns: 60 },
    )
  })
  it('keeps the rules in every golden file', () => {
    for (const [request, overrides] of Object.values(REQUESTS)) checkRules(encode(request, overrides).body)
  })
})

describe('tools the service runs', () => {
  const model = 'us.amazon.nova-2-lite-v1:0'
  const f = { type: 'function', name: 'f' }
  const tools = [{ type: 'web_search_preview' }, { type: 'code_interpreter' }, f]
  const names = (request: Partial<ModelRequest>, overrides: TargetOverrides = { model }): unknown => encode(request, overrides).body.toolConfig?.tools
  it('search and code are system tools where the model has them', () => {
    const system = [{ systemTool: { name: 'nova_grounding' } }, { systemTool: { name: 'nova_code_interpreter' } }]
    expect(names({ tools })).toMatchObject([{ toolSpec: { name: 'f' } }, ...system])
    expect(names({ tools: tools.slice(0, 2) })).toEqual(system)
    expect(encode({ tools: tools.slice(0, 2), tool_choice: 'required' }, { model }).body.toolConfig).not.toHaveProperty('toolChoice')
    expect(names({ tools, tool_choice: 'none' })).toBeUndefined()
    expect(encode({ tools }, { model }).dropped).toEqual([])
    expect(encode({ tools }, { model: CLAUDE }).dropped).toEqual(['tools: web_search_preview', 'tools: code_interpreter'])
  })
  it('are hosted as the model has them, searches without bounds', () => {
    const hosts = (tool: OtherTool, upstreamModel = model): boolean | undefined =>
      bedrockConverse.hosts?.(tool, [], bedrockTarget({ model: upstreamModel }))
    expect([hosts({ type: 'web_search' }), hosts({ type: 'web_search' }, CLAUDE), hosts({ type: 'gateway:web_search' })]).toEqual([
      true,
      false,
      false,
    ])
    expect(hosts({ type: 'web_search', filters: { allowed_domains: ['a.test'] } })).toBe(false)
    expect(hosts({ type: 'code_interpreter' }, 'us.amazon.nova-premier-v1:0')).toBe(false)
  })
})

describe('arguments of past calls', () => {
  it('keep their numbers as the model wrote them', () => {
    expect(bedrockConverse.encodeRequest(toolLoop, bedrockTarget()).body).toContain('"id":12345678901234567890')
  })
})

describe('tool choice', () => {
  const tools = [
    { type: 'function', name: 'a' },
    { type: 'function', name: 'b' },
  ]
  it.each<[string, ModelRequest['tool_choice'], string, unknown, number]>([
    ['auto', 'auto', CLAUDE, { auto: {} }, 2],
    ['auto where there is no choice', 'auto', LLAMA, undefined, 2],
    ['required', 'required', CLAUDE, { any: {} }, 2],
    ['required where it is unknown', 'required', LLAMA, undefined, 2],
    ['one tool', { type: 'function', name: 'b' }, CLAUDE, { tool: { name: 'b' } }, 2],
    ['one tool where none can be named', { type: 'function', name: 'b' }, MISTRAL, { any: {} }, 1],
    ['none', 'none', CLAUDE, undefined, 0],
  ])('%s', (_name, tool_choice, model, choice, count) => {
    const { body } = encode({ tools, ...(tool_choice === undefined ? {} : { tool_choice }) }, { model })
    expect(body.toolConfig?.toolChoice).toEqual(choice)
    expect(body.toolConfig?.tools.length ?? 0).toBe(count)
  })
  it('with one call at a time is the model’s own field where it has one', () => {
    expect(encode({ tools, parallel_tool_calls: false }).body.additionalModelRequestFields).toEqual({
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    })
    expect(encode({ tools, parallel_tool_calls: false }, { model: NOVA }).dropped).toContain('parallel_tool_calls')
  })
  it.each<[string, ModelRequest['tool_choice'], unknown]>([
    ['auto', 'auto', { auto: {} }],
    ['required', 'required', { any: {} }],
    ['one tool', { type: 'function', name: 'b' }, { tool: { name: 'b' } }],
  ])('with one call at a time is sent once: %s', (_name, tool_choice, choice) => {
    const { body } = encode({ tools, parallel_tool_calls: false, ...(tool_choice === undefined ? {} : { tool_choice }) })
    expect(body.toolConfig?.toolChoice).toEqual(choice)
    expect(body.additionalModelRequestFields).toEqual({ tool_choice: { disable_parallel_tool_use: true } })
  })
})

describe('structured output', () => {
  it('by a hidden tool leaves the caller the choice it made', () => {
    const text = { format: { type: 'json_schema' as const, name: 'n', schema: { type: 'object' } } }
    const sent = (more: Partial<ModelRequest>): unknown[] => {
      const { toolConfig } = encode({ text, tools: [{ type: 'function', name: 'f' }], ...more }, { model: NOVA }).body
      return [toolConfig?.tools.map(({ toolSpec }) => toolSpec['name']), toolConfig?.toolChoice]
    }
    expect(sent({})).toEqual([['f', 'structured_answer'], { any: {} }])
    expect(sent({ tool_choice: 'none' })).toEqual([['f', 'structured_answer'], { tool: { name: 'structured_answer' } }])
    expect(sent({ tool_choice: 'required' })).toEqual([['f'], { tool: { name: 'f' } }])
    expect(sent({ tool_choice: { type: 'function', name: 'f' } })).toEqual([['f'], { tool: { name: 'f' } }])
  })
})

describe('models that cannot be forced to call', () => {
  const tools = ['f', 'g'].map((name) => ({ type: 'function', name }))
  it.each(['us.anthropic.claude-sonnet-5-5', 'anthropic.claude-opus-5-5', 'anthropic.claude-fable-5-1', 'anthropic.claude-mythos-6'])(
    '%s',
    (model) => {
      const sent = (request: Partial<ModelRequest>): unknown => {
        const { body, dropped } = encode({ tools, ...request }, { model })
        return [body.toolConfig!.tools.map(({ toolSpec }) => toolSpec['name']), body.toolConfig!.toolChoice, dropped]
      }
      expect(sent({ tool_choice: 'required' })).toEqual([['f', 'g'], { auto: {} }, ['tool_choice: cannot be forced']])
      expect(sent({ tool_choice: { type: 'function', name: 'g' } })).toEqual([['g'], { auto: {} }, ['tool_choice: cannot be forced']])
      const format = { type: 'json_schema', name: 'n', schema: { type: 'object' } } as const
      const { body, dropped } = encode({ text: { format } }, { model })
      expect([body.toolConfig, body['outputConfig'], dropped]).toEqual([undefined, undefined, ['text.format: asked for in the prompt']])
    },
  )
})

describe('reasoning', () => {
  const fields = (reasoning: ReasoningOptions, overrides: TargetOverrides = {}, more: Partial<ModelRequest> = {}): unknown =>
    encode({ reasoning, ...more }, overrides).body.additionalModelRequestFields
  it.each<[string, ReasoningOptions, string, unknown]>([
    ['budget', { max_tokens: 3000 }, CLAUDE, { thinking: { type: 'enabled', budget_tokens: 3000 } }],
    ['at least the smallest budget', { max_tokens: 1 }, CLAUDE, { thinking: { type: 'enabled', budget_tokens: 1024 } }],
    ['share of the limit', { effort: 'low' }, CLAUDE, { thinking: { type: 'enabled', budget_tokens: 2000 } }],
    ['off', { effort: 'none' }, CLAUDE, undefined],
    ['adaptive', { enabled: true }, NEW_CLAUDE, { thinking: { type: 'adaptive', display: 'summarized' } }],
    [
      'adaptive effort',
      { effort: 'minimal' },
      NEW_CLAUDE,
      { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'low' } },
    ],
    ['adaptive, off', { enabled: false }, NEW_CLAUDE, { thinking: { type: 'disabled' } }],
    ['off where it can be since the fifth generation', { effort: 'none' }, 'us.anthropic.claude-opus-5', { thinking: { type: 'disabled' } }],
    ['off between tools', { effort: 'none' }, 'global.anthropic.claude-sonnet-5-5', { thinking: { type: 'between_tools' } }],
    ['off where it cannot be', { effort: 'none' }, 'anthropic.claude-fable-5-v1:0', { output_config: { effort: 'low' } }],
    ['off in what is not known yet', { effort: 'none' }, 'anthropic.claude-opus-6-v1:0', { output_config: { effort: 'low' } }],
    ['effort', { effort: 'low' }, NOVA, { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'low' } }],
    ['effort, off', { effort: 'none' }, NOVA, { reasoningConfig: { type: 'disabled' } }],
    ['word', { effort: 'xhigh' }, 'qwen.qwen3-32b-v1:0', { reasoning_config: 'high' }],
    ['nothing said', { summary: 'auto' }, CLAUDE, undefined],
  ])('%s', (_name, reasoning, model, expected) => {
    expect(fields(reasoning, { model }, { max_output_tokens: 10_000 })).toEqual(expected)
  })
  it('makes room below the output limit', () => {
    const { body, dropped } = encode({ reasoning: { max_tokens: 4000 }, max_output_tokens: 1000 })
    expect(body.inferenceConfig['maxTokens']).toBe(5000)
    expect(dropped).toEqual(['max_output_tokens: raised to 5000 for reasoning'])
    expect(fields({ max_tokens: 9000 }, { maxOutputTokens: 8192 })).toEqual({ thinking: { type: 'enabled', budget_tokens: 8191 } })
    expect(encode({ reasoning: { max_tokens: 4000 } }, { maxOutputTokens: 1000 }).dropped).toEqual(['reasoning'])
  })
  it('yields to a forced tool', () => {
    const { body, dropped } = encode({ reasoning: { effort: 'high' }, tools: [{ type: 'function', name: 'f' }], tool_choice: 'required' })
    expect(body.additionalModelRequestFields).toBeUndefined()
    expect(dropped).toContain('reasoning: not together with a forced tool')
  })
  it('is switched off for a forced tool where it is on by default', () => {
    const forced: Partial<ModelRequest> = { tools: [{ type: 'function', name: 'f' }], tool_choice: 'required' }
    const off = { thinking: { type: 'disabled' } }
    for (const model of ['anthropic.claude-opus-5-v1:0', 'anthropic.claude-sonnet-5', 'anthropic.claude-haiku-5-5']) {
      expect(encode(forced, { model })).toMatchObject({ body: { additionalModelRequestFields: off }, dropped: [] })
      expect(encode({}, { model }).body).not.toHaveProperty('additionalModelRequestFields')
    }
    expect(encode(forced, { model: NEW_CLAUDE }).body).not.toHaveProperty('additionalModelRequestFields')
  })
  it('is switched off in a tool loop without its reasoning', () => {
    const input = toolLoop.input.slice(0, -2).filter(({ type }) => type !== 'reasoning')
    expect(fields({ effort: 'high' }, {}, { input })).toBeUndefined()
    expect(fields({ effort: 'high' }, {}, { input: toolLoop.input.slice(0, -2) })).toBeDefined()
    expect(fields({ effort: 'high' }, { model: NEW_CLAUDE }, { input })).toBeDefined()
  })
  it('is reported where the model has none', () => {
    expect(encode({ reasoning: { effort: 'high' } }, { model: LLAMA }).dropped).toContain('reasoning')
  })
  it('of another account or format, or without a signature, is not sent', () => {
    for (const scope of ['acme', 'other']) {
      const { body } = encode(toolLoop, { scope })
      expect(JSON.stringify(body).includes('SIG')).toBe(scope === 'acme')
    }
    expect(JSON.stringify(encode(toolLoop, { model: NOVA }).body)).not.toContain('SIG')
  })
})

describe('sampling', () => {
  it('a request for images is reported as unsupported', () => {
    expect(encode({ modalities: ['image'], image_config: { aspect_ratio: '1:1' } }).dropped).toEqual(['modalities: image', 'image_config'])
  })
  const request = { temperature: 0.5, top_p: 0.9, top_k: 5 }
  it.each<[string, string, ReasoningOptions | null, object, unknown]>([
    ['one of two', CLAUDE, null, { temperature: 0.5 }, { top_k: 5 }],
    ['none', NEW_CLAUDE, null, {}, undefined],
    [
      'none while it reasons',
      'anthropic.claude-3-7-sonnet-20250219-v1:0',
      { max_tokens: 2000 },
      {},
      { thinking: { type: 'enabled', budget_tokens: 2000 } },
    ],
    ['all', NOVA, null, { temperature: 0.5, topP: 0.9 }, { inferenceConfig: { topK: 5 } }],
    ['no top_k', LLAMA, null, { temperature: 0.5, topP: 0.9 }, undefined],
  ])('%s', (_name, model, reasoning, config, additional) => {
    const { body } = encode({ ...request, reasoning }, { model })
    expect(body.inferenceConfig).toEqual(config)
    expect(body.additionalModelRequestFields).toEqual(additional)
  })
})

describe('stop sequences', () => {
  it.each(['openai.gpt-oss-120b-1:0', 'qwen.qwen3-32b-v1:0', 'deepseek.v3.2', 'zai.glm-5', 'google.gemma-3-27b-it', 'nvidia.nemotron-super-3-120b'])(
    'are left out and reported for the models that refuse them: %s',
    (model) => {
      const { body, dropped } = encode({ stop: ['END'], temperature: 0.5 }, { model })
      expect(body.inferenceConfig).toEqual({ temperature: 0.5 })
      expect(dropped).toEqual(['stop'])
    },
  )
  it.each([CLAUDE, NOVA, MISTRAL, LLAMA])('are sent to the others: %s', (model) => {
    expect(encode({ stop: ['END'] }, { model })).toMatchObject({ body: { inferenceConfig: { stopSequences: ['END'] } }, dropped: [] })
  })
  it('are left out and reported where the endpoint does not list them', () => {
    const { body, dropped } = encode({ stop: ['END'] }, { supports: ['max_tokens'] })
    expect(body.inferenceConfig).not.toHaveProperty('stopSequences')
    expect(dropped).toEqual(['stop'])
  })
})

describe('media', () => {
  const block = (part: unknown, overrides: TargetOverrides = {}): JsonObject =>
    encode({ input: [user([part])] }, overrides).body.messages[0]!.content[0]!
  it.each<[string, unknown, JsonObject]>([
    [
      'an image whose type is a lie',
      { type: 'input_image', image_url: 'data:image/png;base64,/9j/4AAQ' },
      { image: { format: 'jpeg', source: { bytes: '/9j/4AAQ' } } },
    ],
    [
      'webp',
      { type: 'input_image', image_url: 'data:application/octet-stream;base64,UklGRiQAAABXRUJQVlA4' },
      { image: { format: 'webp', source: { bytes: 'UklGRiQAAABXRUJQVlA4' } } },
    ],
    [
      'an image sent as a file',
      { type: 'input_file', file_data: 'data:image/gif;base64,R0lGODlh', filename: 'a.gif' },
      { image: { format: 'gif', source: { bytes: 'R0lGODlh' } } },
    ],
    [
      'code',
      { type: 'input_file', file_data: 'data:;base64,eA==', filename: 'a.rs' },
      { document: { format: 'txt', name: 'a', source: { bytes: 'eA==' } } },
    ],
    [
      'a spreadsheet',
      { type: 'input_file', file_data: 'data:application/vnd.openxmlformats-officedocument.spreadsheetml.sheet;base64,UEs=', filename: 'b.xlsx' },
      { document: { format: 'xlsx', name: 'b', source: { bytes: 'UEs=' } } },
    ],
  ])('%s', (_name, part, expected) => {
    expect(block(part)).toEqual(expected)
  })
  it.each<[string, unknown, TargetOverrides]>([
    ['video', { type: 'input_video', video_url: 'data:video/mp4;base64,AA==' }, {}],
    ['audio', { type: 'input_audio', input_audio: { data: 'AA==', format: 'mp3' } }, {}],
    ['images for a model that reads text', { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=' }, { model: LLAMA }],
    ['programs', { type: 'input_file', file_data: 'data:application/x-elf;base64,AA==', filename: 'a.bin' }, {}],
    ['files of another vendor', { type: 'input_file', file_id: 'file-1' }, {}],
    ['s3 addresses where they are not read', { type: 'input_image', image_url: 's3://b/k.png' }, {}],
  ])('another endpoint may take: %s', (_name, part, overrides) => {
    try {
      block(part, overrides)
    } catch (error) {
      expect(error).toBeInstanceOf(GatewayError)
      expect(error).toMatchObject({ errorType: 'invalid_prompt', failover: 'next' })
      return
    }
    expect.unreachable('this model takes no such thing')
  })
  it('audio for a model with audio input', () => {
    const part = { type: 'input_audio', input_audio: { data: 'AA==', format: 'mp3' } }
    expect(block(part, { model: 'mistral.voxtral-small-24b-2507' })).toEqual({ audio: { format: 'mp3', source: { bytes: 'AA==' } } })
  })
  it('needs the bytes of every remote address, results of tools included', () => {
    const input = [
      user([
        { type: 'input_image', image_url: 'https://a.test/1' },
        { type: 'input_file', file_url: 'https://a.test/2' },
        { type: 'input_image', image_url: 'data:image/png;base64,AA==' },
      ]),
      { type: 'function_call_output', call_id: 'x', output: [{ type: 'input_video', video_url: 'https://a.test/3' }] },
    ]
    expect(bedrockConverse.mediaUrls?.({ input: input }, bedrockTarget())).toEqual(['https://a.test/1', 'https://a.test/2', 'https://a.test/3'])
    expect(() => block({ type: 'input_image', image_url: 'https://a.test/1' })).toThrow(
      expect.objectContaining({ errorType: 'image_download_failed' }),
    )
  })
  it('a tool returned encrypted for another model are left out with a note', () => {
    const output = [{ type: 'encrypted_content', encrypted_content: 'zz' }]
    const input = [
      user('q'),
      { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c', output },
    ]
    const { messages } = encode({ input, tools: [{ type: 'function', name: 'f' }] }).body
    expect(messages.at(-1)?.content).toMatchObject([
      { toolResult: { content: [{ text: '[Encrypted content left out: this model cannot read it]' }] } },
    ])
  })
  it('gives documents names the service accepts, each once', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.string(), fc.constantFrom('a.pdf', 'a.txt', undefined)), { maxLength: 8 }), (wanted) => {
        const names = new DocumentNames()
        const given = wanted.map((name) => names.take(name))
        expect(new Set(given).size).toBe(given.length)
        for (const name of given) expect(name).toMatch(/^(?!.*\s\s)[a-zA-Z0-9\s\-()[\]]{1,200}$/)
      }),
    )
  })
})
