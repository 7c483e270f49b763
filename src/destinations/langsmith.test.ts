import { describe, expect, it } from 'vitest'
import type { DestinationContext, OutgoingRequest } from '../core/destination.ts'
import type { FinishedGeneration, Generation } from '../core/generation.ts'
import { toDeliveryRecord } from '../delivery/record.ts'
import { decodeOtlpRequest } from '../testing/decode-otlp.ts'
import { testDestination } from '../testing/destination-contract.ts'
import { failedGeneration, fullGeneration, minimalGeneration } from '../testing/sample-generations.ts'
import { langsmith } from './langsmith.ts'

type Attributes = readonly { readonly key: string; readonly value: { stringValue?: string } }[]
interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly attributes: Attributes
  readonly events?: readonly { readonly name: string; readonly attributes: Attributes }[]
}
interface Decoded {
  readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly Span[] }[] }[]
}

const textsOf = (attributes: Attributes): { readonly [key: string]: string | undefined } =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue]))

/** The spans of a request. */
function spansOf(request: OutgoingRequest | undefined): readonly Span[] {
  const decoded = decodeOtlpRequest(request?.body as Buffer) as Decoded
  return decoded.resourceSpans.flatMap((group) => group.scopeSpans.flatMap((scope) => scope.spans))
}

testDestination(langsmith, {
  config: { apiKey: 'lsv2_secret_key_1', project: 'chat', endpoint: 'https://eu.api.smith.langchain.com', workspaceId: 'ws-1' },
  required: ['apiKey'],
  defaults: { project: 'main', endpoint: 'https://api.smith.langchain.com' },
  invalid: [{ project: '' }, { project: 'a\nb' }],
  inspect: ([request]) => {
    const decoded = decodeOtlpRequest(request?.body as Buffer) as Decoded
    const spans = spansOf(request)
    const kinds = spans.map((span) => span.attributes.find(({ key }) => key === 'langsmith.span.kind')?.value.stringValue)
    expect(kinds).toEqual(['chain', 'llm', 'chain', 'chain', 'tool'])
    // The platform renders these as messages. Its list shows those of the span around the generation.
    for (const span of spans.slice(0, 2)) {
      const said = (key: string): unknown => JSON.parse(span.attributes.find((attribute) => attribute.key === key)?.value.stringValue ?? '')
      expect(said('gen_ai.prompt')).toMatchObject({ messages: expect.arrayContaining([expect.objectContaining({ role: 'user' })]) })
      expect(said('gen_ai.completion')).toMatchObject({
        choices: [
          { message: { role: 'assistant', content: expect.stringContaining('A cat.'), tool_calls: [{ id: 'call_2' }] }, finish_reason: 'tool_calls' },
        ],
      })
    }
    // That attribute names a project, so it must never contain the caller's session.
    expect(JSON.stringify(decoded)).not.toContain('langsmith.trace.session_id')
    const usage = spans[1]?.attributes.find(({ key }) => key === 'langsmith.usage_metadata')?.value.stringValue
    expect(JSON.parse(usage ?? '')).toEqual({
      input_tokens: 1200,
      output_tokens: 345,
      total_tokens: 1545,
      input_token_details: { cache_read: 1000, cache_creation: 100 },
      output_token_details: { reasoning: 200 },
      input_cost: 0.0023,
      output_cost: 0.01,
      total_cost: 0.0123,
    })
  },
})

const context: DestinationContext = { destinationId: 'd', serviceName: 's', serviceVersion: '1', now: 0, attempt: 0 }
const settings = langsmith.settings.parse({ apiKey: 'k' })

interface Sent extends FinishedGeneration {
  readonly privacyMode?: boolean
}

/** The spans that are sent for these generations in one batch. */
async function sent(...generations: readonly Sent[]): Promise<readonly Span[]> {
  const records = generations.map(({ generation, content, privacyMode = false }) =>
    toDeliveryRecord(generation, content, { privacyMode, broadcast: { cost: false, identity: false, requestContext: false } }),
  )
  return (await langsmith.encode(records, settings, context)).flatMap(spansOf)
}
const changed = ({ generation, content }: FinishedGeneration, changes: Partial<Generation>): FinishedGeneration => ({
  generation: { ...generation, ...changes },
  content,
})

describe('a run', () => {
  const errors = (spans: readonly Span[]): readonly (readonly [string, string | undefined])[] =>
    spans.flatMap(({ name, events = [] }) =>
      events.filter((event) => event.name === 'exception').map(({ attributes }) => [name, textsOf(attributes)['exception.message']] as const),
    )

  it('has failed where an event says so: also the span the caller named, an attempt, a tool', async () => {
    const failed = failedGeneration()
    const message = failed.generation.errorMessage
    const spans = await sent(changed(failed, { trace: { span_name: 'Answer' } }))
    expect(errors(spans).slice(0, 2)).toEqual([
      ['Answer', message],
      ['LLM Generation', message],
    ])
    expect(
      errors(spans)
        .slice(2)
        .map(([name]) => name),
    ).toEqual(spans.slice(2).map(({ name }) => name))
  })

  it('has not failed because an attempt before it has', async () => {
    const full = fullGeneration()
    const [first] = full.generation.attempts
    expect(errors(await sent(full))).toEqual([[`provider attempt 1: ${first?.providerName}`, first?.errorMessage]])
  })
})

const textsOfRun = async (call: Sent): Promise<ReturnType<typeof textsOf>> =>
  textsOf((await sent(call)).find(({ attributes }) => textsOf(attributes)['langsmith.span.kind'] === 'llm')?.attributes ?? [])

it('shows the model that answered, not the one that was asked for first', async () => {
  const run = await textsOfRun(changed(fullGeneration(), { requestedModel: 'acme/large', model: 'beta/small' }))
  expect(run).toMatchObject({ 'gen_ai.request.model': 'acme/large', 'langsmith.metadata.ls_model_name': 'beta/small' })
})

it('shows lists of the caller’s metadata as they were given', async () => {
  const run = await textsOfRun(changed(minimalGeneration(), { trace: { labels: ['a', 'b'], none: [] } }))
  expect(run).toMatchObject({ 'langsmith.metadata.labels': '["a","b"]', 'langsmith.metadata.none': '[]' })
})

describe('the usage of a call', () => {
  it('is kept in privacy mode: the platform stores it with the outputs of a run', async () => {
    const run = await textsOfRun({ ...fullGeneration(), privacyMode: true })
    expect(run).not.toHaveProperty(['gen_ai.prompt'])
    expect(run['gen_ai.completion']).toBe('{}')
    expect(JSON.parse(run['langsmith.usage_metadata'] ?? '')).toMatchObject({ total_tokens: 1545, total_cost: 0.0123 })
  })

  it('is not sent for a call without usage', async () => {
    const run = await textsOfRun({ ...failedGeneration(), privacyMode: true })
    expect(run).not.toHaveProperty(['gen_ai.completion'])
    expect(run).not.toHaveProperty(['langsmith.usage_metadata'])
  })
})

describe('a trace', () => {
  const call = (id: string, trace: NonNullable<Generation['trace']>, changes: Partial<Generation> = {}): FinishedGeneration =>
    changed(minimalGeneration(), { id, trace, ...changes })
  const tree = (spans: readonly Span[]): readonly string[] =>
    spans.map(({ name, parentSpanId }) => {
      if (parentSpanId === undefined) return name
      return `${name} < ${spans.find(({ spanId }) => spanId === parentSpanId)?.name ?? parentSpanId}`
    })

  it('that several calls belong to has one root: spans without a parent all become the run with its id', async () => {
    const [early, late] = [
      { startedAt: 1_000, endedAt: 2_000 },
      { startedAt: 3_000, endedAt: 4_000 },
    ]
    const trace = (generation_name: string) => ({ trace_id: 'ticket 7', trace_name: 'Ticket', generation_name })
    const spans = await sent(call('gen-1', trace('first'), early), call('gen-2', trace('second'), late), call('gen-3', { trace_id: 'other' }))
    expect(tree(spans)).toEqual(['Ticket', 'first < Ticket', 'second < Ticket', 'Gateway Request', 'LLM Generation < Gateway Request'])
    expect(spans[0]).toMatchObject({ startTimeUnixNano: '1000000000', endTimeUnixNano: '4000000000' })
    expect(textsOf(spans[0]?.attributes ?? [])).toMatchObject({ 'langsmith.span.kind': 'chain', 'langsmith.trace.name': 'Ticket' })
    // Another batch has the same root.
    const [again] = await sent(call('gen-4', trace('third')))
    expect(again).toMatchObject({ traceId: spans[0]?.traceId, spanId: spans[0]?.spanId })
  })

  it('that goes by the id of a call has that call as its root, and the others below it', async () => {
    const first = 'gen-1768473000-A1b2C3d4E5f6G7h8I9j0'
    const [root] = await sent(call(first, { generation_name: 'first' }))
    const [later, ...others] = await sent(call('gen-1768473005-Z1b2C3d4E5f6G7h8I9j0', { trace_id: first, generation_name: 'second' }))
    expect(others).toEqual([])
    expect(later).toMatchObject({ name: 'second', traceId: root?.traceId, parentSpanId: root?.spanId })
  })

  it('of one call begins with that call', async () => {
    expect(tree(await sent(call('gen-1', { span_name: 'Answer' })))).toEqual(['Answer', 'LLM Generation < Answer'])
  })

  it('keeps a parent that is named as spans are, and no other: what is below one that never comes is dropped', async () => {
    const trace = { trace_id: 'ticket 7', trace_name: 'Ticket' }
    expect(tree(await sent(call('gen-1', { ...trace, parent_span_id: 'B7AD6B7169203331' })))).toEqual(['LLM Generation < b7ad6b7169203331'])
    for (const parent_span_id of ['step 3', '4bf92f35-77b3-4da6-a3ce-929d0e0e4736']) {
      const spans = await sent(call('gen-1', { ...trace, parent_span_id }))
      expect(tree(spans)).toEqual(['Ticket', 'LLM Generation < Ticket'])
      expect(textsOf(spans[1]?.attributes ?? [])['langsmith.metadata.parent_span_id']).toBe(parent_span_id)
    }
  })
})

describe('LangSmith', () => {
  const probe = (config: object): { readonly url: string; readonly headers: { readonly [name: string]: string } } | undefined =>
    langsmith.probe(langsmith.settings.parse({ apiKey: 'k', ...config }), context)[0]?.request

  it('is found on a server of one’s own', () => {
    expect(probe({ endpoint: 'https://smith.example.com/api/v1' })?.url).toBe('https://smith.example.com/api/v1/otel/v1/traces')
  })

  it('is told the workspace only when there is one, and any project name', () => {
    expect(probe({})?.headers).not.toHaveProperty('x-tenant-id')
    expect(probe({ workspaceId: 'w' })?.headers['x-tenant-id']).toBe('w')
    expect(Buffer.from(probe({ project: 'größe 漢' })?.headers['langsmith-project'] ?? '', 'latin1').toString()).toBe('größe 漢')
  })
})
