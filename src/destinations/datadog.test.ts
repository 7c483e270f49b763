import { describe, expect, it } from 'vitest'
import { toDeliveryRecord } from '../delivery/record.ts'
import { testDestination } from '../testing/destination-contract.ts'
import { minimalGeneration, SAMPLE_TIME } from '../testing/sample-generations.ts'
import { datadog, toMlApp } from './datadog.ts'

interface Message {
  readonly role: string
  readonly content: unknown
  readonly tool_calls?: readonly { readonly arguments: unknown }[]
  readonly tool_results?: readonly { readonly tool_id: string; readonly result: string }[]
}
interface Span {
  readonly parent_id: string
  readonly session_id?: string
  readonly duration: number
  readonly meta: {
    readonly kind: string
    readonly input?: { readonly messages?: readonly Message[] }
    readonly output?: { readonly messages?: readonly Message[] }
  }
  readonly metrics?: object
}

testDestination(datadog, {
  config: { apiKey: 'dd-secret-api-key-1', mlApp: 'My App', url: 'https://api.datadoghq.eu' },
  required: ['apiKey', 'mlApp'],
  defaults: { url: 'https://api.us5.datadoghq.com' },
  invalid: [{ mlApp: '__' }],
  inspect: ([request]) => {
    const body = String(request?.body)
    // Nanoseconds are a JSON number, exact to the last digit.
    expect(body).toContain(`"start_ns":${SAMPLE_TIME}000000,`)
    expect(body).not.toMatch(/"start_ns":"/)
    const { spans, ml_app } = (JSON.parse(body) as { data: { attributes: { spans: Span[]; ml_app: string } } }).data.attributes
    expect(ml_app).toBe('my_app')
    expect(spans.map((span) => span.meta.kind)).toEqual(['workflow', 'llm', 'task', 'task', 'tool'])
    expect(spans.filter((span) => span.metrics !== undefined)).toHaveLength(1)
    expect(spans.every((span) => span.session_id === 'session-9')).toBe(true)
    expect(spans[0]?.duration).toBe(1_500_000_000)
    const messages = [...(spans[1]?.meta.input?.messages ?? []), ...(spans[1]?.meta.output?.messages ?? [])]
    expect(messages).toHaveLength(9)
    expect(messages.slice(-2).map(({ role }) => role)).toEqual(['reasoning', 'assistant'])
    const results = messages.flatMap(({ tool_results = [] }) => tool_results.map((result) => result.tool_id))
    expect(results).toEqual(['call_1', 'call_sh', 'call_pc'])
    for (const { content, tool_calls } of messages) {
      expect(typeof content).toBe('string')
      for (const call of tool_calls ?? []) expect(typeof call.arguments).toBe('object')
    }
  },
})

describe('Datadog', () => {
  it('gets arguments as an object: wrapped into one if they are none, and without the NULs of their escapes', async () => {
    const { generation } = minimalGeneration()
    const given = ['[1]', '"text"', 'null', '{"cut', '{"a":1}', '{"n\\u0000":"\\u0000","path":"C:\\\\u0000"}']
    const output = given.map((args, i) => ({ type: 'function_call' as const, call_id: `c${i}`, name: 'look', arguments: args }))
    const record = toDeliveryRecord(
      generation,
      { input: [], output },
      { privacyMode: false, broadcast: { cost: false, identity: false, requestContext: false } },
    )
    const [request] = await datadog.encode([record], datadog.settings.parse({ apiKey: 'k', mlApp: 'm' }), {
      destinationId: 'd',
      serviceName: 's',
      serviceVersion: '1',
      now: 0,
      attempt: 0,
    })
    const { spans } = (JSON.parse(String(request?.body)) as { data: { attributes: { spans: Span[] } } }).data.attributes
    expect(spans[0]?.meta.output?.messages?.[0]?.tool_calls?.map((call) => call.arguments)).toEqual([
      { value: '[1]' },
      { value: '"text"' },
      { value: 'null' },
      { value: '{"cut' },
      { a: 1 },
      { 'n\ufffd': '\ufffd', path: 'C:\\u0000' },
    ])
  })

  it.each([
    ['My App', 'my_app'],
    ['a/b:c.d-e_f', 'a/b:c.d-e_f'],
    ['Größe__', 'gr_e'],
    ['Chat (prod)__v2', 'chat_prod_v2'],
    ['x'.repeat(300), 'x'.repeat(193)],
    [`${'y'.repeat(192)}__z`, 'y'.repeat(192)],
  ])('calls the application %s %s', (given, expected) => expect(toMlApp(given)).toBe(expected))

  it('drops data older than a day: such generations are not sent', () => expect(datadog.limits.maxAgeMs).toBe(86_400_000))

  it.each([
    [200, '{"valid":true}', true],
    [200, '{"valid":false}', false],
    [403, '{"errors":["Forbidden"]}', false],
    [500, '', false],
  ])('takes HTTP %i %s to its key check as passed: %s', (status, body, passed) => {
    const [step] = datadog.probe(datadog.settings.parse({ apiKey: 'k', mlApp: 'm' }), {
      destinationId: 'd',
      serviceName: 's',
      serviceVersion: '1',
      now: 0,
      attempt: 0,
    })
    expect(step?.request.url).toBe('https://api.us5.datadoghq.com/api/v1/validate')
    expect(step?.check?.({ status, headers: {}, body: Buffer.from(body) }) === undefined).toBe(passed)
  })
})
