import { describe, expect, it } from 'vitest'
import type { OutgoingRequest } from '../core/destination.ts'
import { toDeliveryRecord } from '../delivery/record.ts'
import { decodeOtlpRequest } from '../testing/decode-otlp.ts'
import { exampleConfigs } from '../testing/destination-configs.ts'
import { readOfficialJson, readOfficialProtobuf } from '../testing/official-otlp.ts'
import { failedGeneration, fullGeneration, minimalGeneration } from '../testing/sample-generations.ts'
import { DESTINATIONS } from './index.ts'

/** Checks every type that speaks OTLP, recognised by its requests, against the official protobuf definitions. */
const ALL = { cost: true, identity: true, requestContext: true }
const context = { destinationId: 'd', serviceName: 'signalbox', serviceVersion: '1', now: Date.UTC(2026, 0, 15), attempt: 0 }

const isProtobuf = ({ headers }: OutgoingRequest): boolean => headers['content-type'] === 'application/x-protobuf'
const isOtlpJson = ({ body }: OutgoingRequest): boolean => body?.toString().startsWith('{"resourceSpans":') ?? false

/** An absent list and an empty one are equivalent. */
function withoutEmptyLists(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmptyLists)
  if (typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).filter(([, field]) => !Array.isArray(field) || field.length > 0)
  return Object.fromEntries(kept.map(([name, field]) => [name, withoutEmptyLists(field)]))
}

async function requestsOf(name: string): Promise<readonly OutgoingRequest[]> {
  const type = DESTINATIONS.get(name)!
  const config = exampleConfigs[name]?.('https://receiver.example.com')
  if (config === undefined || type.transport !== undefined) return []
  const settings = type.settings.parse(config)
  const records = [fullGeneration(), minimalGeneration(), failedGeneration()].flatMap(({ generation, content }) =>
    [false, true].map((privacyMode) => toDeliveryRecord(generation, content, { privacyMode, broadcast: ALL })),
  )
  const requests = await type.encode(records, settings, context)
  return [...requests, ...type.probe(settings, context).map(({ request }) => request)]
}

const speaking = (await Promise.all([...DESTINATIONS.keys()].map(async (name) => ({ name, requests: await requestsOf(name) })))).filter(
  ({ requests }) => requests.some((request) => isProtobuf(request) || isOtlpJson(request)),
)

it('finds the types of the contract that speak it', () => {
  expect(speaking.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['arize', 'grafana', 'langfuse', 'langsmith', 'newrelic', 'otel-collector', 'ramp', 'sentry', 'webhook']),
  )
})

describe.each(speaking)('$name', ({ requests }) => {
  it('is understood, whole, by the official definitions', () => {
    for (const request of requests) {
      const body = Buffer.from(request.body ?? '')
      if (isProtobuf(request)) expect(readOfficialProtobuf(body)).toEqual(decodeOtlpRequest(body))
      else if (isOtlpJson(request)) expect(readOfficialJson(body.toString())).toEqual(withoutEmptyLists(JSON.parse(body.toString())))
    }
  })
})
