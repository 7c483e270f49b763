import { OpenResponsesResult$inboundSchema } from '@openrouter/sdk/models'
import { describe, expect, it } from 'vitest'
import { expectKnown } from '../../../e2e/clients/expect-known.ts'
import { verifies } from '../../../e2e/requirements.ts'
import type { Tool, ToolChoice } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'
import { decodeResponsesRequest } from './decode-request.ts'
import { createResource } from './resource.ts'

/** The resource of an answer to this request, as parsed by a strict client. */
function answered(asked: Partial<ModelRequest>): { [field: string]: unknown } {
  const request = decodeResponsesRequest({ model: 'acme/small', input: 'hi', ...asked })
  const resource = JSON.parse(
    createResource('gen-1', 1_700_000_000, request)({ status: 'in_progress', model: 'acme/small', output: [], outputText: '[]' }),
  )
  expectKnown(OpenResponsesResult$inboundSchema.parse(resource))
  return resource
}
const tools: readonly Tool[] = [
  { type: 'function', name: 'look' },
  { type: 'custom', name: 'free' },
  { type: 'web_search' },
  { type: 'web_search_preview' },
  { type: 'image_generation' },
  { type: 'mcp', server_label: 'docs', server_url: 'https://docs.example/mcp' },
  { type: 'gateway:datetime' },
  { type: 'apply_patch' },
  { type: 'shell' },
]

describe(verifies('P44', 'the echo of a tool choice'), () => {
  it.each<[ToolChoice]>([
    ['none'],
    ['required'],
    [{ type: 'function', name: 'look' }],
    [{ type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'look' }] }],
    [{ type: 'web_search_preview' }],
    [{ type: 'apply_patch' }],
    [{ type: 'shell' }],
  ])('is the choice as sent: %j', (choice) => {
    expect(answered({ tools, tool_choice: choice })['tool_choice']).toEqual(choice)
  })

  it.each<[ToolChoice]>([
    [{ type: 'web_search' }],
    [{ type: 'custom', name: 'free' }],
    [{ type: 'image_generation' }],
    [{ type: 'mcp', server_label: 'docs' }],
    [{ type: 'gateway:datetime' }],
    [{ type: 'openrouter:datetime' }],
  ])('is "required" for %j, which answers cannot express', (choice) => {
    expect(answered({ tools, tool_choice: choice })['tool_choice']).toBe('required')
  })

  it('is "auto" when nothing was chosen', () => {
    expect(answered({})['tool_choice']).toBe('auto')
  })
})

describe(verifies('P44', 'the echo of tools and formats'), () => {
  const echoed = (tool: Tool): unknown => (answered({ tools: [tool] })['tools'] as readonly unknown[])[0]

  it.each<[Tool, Tool]>([
    [
      { type: 'custom', name: 'free', description: null, format: null },
      { type: 'custom', name: 'free' },
    ],
    [{ type: 'web_search', engine: null, max_results: null, search_context_size: null }, { type: 'web_search' }],
    [
      { type: 'mcp', server_label: 'docs', connector_id: null, require_approval: { always: null, never: { tool_names: null } } },
      { type: 'mcp', server_label: 'docs', require_approval: { never: {} } },
    ],
    [
      { type: 'image_generation', background: null, input_image_mask: { file_id: null, image_url: 'https://img.example/m.png' } },
      { type: 'image_generation', input_image_mask: { image_url: 'https://img.example/m.png' } },
    ],
    [
      { type: 'file_search', vector_store_ids: ['vs'], max_num_results: null, ranking_options: { ranker: null } },
      { type: 'file_search', vector_store_ids: ['vs'], ranking_options: {} },
    ],
    [
      { type: 'code_interpreter', container: { type: 'auto', file_ids: null } },
      { type: 'code_interpreter', container: { type: 'auto' } },
    ],
    [
      {
        type: 'namespace',
        name: 'n',
        description: null,
        tools: [
          { type: 'function', name: 'f', description: null, defer_loading: null },
          { type: 'custom', name: 'c', description: null },
        ],
      },
      {
        type: 'namespace',
        name: 'n',
        description: '',
        tools: [
          { type: 'function', name: 'f', description: null },
          { type: 'custom', name: 'c' },
        ],
      },
    ],
  ])('leaves out what is null where answers have no null: %j', (sent, told) => {
    expect(echoed(sent)).toEqual(told)
  })

  it('keeps a null where answers have one', () => {
    const search = { type: 'web_search', filters: { allowed_domains: null }, user_location: null }
    expect(echoed(search)).toEqual(search)
    const room = { type: 'code_interpreter', container: { type: 'auto', memory_limit: null } }
    expect(echoed(room)).toEqual(room)
    expect(echoed({ type: 'function', name: 'f', description: null, strict: null, defer_loading: undefined })).toEqual({
      type: 'function',
      name: 'f',
      description: null,
      parameters: null,
      strict: null,
    })
  })

  it('leaves schemas unchanged, because null has a meaning in them', () => {
    const schema = { type: 'object', properties: { unit: { enum: ['C', null], default: null } } }
    expect(echoed({ type: 'function', name: 'f', parameters: schema })).toMatchObject({ parameters: schema })
    const format = { type: 'json_schema', name: 'n', description: null, strict: null, schema } as unknown as NonNullable<
      ModelRequest['text']
    >['format']
    expect(answered({ text: { format } })['text']).toEqual({
      format: { type: 'json_schema', name: 'n', strict: null, schema },
    })
  })
})

describe('the echo of prompt and prompt_cache_options', () => {
  it('is null where the caller sent none', () => {
    expect(answered({})).toMatchObject({ prompt: null, prompt_cache_options: null })
  })

  it('is what was sent, without media', () => {
    const text = { type: 'input_text', text: 'Bern' }
    const image = { type: 'input_image', image_url: 'data:image/png;base64,QQ==' }
    const asked = {
      prompt: { id: 'pmpt_1', variables: { city: 'Bern', text, image } },
      prompt_cache_options: { mode: 'explicit', ttl: '30m' } as const,
    }
    expect(answered(asked)).toMatchObject({
      prompt: { id: 'pmpt_1', variables: { city: 'Bern', text } },
      prompt_cache_options: { mode: 'explicit', ttl: '30m' },
    })
    expect(JSON.stringify(answered(asked))).not.toContain('base64')
    expect(answered({ prompt: { id: 'pmpt_1' } })['prompt']).toEqual({ id: 'pmpt_1', variables: null })
  })

  it('leaves out a cache mode that answers cannot express', () => {
    expect(answered({ prompt_cache_options: { mode: 'implicit' } as never })['prompt_cache_options']).toBeNull()
  })
})
