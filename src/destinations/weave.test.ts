import { describe, expect, it } from 'vitest'
import type { DeliveryRecord } from '../core/delivery.ts'
import { toDeliveryRecord } from '../delivery/record.ts'
import { testDestination } from '../testing/destination-contract.ts'
import { fullGeneration } from '../testing/sample-generations.ts'
import { weave } from './weave.ts'

interface Call {
  readonly project_id: string
  readonly id: string
  readonly trace_id: string
  readonly parent_id?: string
  readonly op_name: string
  readonly display_name: string
  readonly thread_id?: string
  readonly turn_id?: string
  readonly started_at: string
  readonly ended_at: string
  readonly summary: { readonly usage?: object }
}
interface Half {
  readonly mode: 'start' | 'end'
  readonly req: { readonly start?: { readonly id: string }; readonly end?: { readonly id: string; readonly summary: { readonly usage?: object } } }
}

testDestination(weave, {
  config: { apiKey: 'wandb-secret-key-1', entity: 'team', project: 'chat', baseUrl: 'https://trace.example.com' },
  required: ['apiKey', 'entity', 'project'],
  defaults: { baseUrl: 'https://trace.wandb.ai' },
  classification: [
    [422, '{"detail":[]}', 'reject'],
    [400, '{"reason":"an id is no UUID"}', 'reject'],
    [400, '{"error_code":"CALLS_COMPLETE_MODE_REQUIRED","message":"Upgrade the SDK"}', 'unauthorized'],
  ],
  inspect: ([request]) => {
    expect(request?.headers['authorization']).toBe(`Basic ${Buffer.from('api:wandb-secret-key-1').toString('base64')}`)
    expect(request?.url).toBe('https://trace.example.com/v2/team/chat/calls/complete')
  },
})

/** Slightly more than the platform's own format: ASCII, with blanks after commas, colons and brackets. */
function storedBytes(value: unknown): number {
  const text = JSON.stringify(value ?? null)
  let bytes = text.length
  let isString = false
  // Character by character, because texts have millions here, and a list of regular-expression matches costs many times as much.
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code >= 0x80) bytes += 5
    else if (code === BACKSLASH) at++
    else if (code === QUOTE) isString = !isString
    else if (!isString && SPACED.has(code)) bytes++
  }
  return bytes
}
const QUOTE = 0x22
const BACKSLASH = 0x5c
const SPACED = new Set([...',:[]{}'].map((sign) => sign.charCodeAt(0)))

const CONTEXT = { destinationId: 'd', serviceName: 's', serviceVersion: '1', now: 0, attempt: 0 }

describe('Weave', () => {
  const settings = weave.settings.parse({ apiKey: 'k', entity: 'my team', project: 'p/q' })
  const recordOf = (trace: object): DeliveryRecord => {
    const { generation, content } = fullGeneration()
    const broadcast = { cost: false, identity: false, requestContext: false }
    return toDeliveryRecord({ ...generation, trace: { ...trace } }, content, { privacyMode: false, broadcast })
  }
  const callsOf = async (trace: object): Promise<readonly Call[]> => {
    const [request] = await weave.encode([recordOf(trace)], settings, CONTEXT)
    return (JSON.parse(String(request?.body)) as { batch: Call[] }).batch
  }
  const formOf = (status: number, body = '{}') =>
    weave.prepare?.(settings, CONTEXT, async (request) => {
      expect(request).toMatchObject({ url: 'https://trace.wandb.ai/v2/my%20team/p%2Fq/calls/complete', body: '{"batch":[]}' })
      return { status, headers: {}, body: Buffer.from(body) }
    })

  it('gets whole calls: a project that holds one refuses starts and ends apart', async () => {
    const calls = await callsOf({ span_name: 'Outer' })
    expect(calls).toHaveLength(5)
    for (const call of calls) {
      expect(call.project_id).toBe('my team/p/q')
      expect(Date.parse(call.ended_at)).toBeGreaterThanOrEqual(Date.parse(call.started_at))
    }
    expect(calls.filter(({ summary }) => summary.usage !== undefined)).toHaveLength(1)
  })

  it.each([404, 405])('gets an end with every start where whole calls are not known (HTTP %i): a call without one runs forever', async (status) => {
    const prepared = await formOf(status)
    const [request] = await weave.encode([recordOf({ span_name: 'Outer' })], settings, { ...CONTEXT, prepared })
    expect(request?.url).toBe('https://trace.wandb.ai/call/upsert_batch')
    const { batch } = JSON.parse(String(request?.body)) as { batch: Half[] }
    const starts = batch.flatMap(({ req }) => (req.start ? [req.start.id] : []))
    const ends = batch.flatMap(({ req }) => (req.end ? [req.end.id] : []))
    expect(starts).toHaveLength(5)
    expect(ends).toEqual(starts)
    expect(batch.filter(({ req }) => req.end?.summary.usage !== undefined)).toHaveLength(1)
  })

  it.each([200, 401, 422])('gets whole calls after HTTP %i to the question for them', async (status) => {
    const [request] = await weave.encode([recordOf({})], settings, { ...CONTEXT, prepared: await formOf(status) })
    expect(request?.url).toContain('/calls/complete')
  })

  it('is asked again by the next try after an error, whose Retry-After applies to the batch', async () => {
    for (const status of [429, 500, 503]) expect(await formOf(status)).toBeUndefined()
  })

  it('is asked again when it stops accepting whole calls, for example after a rollback', async () => {
    const [whole] = await weave.encode([recordOf({})], settings, CONTEXT)
    const [halves] = await weave.encode([recordOf({})], settings, { ...CONTEXT, prepared: await formOf(404) })
    const answer = { status: 404, headers: {}, body: Buffer.from('{"detail":"Not Found"}') }
    expect(weave.classify?.(answer, whole!).kind).toBe('unauthorized')
    expect(weave.classify?.(answer, halves!).kind).toBe('unauthorized')
  })

  it.each([
    [{ trace_name: 'Checkout', generation_name: 'Draft' }, 'Checkout'],
    [{ generation_name: 'Draft' }, 'Draft'],
    [{ trace_name: ' ', span_name: 'Outer' }, 'Gateway Request'],
    [{}, 'Gateway Request'],
  ])('gets the operation under the name the caller gave: %j is %s', async (trace, name) => {
    const [first] = await callsOf(trace)
    expect(first?.op_name).toBe(name)
  })

  it.each([{}, { span_name: 'Outer' }])('shows a session as a conversation, of which the topmost call is a turn: %j', async (trace) => {
    const [top, ...rest] = await callsOf(trace)
    expect(top).toMatchObject({ thread_id: fullGeneration().generation.sessionId, turn_id: top?.id })
    for (const call of rest) expect([call.thread_id, call.turn_id]).toEqual([top?.thread_id, top?.id])
  })

  it('makes no turn of a call without a session', async () => {
    const { generation, content } = fullGeneration()
    const { sessionId: _session, ...alone } = generation
    const record = toDeliveryRecord(alone, content, { privacyMode: false, broadcast: { cost: false, identity: false, requestContext: false } })
    const [request] = await weave.encode([record], settings, CONTEXT)
    expect(String(request?.body)).not.toMatch(/"(?:thread|turn)_id"/)
  })

  it('gets names no longer than it takes: a longer one fails the whole batch', async () => {
    const name = `x${'\u{1f600}'.repeat(2_000)}`
    for (const trace of [{ trace_name: name, span_name: name }, { generation_name: name }])
      for (const { op_name, display_name } of await callsOf(trace)) {
        expect(op_name.length).toBeLessThanOrEqual(128)
        expect(display_name.length).toBeLessThanOrEqual(1_024)
        expect(`${op_name}${display_name}`.isWellFormed()).toBe(true)
      }
  })

  it.each(['a', '"', 'ж', '漢', '\u{1f600}'])('gets no call it would store without its texts: %s', async (character) => {
    const generation = { ...fullGeneration().generation, trace: {} }
    const stored = ({ inputs, output, attributes, summary }: Record<string, unknown>): number =>
      [inputs, output, attributes, summary].reduce((sum: number, part) => sum + storedBytes(part), 0)
    let largest = 0
    for (const length of [50_000, 200_000, 450_000, 900_000, 1_400_000, 2_900_000, 3_900_000]) {
      const item = (text: string) => ({ type: 'message' as const, role: 'user' as const, content: text })
      const content = { input: [item(character.repeat(length)), ...Array.from({ length: 3_000 }, () => item('x'))], output: [] }
      const broadcast = { cost: false, identity: false, requestContext: false }
      const [request] = await weave.encode([toDeliveryRecord(generation, content, { privacyMode: false, broadcast })], settings, CONTEXT)
      const calls = (JSON.parse(String(request?.body)) as { batch: Record<string, unknown>[] }).batch
      expect(calls[0]).toHaveProperty('inputs.messages[0].content', content.input[0]?.content)
      if (Buffer.byteLength(String(request?.body)) > weave.limits.bytes) continue
      largest = length
      for (const call of calls) expect(stored(call)).toBeLessThan(3.5 * 1024 * 1024)
    }
    expect(largest).toBeGreaterThanOrEqual(200_000)
  })

  it('keeps ids of the caller that are UUIDs, and leaves no span without its parent', async () => {
    const trace = '0b6f1a2e-1111-4222-8333-444455556666'
    const parent = '0b6f1a2e-1111-4222-8333-444455557777'
    const [first] = await callsOf({ trace_id: trace, parent_span_id: parent.toUpperCase() })
    expect(first).toMatchObject({ trace_id: trace, parent_id: parent })
    const [other] = await callsOf({ trace_id: 'order-1', parent_span_id: 'b7ad6b7169203331' })
    expect(other).not.toHaveProperty('parent_id')
  })
})
