import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startFakeDestination, type FakeDestination } from '../../src/testing/fake-destination.ts'
import { chatText, startFakeUpstream, status, stream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { allSpans } from '../../src/testing/received-spans.ts'
import { chatConfig, startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'

/** One trace from the caller's span through the gateway's to the provider's. */
let upstream: FakeUpstream
let collector: FakeDestination
let gateway: TestGateway

const TRACE = '80e1afed08e019fc1110464cfa66635c'
const SPAN = '02e80198930058d4'
const traceparent = `00-${TRACE}-${SPAN}-01`

async function open(destinations: object, provider: object): Promise<void> {
  const config = chatConfig([upstream.url]) as { readonly providers: readonly object[] }
  gateway = await startGateway({ ...config, destinations, providers: config.providers.map((each) => ({ ...each, ...provider })) })
  const made = await gateway.api('POST', '/api/v1/observability/destinations', {
    type: 'webhook',
    name: 'collector',
    config: { url: `${collector.url}/v1/traces` },
  })
  expect(made.status).toBe(201)
}
beforeEach(async () => {
  upstream = await startFakeUpstream(status(500, { error: { message: 'once' } }), stream(chatText('fine')))
  collector = await startFakeDestination()
})
afterEach(async () => {
  await gateway.close()
  await collector.close()
  await upstream.close()
})

interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
}

/** The spans of one call: its own, then those of its attempts. */
async function spansOf(headers: { readonly [name: string]: string }, body: object = {}): Promise<readonly [Span, ...Span[]]> {
  const response = await gateway.respond({ model: 'acme/small', input: 'Hi', ...body }, { headers })
  expect(response.status).toBe(200)
  await response.text()
  await expect.poll(() => allSpans(collector.accepted).length, { timeout: 10_000, interval: 50 }).toBeGreaterThan(2)
  const spans = allSpans(collector.accepted) as readonly unknown[] as readonly Span[]
  const attempts = spans.filter(({ name }) => name.startsWith('provider attempt')).toSorted((a, b) => a.name.localeCompare(b.name))
  return [spans.find((span) => !attempts.includes(span))!, ...attempts]
}
const sentTraces = (): readonly unknown[] => upstream.requests.map(({ headers }) => headers['traceparent'])

describe('a caller within a trace', () => {
  it('gets the call as a child of its span, and the provider gets the span of its attempt', async () => {
    await open({ trace_context: true }, { trace_context: true })
    const [own, ...attempts] = await spansOf({ traceparent })
    expect(own).toMatchObject({ traceId: TRACE, parentSpanId: SPAN })
    expect(attempts.map(({ traceId, parentSpanId }) => [traceId, parentSpanId])).toEqual(attempts.map(() => [TRACE, own.spanId]))
    expect(sentTraces()).toEqual(attempts.map(({ spanId }) => `00-${TRACE}-${spanId}-01`))
    expect(attempts).toHaveLength(2)
  })

  it('is overridden by a trace in the body', async () => {
    await open({ trace_context: true }, { trace_context: true })
    const [own, attempt] = await spansOf({ traceparent }, { trace: { trace_id: 'f'.repeat(32) } })
    expect(own).toMatchObject({ traceId: 'f'.repeat(32) })
    expect(own.parentSpanId ?? '').toBe('')
    expect(sentTraces()[0]).toBe(`00-${'f'.repeat(32)}-${attempt!.spanId}-01`)
  })

  it('may add other trace fields in the body', async () => {
    await open({ trace_context: true }, {})
    const [own] = await spansOf({ traceparent }, { trace: { trace_name: 'checkout' } })
    expect(own).toMatchObject({ traceId: TRACE, parentSpanId: SPAN })
  })
})

it.each([
  ['is not looked at unless the operator says so', {}, traceparent],
  ['is of no use where its trace is not recorded', { trace_context: true }, `00-${TRACE}-${SPAN}-00`],
])('a header %s', async (_what, destinations, header) => {
  await open(destinations, {})
  const [own] = await spansOf({ traceparent: header })
  expect(own.traceId).not.toBe(TRACE)
  expect(sentTraces()).toEqual([undefined, undefined])
})
