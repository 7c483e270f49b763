import { describe, expect, it } from 'vitest'
import { toDeliveryRecord } from '../../delivery/record.ts'
import { failedGeneration, fullGeneration } from '../../testing/sample-generations.ts'
import { checkTable, matchColumns, warehouseRows } from './warehouse-row.ts'

describe('the table of a warehouse', () => {
  it('needs the two ids a row is recognised by', () => {
    expect(checkTable(matchColumns(['TRACE_ID', 'SPAN_ID']))).toBeUndefined()
    for (const names of [['TRACE_ID'], ['SPAN_ID'], ['MODEL']]) expect(checkTable(matchColumns(names))).toBe('the table lacks TRACE_ID or SPAN_ID')
    for (const columns of [undefined, matchColumns(['other'])]) expect(checkTable(columns)).toMatch(/does not exist/)
  })

  it('may have its columns in lower case; where both cases exist, upper case is used', () => {
    expect(matchColumns(['trace_id']).get('TRACE_ID')).toBe('trace_id')
    expect(matchColumns(['trace_id', 'TRACE_ID']).get('TRACE_ID')).toBe('TRACE_ID')
  })
})

it("holds the caller's names and trace id in METADATA too, where documented queries look for them", () => {
  const { generation, content } = fullGeneration()
  const context = { destinationId: 'd', serviceName: 's', serviceVersion: '1', now: 0, attempt: 0 }
  const metadataOf = (trace: object) => {
    const named = { ...generation, trace: { ...trace } }
    const record = toDeliveryRecord(named, content, { privacyMode: false, broadcast: { cost: false, identity: false, requestContext: false } })
    return warehouseRows(record, context).map(({ METADATA }) => METADATA)
  }
  const given = { trace_id: 'order-1', trace_name: 'Checkout', span_name: 'Answer', generation_name: 'Draft' }
  for (const metadata of metadataOf(given)) expect(metadata).toMatchObject(given)
  expect(metadataOf({})[0]).not.toHaveProperty('trace_id')
})

it('names the provider that served, and none where none did: the author of a model is not a provider', () => {
  const all = { privacyMode: false, broadcast: { cost: false, identity: false, requestContext: false } }
  const context = { destinationId: 'd', serviceName: 's', serviceVersion: '1', now: 0, attempt: 0 }
  const rowOf = ({ generation, content }: ReturnType<typeof fullGeneration>) =>
    warehouseRows(toDeliveryRecord(generation, content, all), context).find((row) => row.SPAN_TYPE === 'GENERATION')
  const { generation } = fullGeneration()
  expect(rowOf(fullGeneration())).toMatchObject({ PROVIDER_NAME: generation.providerName, PROVIDER_SLUG: generation.provider })
  const failed = failedGeneration()
  const { provider: _provider, providerName: _name, ...unserved } = failed.generation
  const row = rowOf({ ...failed, generation: unserved })
  expect(row).not.toHaveProperty('PROVIDER_NAME')
  expect(row).not.toHaveProperty('PROVIDER_SLUG')
})

it('holds what tools were asked and returned, with the steps in ATTRIBUTES, and none of it in privacy mode', () => {
  const { generation, content } = fullGeneration()
  const context = { destinationId: 'd', serviceName: 's', serviceVersion: '1', now: 0, attempt: 0 }
  const stepsOf = (privacyMode: boolean) => {
    const record = toDeliveryRecord(generation, content, { privacyMode, broadcast: { cost: false, identity: false, requestContext: false } })
    const { ATTRIBUTES } = warehouseRows(record, context).find((row) => row.SPAN_TYPE === 'GENERATION')!
    return (ATTRIBUTES as { steps: readonly object[] }).steps
  }
  expect(stepsOf(false).at(-1)).toMatchObject({
    name: 'tool: datetime',
    input: expect.stringContaining('zone'),
    output: expect.stringContaining('2026'),
  })
  for (const step of stepsOf(true)) expect(Object.keys(step)).not.toEqual(expect.arrayContaining(['output']))
})
