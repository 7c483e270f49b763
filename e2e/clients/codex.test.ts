import { describe, expect, it } from 'vitest'
import { checkWire } from '../../src/testing/check-wire.ts'
import { status } from '../../src/testing/fake-upstream.ts'
import { DIALECTS, MODEL, setStage } from './stage.ts'
import { verifies } from '../requirements.ts'

/**
 * Codex is not a library that could run here, so its exchange is written out by hand. It reads content only from `response.output_item.done`, ignores
 * unknown events, and silently drops items that it cannot read.
 */
const TOOLS = [
  {
    type: 'function',
    name: 'shell',
    description: 'Runs a command',
    strict: false,
    parameters: { type: 'object', properties: { command: { type: 'array', items: { type: 'string' } } } },
  },
  { type: 'custom', name: 'apply_patch', description: 'Edits files', format: { type: 'grammar', syntax: 'lark', definition: 'start: "a"' } },
  {
    type: 'namespace',
    name: 'mcp__docs',
    description: 'Tools of a server',
    tools: [
      {
        type: 'function',
        name: 'search',
        description: 'Finds pages',
        strict: false,
        parameters: { type: 'object', properties: { query: { type: 'string' } } },
      },
    ],
  },
  { type: 'web_search', external_web_access: true },
]

const PROMPT = [
  { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Permissions: all' }] },
  { type: 'message', role: 'user', content: [{ type: 'input_text', text: '<environment_context>bash</environment_context>' }] },
  { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Fix it' }] },
]

const request = (input: readonly object[]): object => ({
  model: MODEL,
  instructions: 'You are a coding agent',
  input,
  tools: TOOLS,
  tool_choice: 'auto',
  parallel_tool_calls: true,
  reasoning: { effort: 'medium', summary: 'auto' },
  store: false,
  stream: true,
  include: ['reasoning.encrypted_content'],
  prompt_cache_key: '0199-conversation',
  text: { verbosity: 'medium' },
  service_tier: null,
  client_metadata: { 'x-codex-installation-id': 'i' },
})

type Item = { readonly type: string; readonly [field: string]: unknown }

describe.each(DIALECTS)(verifies('S2-clients', 'P23', 'an exchange of Codex in front of an upstream of %s'), (dialect) => {
  const stage = setStage(dialect)

  /** One turn as Codex reads it: the finished items, in order, and the closing event. */
  async function turn(input: readonly object[]): Promise<{ readonly items: readonly Item[]; readonly usage: Item }> {
    const response = await stage.gateway().respond(request(input), { headers: { session_id: 's', originator: 'codex_cli_rs', version: '0.99.0' } })
    const text = await response.text()
    if (response.status !== 200) throw new Error(text)
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
    const { events, terminal } = checkWire(text)
    expect(terminal.type).toBe('response.completed')
    const items = events.filter(({ type }) => type === 'response.output_item.done').map((event) => event['item'] as Item)
    return { items, usage: (terminal['response'] as { usage: Item }).usage }
  }

  it('is served whole: developer message, namespace and search tools, encrypted reasoning, two turns', async () => {
    stage.says(
      {
        reasoning: 'Look first.',
        calls: [
          { id: 'call_1', name: 'shell', arguments: ['{"command":', '["ls"]}'] },
          { id: 'call_2', name: 'shell', arguments: ['{"command":["pwd"]}'] },
        ],
      },
      { text: ['Fixed.'] },
    )
    const first = await turn(PROMPT)
    expect(first.items.map(({ type }) => type)).toEqual(['reasoning', 'function_call', 'function_call'])
    const [reasoning, ...calls] = first.items
    expect(Array.isArray(reasoning!['summary'])).toBe(true)
    if (dialect === 'openai-responses') expect(reasoning!['encrypted_content']).toEqual(expect.any(String))
    for (const call of calls)
      expect(call).toMatchObject({ id: expect.stringMatching(/^fc_/), call_id: expect.any(String), name: 'shell', status: 'completed' })
    for (const field of ['input_tokens', 'output_tokens', 'total_tokens']) expect(first.usage[field]).toEqual(expect.any(Number))

    const outputs = calls.map((call, n) => ({ type: 'function_call_output', call_id: call['call_id'], output: ['a.ts', '/work'][n] }))
    const second = await turn([...PROMPT, ...first.items, ...outputs])
    expect(second.items).toMatchObject([{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Fixed.' }] }])

    const [asked, again] = stage.heard()
    expect(asked!.system).toContain('You are a coding agent')
    expect(asked!.system).toContain('Permissions: all')
    expect(JSON.stringify(asked!.body)).toContain('Finds pages')
    expect(again!.callTurns).toEqual([
      [
        { id: 'call_1', name: 'shell', arguments: '{"command":["ls"]}' },
        { id: 'call_2', name: 'shell', arguments: '{"command":["pwd"]}' },
      ],
    ])
    expect(again!.results).toEqual([
      { id: 'call_1', output: 'a.ts' },
      { id: 'call_2', output: '/work' },
    ])
    if (dialect === 'openai-responses') {
      expect(asked!.body).toMatchObject({
        store: false,
        prompt_cache_key: '0199-conversation',
        include: expect.arrayContaining(['reasoning.encrypted_content']),
      })
      expect(JSON.stringify(again!.body)).toContain('gAAAA-upstream')
    }
  })

  it('gets the call of a tool inside a namespace back under its own name', async () => {
    // Formats without namespaces receive a single flat name.
    const called = dialect === 'openai-chat' ? { name: 'mcp__docs__search' } : { name: 'search', namespace: 'mcp__docs' }
    stage.says({ calls: [{ id: 'call_1', ...called, arguments: ['{"query":"x"}'] }] })
    expect((await turn(PROMPT)).items).toMatchObject([{ type: 'function_call', name: 'search', namespace: 'mcp__docs', arguments: '{"query":"x"}' }])
    expect(JSON.stringify(stage.heard()[0]!.body['tools'])).toContain(`"name":"${called.name}"`)
  })

  it.each([
    [
      'a context that is too long',
      400,
      { code: 'context_length_exceeded', message: "This model's maximum context length is 8 tokens" },
      400,
      'context_length_exceeded',
    ],
    [
      'a rate limit with its hint',
      429,
      { code: 'rate_limit_exceeded', message: 'Rate limit reached. Please try again in 11.054s.' },
      429,
      'rate_limit_exceeded',
    ],
  ])('reads %s from status and type before the stream', async (_name, upstream, error, expected, errorType) => {
    stage.says(status(upstream, { error: { type: 'x', ...error } }))
    const response = await stage.gateway().respond(request(PROMPT))
    expect(response.status).toBe(expected)
    expect(await response.json()).toMatchObject({
      error: { code: expected, message: expect.stringContaining(error.message), metadata: { error_type: errorType } },
    })
  })

  it('finds the reason of a failure inside the stream in response.error, with a code it knows or retries on', async () => {
    stage.says({ text: ['Half'], fails: 'The engine broke down' })
    const { terminal } = checkWire(await (await stage.gateway().respond(request(PROMPT))).text())
    expect(terminal).toMatchObject({
      type: 'response.failed',
      response: { error: { code: 'server_error', message: expect.stringContaining('The engine broke down') } },
    })
  })
})
