import { describe, expect, it } from 'vitest'
import { decodeOtlpRequest } from '../testing/decode-otlp.ts'
import { testDestination } from '../testing/destination-contract.ts'
import { langsmith } from './langsmith.ts'

interface Decoded {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly {
      readonly spans: readonly {
        readonly name: string
        readonly attributes: readonly { readonly key: string; readonly value: { stringValue?: string } }[]
      }[]
    }[]
  }[]
}

testDestination(langsmith, {
  config: { apiKey: 'lsv2_secret_key_1', project: 'chat', endpoint: 'https://eu.api.smith.langchain.com', workspaceId: 'ws-1' },
  required: ['apiKey'],
  defaults: { project: 'main', endpoint: 'https://api.smith.langchain.com' },
  invalid: [{ project: '' }, { project: 'a\nb' }],
  inspect: ([request]) => {
    const decoded = decodeOtlpRequest(request?.body as Buffer) as Decoded
    const spans = decoded.resourceSpans.flatMap((group) => group.scopeSpans.flatMap((scope) => scope.spans))
    const kinds = spans.map((span) => span.attributes.find(({ key }) => key === 'langsmith.span.kind')?.value.stringValue)
    expect(kinds).toEqual(['chain', 'llm', 'chain', 'chain', 'tool'])
    // What the platform renders as messages; the span around the generation is what its list shows.
    for (const span of spans.slice(0, 2)) {
      const said = (key: string): unknown => JSON.parse(span.attributes.find((attribute) => attribute.key === key)?.value.stringValue ?? '')
      expect(said('gen_ai.prompt')).toMatchObject({ messages: expect.arrayContaining([expect.objectContaining({ role: 'user' })]) })
      expect(said('gen_ai.completion')).toMatchObject({
        choices: [
          { message: { role: 'assistant', content: expect.stringContaining('A cat.'), tool_calls: [{ id: 'call_2' }] }, finish_reason: 'tool_calls' },
        ],
      })
    }
    // That attribute names a project: the caller's session must never stand in it.
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

describe('LangSmith', () => {
  const probe = (config: object): { readonly url: string; readonly headers: { readonly [name: string]: string } } | undefined =>
    langsmith.probe(langsmith.settings.parse({ apiKey: 'k', ...config }), {
      destinationId: 'd',
      serviceName: 's',
      serviceVersion: '1',
      now: 0,
      attempt: 0,
    })[0]?.request

  it('is found on a server of one’s own', () => {
    expect(probe({ endpoint: 'https://smith.example.com/api/v1' })?.url).toBe('https://smith.example.com/api/v1/otel/v1/traces')
  })

  it('is told the workspace only when there is one, and any project name', () => {
    expect(probe({})?.headers).not.toHaveProperty('x-tenant-id')
    expect(probe({ workspaceId: 'w' })?.headers['x-tenant-id']).toBe('w')
    expect(Buffer.from(probe({ project: 'größe 漢' })?.headers['langsmith-project'] ?? '', 'latin1').toString()).toBe('größe 漢')
  })
})
