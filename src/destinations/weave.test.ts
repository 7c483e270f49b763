import { describe, expect, it } from 'vitest'
import { toDeliveryRecord } from '../delivery/record.ts'
import { testDestination } from '../testing/destination-contract.ts'
import { fullGeneration } from '../testing/sample-generations.ts'
import { weave } from './weave.ts'

interface Call {
  readonly mode: 'start' | 'end'
  readonly req: {
    readonly start?: {
      readonly id: string
      readonly trace_id: string
      readonly parent_id?: string
      readonly op_name: string
      readonly display_name: string
    }
    readonly end?: { readonly id: string; readonly summary: { readonly usage?: object } }
  }
}

testDestination(weave, {
  config: { apiKey: 'wandb-secret-key-1', entity: 'team', project: 'chat', baseUrl: 'https://trace.example.com' },
  required: ['apiKey', 'entity', 'project'],
  defaults: { baseUrl: 'https://trace.wandb.ai' },
  classification: [[422, '{"detail":[]}', 'reject']],
  inspect: ([request]) => expect(request?.headers['authorization']).toBe(`Basic ${Buffer.from('api:wandb-secret-key-1').toString('base64')}`),
})

describe('Weave', () => {
  const callsOf = async (trace: object): Promise<readonly Call[]> => {
    const { generation, content } = fullGeneration()
    const record = toDeliveryRecord({ ...generation, trace: { ...trace } }, content, {
      privacyMode: false,
      broadcast: { cost: false, identity: false, requestContext: false },
    })
    const [request] = await weave.encode([record], weave.settings.parse({ apiKey: 'k', entity: 'e', project: 'p' }), {
      destinationId: 'd',
      serviceName: 's',
      serviceVersion: '1',
      now: 0,
      attempt: 0,
    })
    return (JSON.parse(String(request?.body)) as { batch: Call[] }).batch
  }

  it('gets an end with every start: a call without one runs forever', async () => {
    const calls = await callsOf({ span_name: 'Outer' })
    const starts = calls.flatMap(({ req }) => (req.start ? [req.start.id] : []))
    const ends = calls.flatMap(({ req }) => (req.end ? [req.end.id] : []))
    expect(starts).toHaveLength(5)
    expect(ends).toEqual(starts)
    expect(calls.filter(({ req }) => req.end?.summary.usage !== undefined)).toHaveLength(1)
  })

  it.each([
    [{ trace_name: 'Checkout', generation_name: 'Draft' }, 'Checkout'],
    [{ generation_name: 'Draft' }, 'Draft'],
    [{ trace_name: ' ', span_name: 'Outer' }, 'Gateway Request'],
    [{}, 'Gateway Request'],
  ])('is told the operation by the name the caller gave: %j is %s', async (trace, name) => {
    const [first] = await callsOf(trace)
    expect(first?.req.start?.op_name).toBe(name)
  })

  it('gets names no longer than it takes: a longer one fails the whole batch', async () => {
    const name = `x${'\u{1f600}'.repeat(2_000)}`
    for (const trace of [{ trace_name: name, span_name: name }, { generation_name: name }])
      for (const { req } of await callsOf(trace)) {
        if (req.start === undefined) continue
        expect(req.start.op_name.length).toBeLessThanOrEqual(128)
        expect(req.start.display_name.length).toBeLessThanOrEqual(1_024)
        expect(`${req.start.op_name}${req.start.display_name}`.isWellFormed()).toBe(true)
      }
  })

  it('keeps ids of the caller that are UUIDs, and makes nothing an orphan', async () => {
    const trace = '0b6f1a2e-1111-4222-8333-444455556666'
    const parent = '0b6f1a2e-1111-4222-8333-444455557777'
    const [first] = await callsOf({ trace_id: trace, parent_span_id: parent.toUpperCase() })
    expect(first?.req.start).toMatchObject({ trace_id: trace, parent_id: parent })
    const [other] = await callsOf({ trace_id: 'order-1', parent_span_id: 'b7ad6b7169203331' })
    expect(other?.req.start).not.toHaveProperty('parent_id')
  })
})
