import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { InputItem } from '../../core/item.ts'
import { isGatewayError } from '../../core/error.ts'
import { sealReasoning } from '../../core/reasoning-envelope.ts'
import type { ModelRequest } from '../../core/request.ts'
import { sanitizeSchema, toolInputSchema } from '../shared/sanitize-schema.ts'
import { Unfolding } from '../shared/unfolding.ts'
import { messagesTarget } from './__fixtures__/target.ts'
import type { TargetOverrides } from './__fixtures__/target.ts'
import { anthropicMessages } from './index.ts'
import { sealBlocks } from './server-blocks.ts'

// The same cases in every run, so that a failure does not depend on chance.
fc.configureGlobal({ seed: 20260301 })

type Block = { readonly type: string; readonly [field: string]: unknown }
interface Body {
  readonly max_tokens: number
  readonly system?: readonly Block[]
  readonly messages: readonly { readonly role: string; readonly content: readonly Block[] }[]
  readonly tools?: readonly { readonly name: string }[]
  readonly thinking?: { readonly type: string; readonly budget_tokens?: number }
  readonly tool_choice?: { readonly type: string }
}

const format = 'anthropic-claude-v1'
const text = fc.constantFrom('', ' ', '\n', 'a', 'b ', 'c\u00e9')
const breakpoint = fc.constantFrom(undefined, null, { mode: 'explicit' as const })
const part = fc.oneof(
  fc.record({ type: fc.constant('input_text'), text, prompt_cache_breakpoint: breakpoint }),
  fc.record({ type: fc.constant('output_text'), text }),
  fc.constantFrom({ type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=' }, { type: 'input_file', file_data: 'JVBERi0=' }),
)
const content = fc.oneof(text, fc.array(part, { maxLength: 3 }))
const id = fc.constantFrom('a', 'b', 'c', 'd|x')
const name = fc.constantFrom('f', 'g', 'ns.h')
const item = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant('message'), role: fc.constantFrom('user', 'assistant', 'system', 'developer'), content }) },
  {
    weight: 4,
    arbitrary: fc.record({ type: fc.constant('function_call'), call_id: id, name, arguments: fc.constantFrom('', '{}', '{"x":1}', 'no', '[]') }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('custom_tool_call'), call_id: id, name, input: text }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constantFrom('function_call_output', 'custom_tool_call_output'), call_id: id, output: content }) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      { type: 'reasoning', summary: [], encrypted_content: sealReasoning({ format, scope: 'acme', signature: 'S', text: 't' }) },
      { type: 'reasoning', summary: [], encrypted_content: sealReasoning({ format, scope: 'acme', data: 'BLOB' }) },
      { type: 'reasoning', summary: [], encrypted_content: sealReasoning({ format: 'google-gemini-v1', scope: 'x', signature: 'S' }) },
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 's' }] },
      {
        type: 'web_search_call',
        status: 'completed',
        encrypted_content: sealBlocks(
          [
            { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
            { type: 'web_search_tool_result', tool_use_id: 's', content: [] },
          ],
          messagesTarget(),
        ),
      },
      { type: 'file_search_call', status: 'completed' },
    ),
  },
)
const request = fc.record({
  input: fc.array(item as fc.Arbitrary<InputItem>, { maxLength: 12 }),
  instructions: fc.constantFrom(undefined, null, 'i'),
  tools: fc.constantFrom<ModelRequest['tools']>(
    undefined,
    [],
    [
      { type: 'function', name: 'f' },
      { type: 'custom', name: 'g' },
    ],
    [{ type: 'web_search' }],
  ),
  tool_choice: fc.constantFrom<ModelRequest['tool_choice']>('auto', 'none', 'required', { type: 'function', name: 'f' }),
  reasoning: fc.constantFrom<ModelRequest['reasoning']>(null, { effort: 'none' }, { effort: 'high' }, { max_tokens: 3000 }, { enabled: true }),
  max_output_tokens: fc.constantFrom(null, 16, 1024, 5000),
  cache_control: fc.constantFrom(null, { type: 'ephemeral' as const }, { type: 'ephemeral' as const, ttl: '1h' as const }),
  text: fc.constantFrom<ModelRequest['text']>(null, { format: { type: 'json_schema', name: 'n', schema: { type: 'object' } } }),
}) as fc.Arbitrary<ModelRequest>
const settings = fc.constantFrom<TargetOverrides>(
  {},
  { maxOutputTokens: 4096, options: { web_search_tool: 'web_search_20250305' } },
  { options: { thinking: 'adaptive', prefill: false, forced_tools: 'never', json_schema: 'native' } },
)

/** The rules of the format, which no request may break, whatever its history. */
function checkBody(body: Body): void {
  const blocks = [...(body.system ?? []), ...body.messages.flatMap((message) => message.content)]
  expect(body.messages[0]?.role).toBe('user')
  body.messages.forEach((message, at) => {
    expect(message.content.length).toBeGreaterThan(0)
    expect(message.role).not.toBe(body.messages[at + 1]?.role)
    const called = message.role === 'assistant' ? message.content.filter(({ type }) => type === 'tool_use').map((block) => block['id']) : []
    const results = (body.messages[at + 1]?.content ?? []).filter(({ type }) => type === 'tool_result')
    if (message.role === 'assistant') {
      expect(message.content.at(-1)?.type).not.toMatch(/thinking$/)
      expect(results.map((block) => block['tool_use_id'])).toEqual(called)
      expect(body.messages[at + 1]?.content.slice(0, results.length) ?? []).toEqual(results)
      expect(new Set(called).size).toBe(called.length)
    }
  })
  for (const block of blocks) {
    if (block.type === 'text') expect(String(block['text']).trim()).not.toBe('')
    if (block.type === 'tool_use') {
      expect(block['id']).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
      expect(block['input']).toBeTypeOf('object')
    }
    if (block.type === 'thinking') expect(block).toHaveProperty('signature')
    if (block.type.endsWith('thinking')) expect(block).not.toHaveProperty('cache_control')
  }
  if (blocks.some(({ type }) => type === 'tool_use')) expect(body.tools?.length ?? 0).toBeGreaterThan(0)
  const marked = blocks.flatMap((block) => (block['cache_control'] === undefined ? [] : [(block['cache_control'] as { ttl?: string }).ttl]))
  expect(marked.length).toBeLessThanOrEqual(4)
  expect(marked).toEqual([...marked.filter((ttl) => ttl === '1h'), ...marked.filter((ttl) => ttl !== '1h')])
  const last = body.messages.at(-1)
  if (last?.role === 'assistant') {
    expect(body.thinking?.type ?? 'disabled').toBe('disabled')
    expect(last.content.at(-1)?.['text'] ?? 'x').toMatch(/\S$/)
  }
  if (body.thinking?.budget_tokens !== undefined) {
    expect(body.thinking.budget_tokens).toBeGreaterThanOrEqual(1024)
    expect(body.thinking.budget_tokens).toBeLessThan(body.max_tokens)
    expect(['any', 'tool']).not.toContain(body.tool_choice?.type)
  }
}

describe('any history', () => {
  it('gives a request that keeps the rules of the format, or a GatewayError', () => {
    fc.assert(
      fc.property(request, settings, (given, overrides) => {
        try {
          checkBody(JSON.parse(anthropicMessages.encodeRequest(given, messagesTarget(overrides)).body) as Body)
        } catch (error) {
          if (!isGatewayError(error)) throw error
        }
      }),
      { numRuns: 3000 },
    )
  })
})

describe('any schema', () => {
  const leaf = fc.constantFrom<unknown>(
    { type: 'string', minLength: 2 },
    { type: 'integer', minimum: 0 },
    { $ref: '#/$defs/d', title: 't' },
    { enum: [1, 'a'] },
    true,
    null,
    { type: ['object', 'null'] },
  )
  const { schema } = fc.letrec<{ schema: unknown }>((tie) => ({
    schema: fc.oneof(
      { depthSize: 'small' },
      leaf,
      fc.record(
        {
          type: fc.constantFrom('object', 'array'),
          properties: fc.dictionary(fc.constantFrom('a', 'b', '$ref', 'pattern'), tie('schema'), { maxKeys: 3 }),
          required: fc.constantFrom(['a'], ['b'], 'a'),
          items: tie('schema'),
          anyOf: fc.array(tie('schema'), { maxLength: 2 }),
          oneOf: fc.array(tie('schema'), { maxLength: 2 }),
          allOf: fc.array(tie('schema'), { maxLength: 2 }),
          $defs: fc.constantFrom({ d: { type: 'object' } }, { d: { $ref: '#/$defs/d' } }),
          additionalProperties: fc.constantFrom(true, false, { type: 'string' }),
          maxItems: fc.nat(3),
        },
        { requiredKeys: [] },
      ),
    ),
  }))
  const objects = schema.filter((value) => typeof value === 'object' && value !== null) as fc.Arbitrary<{ [key: string]: unknown }>

  const objectsClosed = (value: unknown): boolean => {
    if (typeof value !== 'object' || value === null) return true
    const { properties, ...rest } = value as { properties?: unknown; type?: unknown; additionalProperties?: unknown }
    const closed = rest.type !== 'object' || rest.additionalProperties === false
    return closed && Object.values(rest).every(objectsClosed) && Object.values((properties as object | undefined) ?? {}).every(objectsClosed)
  }

  it('is reduced to closed objects, and reducing it again changes nothing', () => {
    fc.assert(
      fc.property(objects, (given) => {
        const once = sanitizeSchema(given)
        expect(objectsClosed(once)).toBe(true)
        expect(sanitizeSchema(once)).toEqual(once)
      }),
      { numRuns: 1500 },
    )
  })

  it('becomes an object at the top for tools, without a choice there', () => {
    fc.assert(
      fc.property(objects, (given) => {
        const input = toolInputSchema(given, new Unfolding())
        expect(input['type']).toBe('object')
        if (['anyOf', 'oneOf', 'allOf'].some((keyword) => Array.isArray(given[keyword])) || typeof given['$ref'] === 'string') {
          expect(Object.keys(input)).not.toEqual(expect.arrayContaining(['anyOf']))
          expect(input).not.toHaveProperty('$ref')
        }
      }),
      { numRuns: 1000 },
    )
  })

  it('keeps the common parts of branches', () => {
    const branches = [{ type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }, { $ref: '#/$defs/other' }]
    expect(
      toolInputSchema(
        { anyOf: branches, $defs: { other: { type: 'object', properties: { b: {} }, required: ['a', 'b'] } }, description: 'd' },
        new Unfolding(),
      ),
    ).toEqual({
      type: 'object',
      description: 'd',
      properties: { a: { type: 'string' }, b: {} },
      required: ['a'],
      $defs: { other: { type: 'object', properties: { b: {} }, required: ['a', 'b'] } },
    })
    expect(toolInputSchema({ allOf: branches.slice(0, 1), properties: { c: {} }, required: ['c'] }, new Unfolding())['required']).toEqual(['c', 'a'])
  })
})
