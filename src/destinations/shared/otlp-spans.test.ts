import { describe, expect, it } from 'vitest'
import type { Generation, GenerationContent } from '../../core/generation.ts'
import { createUsage } from '../../core/usage.ts'
import { toDeliveryRecord } from '../../delivery/record.ts'
import { shrinkRecord } from '../../delivery/shrink.ts'
import { fullGeneration, SAMPLE_TIME } from '../../testing/sample-generations.ts'
import { toOtlpGroups, type OtlpSpan } from './otlp-spans.ts'

const context = { destinationId: 'd', serviceName: 's', serviceVersion: '1', now: 0, attempt: 0 }
const sample = fullGeneration()

const record = (changes: Partial<Generation>, content: GenerationContent = sample.content) =>
  toDeliveryRecord({ ...sample.generation, ...changes }, content, {
    privacyMode: false,
    broadcast: { cost: false, identity: false, requestContext: false },
  })
const spansOf = (...args: Parameters<typeof record>): readonly OtlpSpan[] => toOtlpGroups([record(...args)], context)[0]!.spans
const valuesOf = (span: OtlpSpan | undefined): { readonly [key: string]: unknown } =>
  Object.fromEntries((span?.attributes ?? []).map(({ key, value }) => [key, value]))
const generationSpan = (...args: Parameters<typeof record>) => valuesOf(spansOf(...args).find(({ kind }) => kind === 3))

describe('spans', () => {
  it('never end before they start, whatever the clock did', () => {
    const [attempt] = sample.generation.attempts
    const spans = spansOf({
      endedAt: SAMPLE_TIME - 5_000,
      attempts: [{ ...attempt!, startedAt: SAMPLE_TIME + 10, durationMs: -3 }],
      steps: [{ kind: 'tool', name: 'datetime', itemId: 'call_dt', startedAt: SAMPLE_TIME + 20, durationMs: -7 }],
    })
    expect(spans).toHaveLength(4)
    for (const { start, end } of spans) expect(BigInt(end)).toBeGreaterThanOrEqual(BigInt(start))
  })

  it('show an attempt without an end as long as the call', () => {
    const { durationMs: _duration, ...open } = sample.generation.attempts[1]!
    const [, , attempt] = spansOf({ attempts: [open], steps: [] })
    expect(attempt).toMatchObject({ start: `${SAMPLE_TIME + 110}000000`, end: `${SAMPLE_TIME + 1500}000000` })
    const [, , late] = spansOf({ attempts: [{ ...open, startedAt: SAMPLE_TIME + 9_000 }], steps: [] })
    expect(late?.end).toBe(late?.start)
  })

  it('count tokens of every kind apart, and say when the counts are an estimate', () => {
    const usage = createUsage({ inputTokens: 9, outputTokens: 40, audioInputTokens: 3, imageOutputTokens: 30, estimated: true })
    expect(generationSpan({ usage })).toMatchObject({
      'gen_ai.usage.input_tokens.audio': 3,
      'gen_ai.usage.output_tokens.image': 30,
      'gateway.usage.estimated': true,
    })
    expect(generationSpan({})).not.toHaveProperty('gateway.usage.estimated')
  })

  it('say that their content was shortened, or left out as a whole', () => {
    for (const step of [1, 2, 3, 4, 5]) {
      const shortened = shrinkRecord(record({}), step)
      if (shortened === undefined) continue
      const spans = toOtlpGroups([shortened], context)[0]!.spans
      const flags = { 'gateway.content.truncated': true, 'trace.metadata.gateway.content_truncated': true }
      expect(valuesOf(spans.find(({ kind }) => kind === 3))).toMatchObject(flags)
    }
    expect(generationSpan({})).not.toHaveProperty('gateway.content.truncated')
  })

  it('contain the text of a refusal as the completion', () => {
    const output = [{ type: 'message' as const, role: 'assistant' as const, content: [{ type: 'refusal' as const, refusal: 'No.' }] }]
    const { 'gen_ai.completion': completion } = generationSpan({}, { input: [], output })
    expect(JSON.parse(String(completion))).toEqual({ completion: 'No.', reasoning: null, toolCalls: [] })
  })

  it('contain the text of a refusal after the text before it', () => {
    const parts = [
      { type: 'output_text' as const, text: 'First,' },
      { type: 'refusal' as const, refusal: 'no.' },
    ]
    const output = [{ type: 'message' as const, role: 'assistant' as const, content: parts }]
    const { 'gen_ai.completion': completion } = generationSpan({}, { input: [], output })
    expect(JSON.parse(String(completion))).toMatchObject({ completion: 'First,\nno.' })
  })

  it('name the provider as the author of a model that names none', () => {
    for (const model of ['/small', 'small']) expect(generationSpan({ model })).toMatchObject({ 'gen_ai.provider.name': 'beta' })
    expect(generationSpan({ model: 'acme/small' })).toMatchObject({ 'gen_ai.provider.name': 'acme' })
  })
})
