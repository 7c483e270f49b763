import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NO_COST } from '../core/cost.ts'
import type { DeliveryRecord } from '../core/delivery.ts'
import type { OutgoingRequest } from '../core/destination.ts'
import type { FinishedGeneration } from '../core/generation.ts'
import { toDeliveryRecord } from '../delivery/record.ts'
import { exampleConfigs } from '../testing/destination-configs.ts'
import { finishedGeneration } from '../testing/generated-generations.ts'
import { readOfficialJson, readOfficialProtobuf } from '../testing/official-otlp.ts'
import { readPlatformSchema } from '../testing/platform-schema.ts'
import { allText, bodyText, showRequest } from '../testing/request-text.ts'
import { CANARY, failedGeneration, minimalGeneration } from '../testing/sample-generations.ts'
import { DESTINATIONS } from './index.ts'

/** Properties that hold for every type and every generation. */
const GENERATIONS = 10
const NONE = { cost: false, identity: false, requestContext: false }
const ALL = { cost: true, identity: true, requestContext: true }
const context = { destinationId: 'd', serviceName: 'signalbox', serviceVersion: '1', now: Date.UTC(2026, 0, 15, 11), attempt: 0 }
const samples = fc.sample(finishedGeneration, { seed: 20_260_115, numRuns: GENERATIONS }).map(({ generation, content }, i): FinishedGeneration => ({
  generation: { ...generation, id: `gen-1768473000-${String(i).padStart(20, 'A')}` },
  content,
}))
const recordsOf = (privacyMode: boolean): readonly DeliveryRecord[] =>
  samples.map(({ generation, content }) => toDeliveryRecord(generation, content, { privacyMode, broadcast: ALL }))

interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly { readonly key: string }[]
  readonly status: { readonly code: number }
}
interface Envelope {
  readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly Span[] }[] }[]
}

const isProtobuf = ({ headers }: OutgoingRequest): boolean => headers['content-type'] === 'application/x-protobuf'

/** The spans of an OTLP body, decoded with the official definitions, one list per generation; undefined for other bodies. */
function tracesIn(request: OutgoingRequest): readonly (readonly Span[])[] | undefined {
  const body = Buffer.from(request.body ?? '')
  if (!isProtobuf(request) && !body.toString().startsWith('{"resourceSpans":')) return undefined
  const envelope = (isProtobuf(request) ? readOfficialProtobuf(body) : readOfficialJson(body.toString())) as Envelope
  return envelope.resourceSpans.map(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
}

/** Platforms that drop spans without their parent are told only of parents whose id OpenTelemetry could have assigned. */
const NEEDS_PARENTS = new Set(['langsmith'])
const callersSpan = (name: string, { ids }: DeliveryRecord): string | undefined =>
  NEEDS_PARENTS.has(name) && !/^[0-9a-f]{16}$/i.test(ids.parent?.trim() ?? '') ? undefined : ids.otlp.parentSpanId

function checkTrace(spans: readonly Span[], record: DeliveryRecord, above: string | undefined): void {
  const known = new Set<string>()
  for (const [i, span] of spans.entries()) {
    expect(span.traceId).toMatch(/^(?!0{32})[0-9a-f]{32}$/)
    expect(span.spanId).toMatch(/^(?!0{16})[0-9a-f]{16}$/)
    expect(known.has(span.spanId)).toBe(false)
    // The parent of the topmost span is the caller's own span, or none.
    expect(i === 0 ? above : known.has(span.parentSpanId ?? '')).toBe(i === 0 ? span.parentSpanId : true)
    known.add(span.spanId)
    expect(span.name.trim()).not.toBe('')
    expect(BigInt(span.endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(span.startTimeUnixNano))
    expect(new Set(span.attributes.map(({ key }) => key)).size).toBe(span.attributes.length)
  }
  expect(spans[0]?.status.code).toBe(record.failure === undefined ? 1 : 2)
}

describe.each([...DESTINATIONS.values()].map((type) => [type.type, type] as const))('generations of any kind: %s', (name, type) => {
  const settings = type.settings.parse(exampleConfigs[name]?.('https://receiver.example.com') ?? {})
  const encode = (records: readonly DeliveryRecord[]) => Promise.all(records.map(async (record) => type.encode([record], settings, context)))
  const schema = readPlatformSchema(name)

  it.each([false, true])('are encoded in a valid form, the same each time (private: %s)', async (privacyMode) => {
    const records = recordsOf(privacyMode)
    const again = await encode(recordsOf(privacyMode))
    for (const [i, requests] of (await encode(records)).entries()) {
      expect(again[i]?.map(allText)).toEqual(requests.map(allText))
      for (const request of requests) {
        expect(URL.canParse(request.url)).toBe(true)
        for (const value of Object.values(request.headers)) expect(value).toMatch(/^[\t\x20-\x7e\x80-\xff]*$/)
        if (privacyMode) expect(allText(request)).not.toContain(CANARY)
        for (const spans of tracesIn(request) ?? []) checkTrace(spans, records[i]!, callersSpan(name, records[i]!))
        if (isProtobuf(request)) continue
        expect(bodyText(request).isWellFormed()).toBe(true)
        expect(bodyText(request)).not.toMatch(/(?<!\\)(?:\\\\)*\\ud[89a-f]/i)
        for (const line of bodyText(request).trimEnd().split('\n')) JSON.parse(line)
        expect(schema?.problemsOf(request) ?? []).toEqual([])
      }
    }
  })

  // A caller who leaves or is refused pays for searches that were made for him before the model was asked.
  it('show what they cost, also if the model was never asked', async () => {
    const showsCost = async ({ generation, content }: FinishedGeneration): Promise<boolean> => {
      const costing = { ...generation, cost: { ...NO_COST, total: 0.043_21, extras: { web: 0.043_21 } } }
      const requests = await type.encode([toDeliveryRecord(costing, content, { privacyMode: false, broadcast: NONE })], settings, context)
      return requests.some((request) => showRequest(request).includes('0.04321'))
    }
    expect(await showsCost(failedGeneration())).toBe(await showsCost(minimalGeneration()))
  })

  it('have ids of their own, also in one batch', async () => {
    const traces = (await type.encode(recordsOf(true), settings, context)).map(tracesIn)
    const ids = traces.flatMap((list) => (list ?? []).flat().map(({ spanId }) => spanId))
    expect(new Set(ids).size).toBe(ids.length)
  })
})
