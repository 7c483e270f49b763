import fc from 'fast-check'
import { expect, it } from 'vitest'
import { isGatewayError } from '../../core/error.ts'
import { decodeResponsesRequest } from '../responses/decode-request.ts'
import { messagesToResponses } from './to-responses.ts'
import { messagesRequest } from './schema.ts'

type Path = readonly (string | number)[]

const marked = { cache_control: { type: 'ephemeral', ttl: '1h' } }
const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA' }, ...marked }
const text = { type: 'text', text: 'a', citations: [{ type: 'page_location' }], ...marked }
const document = { type: 'document', title: 'T', context: 'C', source: { type: 'content', content: [text, image] }, ...marked }

/** A body with every field. */
const WHOLE = {
  model: 'a/b',
  max_tokens: 9,
  system: [text],
  messages: [
    { role: 'user', content: [text, image, document, { type: 'search_result', source: 's', title: 't', content: [text] }] },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 'sb1.e30.x' },
        text,
        { type: 'redacted_thinking', data: 'in.0.0.sb1.e30.x' },
        { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'q' } },
        { type: 'web_search_tool_result', tool_use_id: 's', content: [{ type: 'web_search_result', url: 'u' }] },
        { type: 'compaction', content: 'c' },
        { type: 'container_upload', file_id: 'f' },
        { type: 'tool_use', id: 'c', name: 'f', input: { x: 1 } },
      ],
    },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'c', content: [text, image, { type: 'tool_reference', tool_name: 'f' }], is_error: true }],
    },
    { role: 'system', content: 'S' },
  ],
  tools: [
    { name: 'f', description: 'd', input_schema: { type: 'object' }, strict: true, defer_loading: true },
    {
      type: 'web_search_20250305',
      name: 'web_search',
      allowed_domains: ['a'],
      blocked_domains: ['b'],
      max_uses: 1,
      user_location: { type: 'approximate', city: 'c' },
    },
    { type: 'advisor_20260301', name: 'advisor', model: 'a/b' },
    { type: 'bash_20250124', name: 'bash' },
    { type: 'gateway:web_fetch', parameters: { max_uses: 1 } },
  ],
  tool_choice: { type: 'tool', name: 'f', disable_parallel_tool_use: true },
  thinking: { type: 'enabled', budget_tokens: 1_024, display: 'omitted' },
  output_config: { effort: 'high', format: { type: 'json_schema', schema: {} }, task_budget: {} },
  stop_sequences: ['a'],
  stream: true,
  temperature: 1,
  top_p: 1,
  top_k: 1,
  metadata: { user_id: 'u' },
  service_tier: 'auto',
  speed: 'fast',
  fallbacks: [{ model: 'c/d' }],
  cache_control: { type: 'ephemeral' },
  provider: { order: ['x'], max_price: { prompt: 1 } },
  plugins: [{ id: 'web' }],
  session_id: 's',
  user: 'u',
  trace: { trace_id: 't' },
  max_tool_calls: 3,
  stop_server_tools_when: [{ type: 'step_count_is', step_count: 2 }],
  debug: { echo_upstream_body: true },
  store: false,
}

function pathsOf(value: unknown, at: Path = []): readonly Path[] {
  if (typeof value !== 'object' || value === null) return [at]
  const keys = Array.isArray(value) ? value.map((_, index) => index) : Object.keys(value)
  return [at, ...keys.flatMap((key) => pathsOf((value as { readonly [key: string]: unknown })[key], [...at, key]))]
}

/** A deep copy with another value at the path; undefined removes it. */
function replaced(root: unknown, [step, ...rest]: Path, value: unknown): unknown {
  if (step === undefined) return value
  if (Array.isArray(root))
    return root.flatMap((entry: unknown, index) =>
      index !== step ? [entry] : rest.length === 0 && value === undefined ? [] : [replaced(entry, rest, value)],
    )
  const { [step]: before, ...others } = root as { readonly [key: string]: unknown }
  return rest.length === 0 && value === undefined ? others : { ...others, [step]: replaced(before, rest, value) }
}

const nonsense = fc.oneof(
  fc.constantFrom<unknown>(
    undefined,
    null,
    '',
    'x',
    'x'.repeat(3_000),
    '😀'.repeat(300),
    -1,
    0,
    1.5,
    1e21,
    true,
    [],
    {},
    [null],
    [[]],
    [{}],
    { type: 'x' },
    { type: 3 },
  ),
  fc.constantFrom<unknown>(
    'constructor',
    '__proto__',
    'text',
    'image',
    'tool_use',
    'tool_result',
    'thinking',
    'url',
    'file',
    'any',
    'none',
    'web_search',
  ),
  fc.jsonValue({ maxDepth: 2 }),
)
const FIELDS: ReadonlySet<string> = new Set([...Object.keys(messagesRequest.shape), 'body'])

it('a body with any change is accepted, or refused in one sentence with one path of this format', () => {
  const PATHS = pathsOf(WHOLE)
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom(...PATHS), nonsense), { minLength: 1, maxLength: 2 }), (changes) => {
      const body = changes.reduce((sent: unknown, [path, value]) => {
        try {
          return replaced(sent, path, value)
        } catch {
          // An earlier change has already removed this path.
          return sent
        }
      }, WHOLE)
      try {
        decodeResponsesRequest(messagesToResponses(body).body)
      } catch (error) {
        if (!isGatewayError(error)) throw error
        const path = error.details.path ?? ''
        expect([400, 422]).toContain(error.status)
        expect([error.message, FIELDS.has(/^\w+/.exec(path)?.[0] ?? '')]).toEqual([error.message, true])
        expect(path).not.toMatch(/\.parameters\.(?!max_uses)|input_text|output_text/)
        expect(Buffer.byteLength(error.message)).toBeLessThan(1_024)
      }
    }),
    { numRuns: 2_000, interruptAfterTimeLimit: 2_000 },
  )
})
