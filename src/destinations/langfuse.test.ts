import { describe, expect, it } from 'vitest'
import { toDeliveryRecord } from '../delivery/record.ts'
import { testDestination } from '../testing/destination-contract.ts'
import { fullGeneration } from '../testing/sample-generations.ts'
import { langfuse } from './langfuse.ts'

testDestination(langfuse, {
  config: { secretKey: 'sk-lf-secret-value-1', publicKey: 'pk-lf-public', baseUrl: 'https://langfuse.example.com' },
  required: ['secretKey', 'publicKey'],
  defaults: { baseUrl: 'https://us.cloud.langfuse.com' },
})

interface Span {
  readonly name: string
  readonly attributes: readonly { readonly key: string; readonly value: { readonly stringValue?: string } }[]
}

describe('Langfuse', () => {
  const { generation, content } = fullGeneration()
  const spansOf = async (trace: object): Promise<readonly Span[]> => {
    const record = toDeliveryRecord({ ...generation, trace: { ...trace } }, content, {
      privacyMode: false,
      broadcast: { cost: false, identity: false, requestContext: false },
    })
    const context = { destinationId: 'd', serviceName: 's', serviceVersion: '1', now: 0, attempt: 0 }
    const [request] = await langfuse.encode([record], langfuse.settings.parse({ secretKey: 's', publicKey: 'p' }), context)
    return (JSON.parse(String(request?.body)) as { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] }).resourceSpans.flatMap((r) =>
      r.scopeSpans.flatMap((s) => s.spans),
    )
  }
  const attribute = (span: Span | undefined, key: string): string | undefined => span?.attributes.find((a) => a.key === key)?.value.stringValue

  it('gets disjoint classes of usage that add up to the total', async () => {
    const [span] = await spansOf({})
    const { total, ...classes } = JSON.parse(attribute(span, 'langfuse.observation.usage_details') ?? '{}') as Record<string, number>
    expect(Object.values(classes).reduce((a, b) => a + b, 0)).toBe(total)
    expect(total).toBe(1545)
    expect(span?.attributes.some((a) => a.key.startsWith('gen_ai.usage'))).toBe(false)
  })

  it.each([
    ['Production', 'production'],
    ['langfuse-eu', '-eu'],
    ['Größe X', 'gr--e-x'],
    ['langfuse', 'default'],
    ['x'.repeat(60), 'x'.repeat(40)],
  ])('reads environment %s as %s', async (environment, expected) => {
    const spans = await spansOf({ environment })
    for (const span of spans) expect(attribute(span, 'langfuse.environment')).toBe(expected)
  })

  it('names trace, tags, user and session on every observation: its filters look at each alone', async () => {
    const spans = await spansOf({ trace_name: 'Checkout', span_name: 'Outer', tags: ['blue'] })
    expect(spans).toHaveLength(5)
    for (const span of spans) {
      expect(['langfuse.trace.name', 'user.id', 'session.id'].map((key) => attribute(span, key))).toEqual(['Checkout', 'customer-5', 'session-9'])
      expect(span.attributes.map(({ key }) => key)).toContain('langfuse.trace.tags')
    }
  })

  it('gets trace names within its limit, because it drops a trace with a longer one', async () => {
    const spans = await spansOf({ trace_name: `x${'\u{1f600}'.repeat(2_000)}`, span_name: 'Outer' })
    for (const span of spans) {
      const name = attribute(span, 'langfuse.trace.name') ?? ''
      expect([name.length, name.isWellFormed()]).toEqual([999, true])
    }
  })

  it('puts input and output of the trace on its root only', async () => {
    const plain = await spansOf({})
    expect(attribute(plain[0], 'langfuse.trace.input')).toContain('messages')
    const wrapped = await spansOf({ span_name: 'Outer' })
    expect([attribute(wrapped[0], 'langfuse.trace.input') !== undefined, attribute(wrapped[1], 'langfuse.trace.input') !== undefined]).toEqual([
      true,
      false,
    ])
    const nested = await spansOf({ parent_span_id: 'b7ad6b7169203331' })
    expect(nested.every((span) => attribute(span, 'langfuse.trace.input') === undefined)).toBe(true)
  })

  it('puts them on the span around a generation as well: evaluators and lists look at the topmost observation alone', async () => {
    for (const trace of [{ span_name: 'Outer' }, { span_name: 'Outer', parent_span_id: 'b7ad6b7169203331' }]) {
      const [wrapper, inner] = await spansOf(trace)
      for (const key of ['langfuse.observation.input', 'langfuse.observation.output']) {
        expect(attribute(wrapper, key)).toBeDefined()
        expect(attribute(wrapper, key)).toBe(attribute(inner, key))
      }
    }
  })
})
