import fc from 'fast-check'
import type { Cost, FinishedGeneration, Generation, GenerationAttempt } from '../core/generation.ts'
import type { Tool } from '../core/item.ts'
import { createUsage } from '../core/usage.ts'
import { CANARY, minimalGeneration, SAMPLE_TIME } from './sample-generations.ts'

/** Finished generations of every kind, with unusual values: for properties that must hold for all of them. */

const oddText = fc.constantFrom(
  '',
  ' ',
  'a\u0000b',
  'tab\tnl\n"q"\\',
  'é漢😀',
  'cut \ud83d',
  '{"a":"\\ud83d"}',
  '\u2028',
  '漢'.repeat(300),
  'x'.repeat(5_000),
)
/** Text that must not be visible in privacy mode. */
const words = oddText.map((text) => `${CANARY} ${text}`)
const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(arbitrary, { nil: undefined })
const count = fc.constantFrom(0, 1, 7, 123_456, 1e12)
const ms = fc.constantFrom(0, 0.001, 3.217, 1_500, 1e7)

const ID_TEXTS = [
  'order-1',
  '0'.repeat(32),
  'A'.repeat(32),
  'b7ad6b7169203331',
  '018f2f6e-7c1a-7abc-8def-0123456789ab',
  ' ',
  '',
  'a/../c',
  '漢'.repeat(300),
]
const ids = fc.constantFrom(...ID_TEXTS)
const names = fc.oneof(fc.constantFrom('Name', ' ', 'N'.repeat(1_000)), oddText)
const { tree: oddValue } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<unknown>(0, 1.5, 1e300, 2 ** 60, true, null, '42', [], {}, ['a', 1]),
    oddText,
    fc.array(tie('tree'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('', 'a.b', 'k', 'constructor'), tie('tree'), { maxKeys: 3 }),
  ),
}))
const KEYS = [
  '',
  ' ',
  'a.b',
  'gateway',
  'gateway.x',
  'provider_responses',
  'environment',
  'release',
  'tags',
  'model',
  'user_id',
  'toString',
  '漢',
  'K'.repeat(400),
  '0',
]
const tags = fc.array(fc.oneof(fc.constantFrom<unknown>('blue', 'blue', 'a,b', 7), oddText), { maxLength: 60 })

/** As the front door accepts it: without halves of surrogate pairs. */
const atDoor = <T>(value: T): T =>
  JSON.parse(JSON.stringify(value), (_key, each: unknown) => (typeof each === 'string' ? each.toWellFormed() : each)) as T

const trace = fc
  .tuple(
    fc.dictionary(fc.constantFrom(...KEYS), oddValue, { maxKeys: 8 }),
    fc.record({ trace_id: ids, parent_span_id: ids, trace_name: names, span_name: names, generation_name: names, tags }, { requiredKeys: [] }),
  )
  .map(([custom, reserved]) => atDoor<object>({ ...custom, ...reserved }) as NonNullable<Generation['trace']>)

const args = fc.constantFrom(
  `{"where":"${CANARY}"}`,
  '',
  `no json ${CANARY}`,
  '[1]',
  'null',
  `{"a":"\\ud83d ${CANARY}"}`,
  '{"a":1e400}',
  '{"__proto__":1}',
)
const called = (type: string) => fc.record({ type: fc.constant(type), call_id: fc.uuid(), name: fc.constant('look'), arguments: args })
const both = [
  fc.record({
    type: fc.constant('reasoning'),
    summary: fc.tuple(words).map(([text]) => [{ type: 'summary_text', text }]),
    encrypted_content: fc.constant('AAAA'),
  }),
  called('function_call'),
  fc.record({ type: fc.constant('custom_tool_call'), call_id: fc.uuid(), name: fc.constant('patch'), input: words }),
  fc.record({ type: fc.constant('gateway:datetime'), id: fc.uuid(), call_id: fc.uuid(), arguments: args, output: words }),
  fc.record({
    type: fc.constant('mcp_call'),
    id: fc.uuid(),
    server_label: fc.constant('s'),
    name: fc.constant('far'),
    arguments: args,
    error: words,
  }),
  fc.record({ type: fc.constant('web_search_call'), id: fc.uuid(), action: fc.record({ type: fc.constant('search'), query: words }) }),
  fc.record({ type: fc.constant('image_generation_call'), id: fc.uuid(), result: fc.constant('A'.repeat(400)) }),
] as const
const inputPart = fc.oneof(
  fc.record({ type: fc.constant('input_text'), text: words }),
  fc.constantFrom(
    { type: 'input_image', image_url: `https://example.com/${CANARY}` },
    { type: 'input_file', filename: CANARY, file_data: 'A'.repeat(400) },
  ),
)
const role = fc.constantFrom('user', 'system', 'developer', 'assistant')
const inputItem = fc.oneof(
  fc.record({ type: fc.constant('message'), role, content: fc.oneof(words, fc.array(inputPart, { maxLength: 2 })) }),
  fc.record({ type: fc.constant('function_call_output'), call_id: fc.uuid(), output: words }),
  ...both,
)
const citation = { type: 'url_citation', url: `https://example.com/${CANARY}`, title: CANARY, start_index: 0, end_index: 1 }
const outputPart = fc.oneof(
  fc.record({ type: fc.constant('output_text'), text: words, annotations: fc.constant([citation]) }),
  fc.record({ type: fc.constant('refusal'), refusal: words }),
)
const message = fc.record({ type: fc.constant('message'), role: fc.constant('assistant'), content: fc.array(outputPart, { maxLength: 2 }) })
const TOOLS: readonly Tool[] = [
  { type: 'function', name: 'look', description: CANARY, parameters: { type: 'object', description: CANARY } },
  { type: 'custom', name: 'patch', description: CANARY },
  { type: 'mcp', server_label: CANARY },
]

const attempt: fc.Arbitrary<GenerationAttempt> = fc.record(
  {
    provider: fc.constantFrom('acme', 'beta/turbo'),
    providerName: fc.constantFrom('Acme', 'Ärzte 漢'),
    model: fc.constant('acme/small'),
    upstreamModel: fc.constant('small-1'),
    endpointId: fc.constant('acme/small@acme'),
    status: fc.constantFrom(0, 200, 429),
    // Clocks may step back.
    startedAt: fc.constantFrom(SAMPLE_TIME - 5_000, SAMPLE_TIME + 10, SAMPLE_TIME + 1e7),
    firstTokenMs: ms,
    durationMs: ms,
    errorType: fc.constant('rate_limit_exceeded'),
    errorMessage: words,
    upstreamId: oddText,
    isByok: fc.boolean(),
  },
  { requiredKeys: ['provider', 'providerName', 'model', 'upstreamModel', 'endpointId', 'status', 'startedAt'] },
)
const usage = fc
  .record({
    inputTokens: count,
    outputTokens: count,
    cachedTokens: count,
    cacheWriteTokens: count,
    cacheWrite1hTokens: count,
    reasoningTokens: count,
  })
  .map((parts) => createUsage({ ...parts, raw: { note: CANARY } }))
const money = fc.constantFrom(0, 1e-9, 0.1 + 0.2, 1e6)
const cost: fc.Arbitrary<Cost> = fc.record({
  total: money,
  input: money,
  output: money,
  cacheDiscount: fc.constantFrom(0, -0.5),
  source: fc.constantFrom('upstream', 'catalog', 'unknown'),
})
const parameters = fc.record(
  {
    temperature: fc.constantFrom(0, 0.2),
    max_output_tokens: fc.constantFrom(1, Number.MAX_SAFE_INTEGER),
    reasoning: fc.constantFrom<object>({ effort: 'low' }, { max_tokens: 5, summary: 'auto' }, {}),
    tool_choice: fc.constantFrom<unknown>('auto', { type: 'function', name: CANARY }),
  },
  { requiredKeys: [] },
)

/** Fields that may be missing independently of all others. */
const optional = fc.record(
  {
    userId: fc.constant('user-1'),
    requestId: fc.constant('req-1'),
    sessionId: fc.constantFrom('s', ' ', '漢'.repeat(256), 's\u0000'),
    externalUser: fc.constantFrom('u', ' ', '😀'.repeat(128), 'null', '0'),
    origin: fc.constant('App 漢'),
    finishReason: fc.constantFrom('stop', 'tool_calls', 'length'),
    nativeFinishReason: oddText,
    firstTokenMs: ms,
    routerMs: ms,
    unitPrices: fc.constantFrom({}, { input: 1e-9 }, { input: 1, output: 2 }),
    outputType: fc.constantFrom('json', 'image'),
    trace,
    metadata: fc.dictionary(fc.constantFrom('team', '', 'a.b', 'gateway', 'environment'), fc.constantFrom('', 'v', '漢'.repeat(500))),
  },
  { requiredKeys: [] },
)
const served = fc.constantFrom({}, { model: 'acme/small', provider: 'beta/turbo', providerName: 'Beta 漢', upstreamModel: 'small-1' })

/** A generation that ended in any of the four ways. All of them have the same id, so whoever takes several has to change it. */
export const finishedGeneration: fc.Arbitrary<FinishedGeneration> = fc
  .record({
    optional,
    served,
    status: fc.constantFrom<Generation['status']>('completed', 'incomplete', 'failed', 'cancelled'),
    error: words,
    keyName: fc.constantFrom('prod', 'a/b', '漢'.repeat(100)),
    requestedModel: fc.constantFrom('acme/small', '/odd', '漢/y'),
    streamed: fc.boolean(),
    durationMs: ms,
    step: maybe(fc.record({ startedAt: fc.constantFrom(SAMPLE_TIME - 10, SAMPLE_TIME + 5), durationMs: ms, errorMessage: words })),
    usage,
    cost,
    attempts: fc.array(attempt, { maxLength: 4 }),
    parameters,
    content: fc.record({
      instructions: words,
      input: fc.array(inputItem, { maxLength: 4 }),
      output: fc.array(fc.oneof(message, ...both), { maxLength: 4 }),
    }),
  })
  .map(({ optional: some, served: by, error, durationMs, step, content, ...given }) => ({
    generation: {
      ...minimalGeneration().generation,
      ...some,
      ...by,
      ...given,
      ...(given.status === 'failed' ? { errorType: 'provider_unavailable', errorMessage: error, httpStatus: 502 } : {}),
      ...(step === undefined ? {} : { steps: [{ kind: 'tool', name: 'datetime', itemId: 'dt_1', errorType: 'timeout', ...step }] }),
      pipeline: [{ type: 'guardrail', name: 'pii', summary: CANARY, data: { match: CANARY } }],
      durationMs,
      endedAt: SAMPLE_TIME + durationMs,
    } as Generation,
    content: {
      instructions: content.instructions.toWellFormed(),
      input: atDoor(content.input),
      output: content.output,
      tools: TOOLS,
    },
  }))
