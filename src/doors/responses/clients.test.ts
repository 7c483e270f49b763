/**
 * Bodies as real clients write them. The libraries run unchanged, with a `fetch` that records what they would have sent. Codex is not a library, so its
 * bodies are written out here.
 */
import { createOpenResponses } from '@ai-sdk/open-responses'
import { createOpenAI } from '@ai-sdk/openai'
import { OpenRouter } from '@openrouter/sdk'
import { HTTPClient } from '@openrouter/sdk/lib/http.js'
import { Agent, OpenAIResponsesModel, Runner, tool as agentTool } from '@openai/agents'
import { jsonSchema, type ModelMessage, Output, streamText, tool } from 'ai'
import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { ModelRequest } from '../../core/request.ts'
import { decodeResponsesRequest } from './decode-request.ts'

interface Recorder {
  readonly bodies: unknown[]
  readonly fetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>
}

/** Answers everything with an error that clients do not retry. */
function recorder(): Recorder {
  const bodies: unknown[] = []
  return {
    bodies,
    fetch: async (input, init) => {
      const text = await new Request(input, init).text()
      bodies.push(JSON.parse(text))
      return Response.json({ error: { code: 400, message: 'recorded' } }, { status: 400 })
    },
  }
}

async function sent(call: (fetch: Recorder['fetch']) => Promise<unknown>): Promise<ModelRequest> {
  const { bodies, fetch } = recorder()
  await call(fetch).catch(() => undefined)
  expect(bodies).toHaveLength(1)
  return decodeResponsesRequest(bodies[0])
}

const weatherSchema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false } as const
const baseURL = 'http://gateway.test/api/v1'

describe('openai', () => {
  const create = (body: OpenAI.Responses.ResponseCreateParams): Promise<ModelRequest> =>
    sent((fetch) => new OpenAI({ apiKey: 'k', baseURL, fetch, maxRetries: 0 }).responses.create(body))

  it('a string', async () => {
    expect(await create({ model: 'acme/small', input: 'Hello' })).toMatchObject({ model: 'acme/small', input: [{ type: 'message' }] })
  })
  it('a remote call in every state the client knows', async () => {
    const input = (['in_progress', 'completed', 'incomplete', 'calling', 'failed'] as const).map((status) => ({
      type: 'mcp_call' as const,
      id: `mcp_${status}`,
      server_label: 'math',
      name: 'add',
      arguments: '{}',
      status,
    }))
    expect((await create({ model: 'acme/small', input })).input).toEqual(input)
  })
  it('the image tool with every format and quality the client knows', async () => {
    const tools: OpenAI.Responses.Tool[] = [
      ...(['png', 'webp', 'jpeg', 'gif', 'svg'] as const).map((output_format) => ({ type: 'image_generation' as const, output_format })),
      ...(['low', 'medium', 'high', 'xhigh', 'max', 'auto'] as const).map((quality) => ({ type: 'image_generation' as const, quality })),
    ]
    expect((await create({ model: 'acme/small', input: 'A cat', tools })).tools).toEqual(tools)
  })
  it('a conversation with tools, images, files and structured output', async () => {
    const decoded = await create({
      model: 'acme/small',
      stream: true,
      store: false,
      instructions: 'Be brief',
      input: [
        { role: 'developer', content: 'Be kind' },
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'What is this?' },
            { type: 'input_image', image_url: 'data:image/png;base64,QQ==', detail: 'auto' },
            { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,QQ==' },
          ],
        },
        { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA' },
        { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{}' },
        { type: 'function_call_output', call_id: 'call_1', output: [{ type: 'input_text', text: 'sunny' }] },
        {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'A cat', annotations: [], logprobs: [] }],
        },
      ],
      tools: [
        { type: 'function', name: 'weather', parameters: weatherSchema, strict: true },
        { type: 'web_search', search_context_size: 'low', user_location: { type: 'approximate', country: 'CH' } },
        { type: 'mcp', server_label: 's', server_url: 'https://mcp.example', require_approval: 'never' },
        { type: 'code_interpreter', container: { type: 'auto' } },
        { type: 'tool_search' },
      ],
      tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'weather' }] },
      reasoning: { effort: 'high', summary: 'auto' },
      text: { format: { type: 'json_schema', name: 'answer', schema: weatherSchema, strict: true }, verbosity: 'low' },
      include: ['reasoning.encrypted_content', 'web_search_call.action.sources', 'message.output_text.logprobs'],
      stream_options: { include_obfuscation: false },
      prompt_cache_retention: '24h',
      prompt_cache_options: { mode: 'implicit', ttl: '30m' },
    })
    expect(decoded.input).toHaveLength(6)
    expect(decoded['prompt_cache_retention']).toBe('24h')
  })
})

const history: ModelMessage[] = [
  { role: 'system', content: 'Be brief' },
  {
    role: 'user',
    content: [
      { type: 'text', text: 'What is this?' },
      { type: 'file', data: new URL('https://img.example/cat.png'), mediaType: 'image/png' },
    ],
  },
  {
    role: 'assistant',
    content: [
      { type: 'text', text: 'Let me look' },
      { type: 'tool-call', toolCallId: 'call_1', toolName: 'weather', input: { city: 'Bern' } },
    ],
  },
  { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'call_1', toolName: 'weather', output: { type: 'json', value: { t: 21 } } }] },
  { role: 'user', content: 'And now?' },
]
const aiTools = { weather: tool({ description: 'Weather', inputSchema: jsonSchema(weatherSchema) }) }

describe('the AI SDK', () => {
  const finish = async (result: { readonly consumeStream: (options?: object) => PromiseLike<void> }): Promise<void> => {
    await result.consumeStream({ onError: () => undefined })
  }
  const quiet = { maxRetries: 0, onError: () => undefined, allowSystemInMessages: true }

  it('through its openai provider', async () => {
    const decoded = await sent((fetch) => {
      const provider = createOpenAI({ apiKey: 'k', baseURL, fetch })
      const providerOptions = { openai: { store: false, reasoningEffort: 'low', reasoningSummary: 'auto', metadata: { a: 'b' }, logprobs: 3 } }
      return finish(
        streamText({ ...quiet, model: provider.responses('acme/small'), messages: history, tools: aiTools, toolChoice: 'required', providerOptions }),
      )
    })
    expect(decoded.input.map((item) => item.type)).toEqual(['message', 'message', 'message', 'function_call', 'function_call_output', 'message'])
  })
  it('with a forced tool and its hosted tools', async () => {
    const decoded = await sent((fetch) => {
      const provider = createOpenAI({ apiKey: 'k', baseURL, fetch })
      const tools = { ...aiTools, web_search: provider.tools.webSearch({ searchContextSize: 'low' }) }
      return finish(
        streamText({ ...quiet, model: provider('acme/small'), prompt: 'Hello', tools, toolChoice: { type: 'tool', toolName: 'weather' } }),
      )
    })
    expect(decoded.tool_choice).toEqual({ type: 'function', name: 'weather' })
  })
  it('with structured output', async () => {
    const decoded = await sent((fetch) => {
      const provider = createOpenAI({ apiKey: 'k', baseURL, fetch })
      const output = Output.object({ schema: z.object({ city: z.string() }) })
      return finish(streamText({ ...quiet, model: provider('acme/small'), prompt: 'Hello', output }))
    })
    expect(decoded.text?.format?.type).toBe('json_schema')
  })
  it('through its open-responses provider', async () => {
    const decoded = await sent((fetch) => {
      const provider = createOpenResponses({ name: 'gateway', url: `${baseURL}/responses`, apiKey: 'k', fetch })
      return finish(streamText({ ...quiet, model: provider('acme/small'), messages: history, tools: aiTools }))
    })
    expect(decoded.input.some((item) => item.type === 'function_call_output')).toBe(true)
  })
})

describe('@openai/agents', () => {
  it('an agent with a tool, forced', async () => {
    const decoded = await sent((fetch) => {
      const client = new OpenAI({ apiKey: 'k', baseURL, fetch, maxRetries: 0 })
      const weather = agentTool({ name: 'weather', description: 'Weather', parameters: z.object({ city: z.string() }), execute: () => 'sunny' })
      const agent = new Agent({
        name: 'Guide',
        instructions: 'Be brief',
        model: new OpenAIResponsesModel(client, 'acme/small'),
        tools: [weather],
        modelSettings: { toolChoice: 'weather', reasoning: { effort: 'low' }, parallelToolCalls: false, store: false },
      })
      return new Runner({ tracingDisabled: true }).run(agent, 'How is the weather in Bern?')
    })
    expect(decoded).toMatchObject({ instructions: 'Be brief', tool_choice: { type: 'function', name: 'weather' } })
  })
})

describe('@openrouter/sdk', () => {
  it('everything of the gateway beside the model', async () => {
    const decoded = await sent((fetch) => {
      const httpClient = new HTTPClient({ fetcher: (input, init) => fetch(input, init) })
      const client = new OpenRouter({ apiKey: 'k', serverURL: baseURL, httpClient, retryConfig: { strategy: 'none' } })
      return client.beta.responses.send({
        responsesRequest: {
          models: ['acme/small', 'acme/large'],
          input: [{ role: 'user', content: [{ type: 'input_image', detail: 'auto', imageUrl: 'https://img.example/a.png' }] }],
          tools: [
            { type: 'openrouter:web_search', parameters: { maxResults: 3 } },
            { type: 'openrouter:datetime', parameters: { timezone: 'UTC' } },
          ],
          plugins: [{ id: 'file-parser', pdf: { engine: 'native' } }],
          provider: { order: ['acme'], allowFallbacks: false, maxPrice: { prompt: '1' }, sort: 'price' },
          stopServerToolsWhen: [{ type: 'step_count_is', stepCount: 3 }],
          sessionId: 's',
          trace: { traceId: 't', additionalProperties: { own: 'value' } },
          cacheControl: { type: 'ephemeral' },
        },
      })
    })
    expect(decoded).toMatchObject({ model: 'acme/small', models: ['acme/large'], session_id: 's', provider: { allow_fallbacks: false } })
    expect(decoded.tools?.map(({ type }) => type)).toEqual(['openrouter:web_search', 'openrouter:datetime'])
  })
})

describe('Codex', () => {
  const base = {
    model: 'acme/coder',
    instructions: 'You are a coding agent',
    tool_choice: 'auto',
    parallel_tool_calls: false,
    reasoning: { effort: 'medium', summary: 'auto' },
    store: false,
    stream: true,
    include: ['reasoning.encrypted_content'],
    prompt_cache_key: '0199-conversation',
    text: { verbosity: 'medium' },
    client_metadata: { 'x-codex-installation-id': 'i' },
  }
  const tools = [
    { type: 'function', name: 'shell', description: 'Runs a command', strict: false, parameters: { type: 'object', properties: {} } },
    { type: 'custom', name: 'apply_patch', description: 'Edits files', format: { type: 'grammar', syntax: 'lark', definition: 'start: "a"' } },
    {
      type: 'namespace',
      name: 'mcp__docs',
      description: 'Tools of a server',
      tools: [{ type: 'function', name: 'search', description: 'd', strict: false, defer_loading: true, parameters: {} }],
    },
    { type: 'web_search', external_web_access: true },
    { type: 'local_shell' },
    { type: 'tool_search', execution: 'client', description: 'd', parameters: {} },
  ]
  it('a long turn', () => {
    const input = [
      { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Permissions' }] },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Fix it' }] },
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Look' }], content: null, encrypted_content: 'gAAA' },
      { type: 'reasoning', summary: [], content: [{ type: 'text', text: 'Think' }], encrypted_content: null },
      { type: 'function_call', name: 'shell', arguments: '{"command":["ls"]}', call_id: 'call_1' },
      { type: 'function_call_output', call_id: 'call_1', output: 'a.ts' },
      { type: 'custom_tool_call', status: 'completed', call_id: 'call_2', name: 'apply_patch', input: '*** Begin Patch' },
      { type: 'custom_tool_call_output', call_id: 'call_2', output: 'Done' },
      { type: 'local_shell_call', call_id: 'call_3', status: 'completed', action: { type: 'exec', command: ['ls'], timeout_ms: null, env: null } },
      { type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'q' } },
      { type: 'tool_search_call', call_id: 'call_4', execution: 'client', arguments: {} },
      { type: 'ghost_snapshot', ghost_commit: { id: 'abc' } },
      { type: 'compaction', encrypted_content: 'gAAA' },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Done' }], phase: 'final_answer' },
    ]
    const decoded = decodeResponsesRequest({ ...base, input, tools })
    expect(decoded.input).toEqual(input)
    expect(decoded.tools).toEqual(tools)
    expect(decoded['client_metadata']).toEqual(base.client_metadata)
  })
  it('without reasoning, tools or a schema: its empty options are null', () => {
    const input = [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }]
    const decoded = decodeResponsesRequest({ ...base, input, tools: [], reasoning: null, text: null, service_tier: null, prompt_cache_key: null })
    expect(decoded.reasoning).toBeUndefined()
  })
})
