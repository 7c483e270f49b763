import { describe, expect, it } from 'vitest'
import type { ModelEvent } from '../core/event.ts'
import type { FunctionCallItem } from '../core/item.ts'
import type { ModelRequest } from '../core/request.ts'
import { anthropicMessages } from '../dialects/anthropic-messages/index.ts'
import type { MessagesTarget } from '../dialects/anthropic-messages/options.ts'
import { anthropic } from './anthropic.ts'

const target = (upstreamModel = 'claude-opus-4-8'): MessagesTarget => ({
  provider: anthropic.slug,
  providerName: anthropic.name,
  upstreamModel,
  options: anthropicMessages.options.parse(anthropic.options),
  supports: new Set([...anthropicMessages.supports, 'tools']),
  contextLength: 200_000,
  scope: anthropic.slug,
  stream: true,
})

function sent(fields: Partial<ModelRequest>, upstreamModel?: string): { betas: readonly string[]; body: { [field: string]: unknown } } {
  const request: ModelRequest = { input: [{ type: 'message', role: 'user', content: 'q' }], ...fields }
  const { headers, body } = anthropicMessages.encodeRequest(request, target(upstreamModel))
  return { betas: headers['anthropic-beta']?.split(',') ?? [], body: JSON.parse(body) as { [field: string]: unknown } }
}

describe('a field that is a beta feature', () => {
  it.each<[Partial<ModelRequest>, readonly string[]]>([
    [{ speed: 'fast' }, ['fast-mode-2026-02-01']],
    [{ mcp_servers: [{ type: 'url', name: 'm', url: 'https://m.test' }] }, ['mcp-client-2025-04-04']],
    [{ context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] } }, ['context-management-2025-06-27']],
    [{ context_management: { edits: [{ type: 'compact_20260112' }] } }, ['context-management-2025-06-27', 'compact-2026-01-12']],
    [{ container: { skills: [{ type: 'anthropic', skill_id: 'pdf' }] } }, ['code-execution-2025-08-25', 'skills-2025-10-02']],
    [{ tools: [{ type: 'computer_20251124', name: 'computer', display_width_px: 1, display_height_px: 1 }] }, ['computer-use-2025-11-24']],
    [{ tools: [{ type: 'computer_20250124', name: 'computer', display_width_px: 1, display_height_px: 1 }] }, ['computer-use-2025-01-24']],
  ])('is sent with its name: %j', (fields, betas) => {
    const { betas: named, body } = sent(fields)
    expect(named).toEqual(betas)
    expect(body).toMatchObject(fields)
  })
  it.each<Partial<ModelRequest>>([
    {},
    { speed: 'standard' },
    { inference_geo: 'us' },
    { container: 'container_1' },
    { tools: [{ type: 'function', name: 'computer_20250124', description: 'Like computer_20250124.' }] },
    { tools: [{ type: 'web_search_20260318', name: 'web_search' }] },
  ])('needs none where it is no such feature: %j', (fields) => {
    expect(sent(fields).betas).toEqual([])
  })
})

it.each([
  'interleaved-thinking-2025-05-14',
  'fine-grained-tool-streaming-2025-05-14',
  'context-1m-2025-08-07',
  'token-efficient-tools-2025-02-19',
  'output-128k-2025-02-19',
  'extended-cache-ttl-2025-04-11',
])('a caller may switch on %s', (name) => {
  expect(sent({ vendor_betas: [name] }).betas).toEqual([name])
})

it('beta features that change the blocks of an answer cannot be switched on by a caller’s header alone', () => {
  expect(sent({ vendor_betas: ['claude-code-20250219', 'mcp-client-2025-04-04', 'oauth-2025-04-20'] }).betas).toEqual([])
})

it('toolsets, which have no name of their own, are sent unchanged', () => {
  const tools = [{ type: 'computer_toolset_20260801' }, { type: 'browser_toolset_20260801' }]
  expect(sent({ tools })).toMatchObject({ betas: [], body: { tools } })
})

it('a member of a toolset is called by its name and by that of the set, in both directions', () => {
  const request: ModelRequest = { input: [{ type: 'message', role: 'user', content: 'q' }], tools: [{ type: 'browser_toolset_20260801' }] }
  const use = { type: 'tool_use', id: 'toolu_1', name: 'navigate', toolset_name: 'browser', input: { url: 'https://a.example' } }
  const events: ModelEvent[] = []
  const decoder = anthropicMessages.decoder(request, target())
  decoder.body(JSON.stringify({ id: 'msg_1', type: 'message', role: 'assistant', content: [use], stop_reason: 'tool_use' }), events)
  const item = events.flatMap((event) => (event.type === 'item-start' ? [event.item] : []))[0] as FunctionCallItem
  expect(item).toMatchObject({ type: 'function_call', call_id: 'toolu_1', name: 'navigate', namespace: 'browser' })
  const called = { ...item, arguments: '{"url":"https://a.example"}' }
  const output = { type: 'function_call_output', call_id: 'toolu_1', output: 'done' } as const
  const replayed = (tools: ModelRequest['tools'] = request.tools): unknown =>
    (sent({ ...request, tools, input: [...request.input, called, output] }).body as { messages: readonly { content: unknown }[] }).messages[1]!
      .content
  expect(replayed()).toEqual([use])
  // Without the set, the call is one of a function that is not offered any more.
  expect(replayed([{ type: 'function', name: 'f' }])).toMatchObject([{ type: 'tool_use', name: 'browser__navigate' }])
})

describe('reasoning after a history that has changed', () => {
  const thought = { type: 'reasoning', content: [{ type: 'reasoning_text', text: 't' }], signature: 's', format: 'anthropic-claude-v1' } as const
  const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' } as const
  const input: ModelRequest['input'] = [
    { type: 'message', role: 'user', content: 'q' },
    thought,
    call,
    { type: 'function_call_output', call_id: 'c', output: 'r' },
  ]
  const tools = [{ type: 'function', name: 'f' }]
  const dropped = { block_binding: { prefix_mismatch_behavior: 'drop_block' } }
  const beta = ['thinking-binding-controls-2026-08-01']
  it.each(['claude-fable-5-1', 'claude-opus-5-5', 'claude-sonnet-5-5', 'claude-haiku-5-5'])(
    'is left out for %s, which would refuse the call',
    (model) => {
      const silent = sent({ input, tools }, model)
      expect([silent.body['thinking'], silent.betas]).toEqual([{ type: 'adaptive', ...dropped }, beta])
      const asked = sent({ input, tools, reasoning: { effort: 'low' } }, model)
      expect([asked.body['thinking'], asked.betas]).toEqual([{ type: 'adaptive', display: 'summarized', ...dropped }, beta])
      const first = sent({ tools, reasoning: { effort: 'low' } }, model)
      expect([first.body['thinking'], first.betas]).toEqual([{ type: 'adaptive', display: 'summarized' }, []])
    },
  )
  it('is left out of a request that disables thinking, where nothing may be beside it', () => {
    expect(sent({ input, tools, reasoning: { effort: 'none' } }, 'claude-sonnet-5-5').body['thinking']).toEqual({ type: 'between_tools' })
    expect(sent({ input, tools, reasoning: { effort: 'none' } }, 'claude-haiku-5-5').body['thinking']).toEqual({ type: 'disabled' })
    const least = sent({ input, tools, reasoning: { effort: 'none' } }, 'claude-opus-5-5').body
    expect([least['thinking'], least['output_config']]).toEqual([{ type: 'adaptive', ...dropped }, { effort: 'low' }])
  })
  it.each(['claude-opus-5', 'claude-opus-4-8', 'claude-sonnet-4-5'])('makes no difference for %s', (model) => {
    const { body, betas } = sent({ input, tools, reasoning: { effort: 'low' } }, model)
    expect(JSON.stringify(body)).not.toContain('block_binding')
    expect(betas).toEqual([])
  })
})
