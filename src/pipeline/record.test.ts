import { describe, expect, it } from 'vitest'
import type { AttemptRecord, Call } from '../core/call.ts'
import type { Endpoint } from '../core/endpoint.ts'
import type { Generation, GenerationStep } from '../core/generation.ts'
import type { TraceOptions } from '../core/request.ts'
import { createUsage } from '../core/usage.ts'
import { systemClock } from '../lib/clock.ts'
import { manualClock } from '../testing/deterministic.ts'
import { MAX_MODEL_CHARS, recordLayer } from './record.ts'

const endpoint = { id: 'e', model: 'acme/small', provider: 'acme', providerName: 'Acme', upstreamModel: 'small', pricing: {} } as Endpoint
const RECEIVED = 1_000

interface Scene {
  readonly steps?: GenerationStep[]
  readonly clock?: Call['clock']
  readonly request?: Partial<Call['request']>
  readonly requestedModel?: string
  /** The caller's `trace`, and what guardrails have left of it. */
  readonly labels?: readonly [sent: TraceOptions, kept: TraceOptions]
  readonly nativeReason?: string
  /** What happens while the model answers. */
  readonly meanwhile?: () => void
}

/** The record of an answer that took these attempts, the last of which served its end. */
async function recorded(
  attempts: readonly Partial<AttemptRecord>[],
  stream: boolean,
  { steps, clock = systemClock, request, requestedModel = 'acme/small', labels, nativeReason, meanwhile }: Scene = {},
): Promise<Generation> {
  let generation: Generation | undefined
  const layer = recordLayer({
    sink: { record: (finished) => void (generation = finished.generation) } as Parameters<typeof recordLayer>[0]['sink'],
    costOf: () => ({ total: 0, input: 0, output: 0, cacheDiscount: 0, source: 'catalog' }),
    estimateUsage: () => createUsage({}),
  })
  const all = attempts.map((attempt): AttemptRecord => ({ endpoint, status: 200, startedAt: RECEIVED, ...attempt }))
  const call: Call = {
    id: 'gen',
    requestedModel,
    stream,
    signal: new AbortController().signal,
    clock,
    random: Math.random,
    receivedAt: RECEIVED,
    output: () => [],
    request: { model: 'acme/small', input: [], ...request, ...(labels === undefined ? {} : { trace: labels[0] }) },
    owner: { workspaceId: 'w', keyHash: 'h', keyName: 'n', keyLabel: 'l' },
    origin: { apiType: 'responses' },
    trace: {
      strategy: 'direct',
      candidates: [],
      rejected: new Map(),
      attempts: all,
      pipeline: [],
      params: {},
      served: all.at(-1)!,
      ...(steps === undefined ? {} : { steps }),
      ...(labels === undefined ? {} : { keptRequest: { input: [], trace: labels[1] } }),
    },
  }
  const answer = layer(async function* () {
    meanwhile?.()
    yield [{ type: 'response-end', reason: 'stop', usage: createUsage({}), ...(nativeReason === undefined ? {} : { nativeReason }) }]
  })(call)
  for await (const events of answer) void events
  return generation!
}

it('a record contains the trace fields after redaction', async () => {
  const labels = [{ note: 'jane@example.com' }, { note: '[EMAIL]' }] as const
  expect((await recorded([{}], true, { labels })).trace).toEqual({ note: '[EMAIL]' })
  expect((await recorded([{}], true)).trace).toBeUndefined()
})

describe('an answer of several turns', () => {
  const turns = [
    { startedAt: RECEIVED + 2, status: 503, error: { type: 'provider_overloaded', message: 'busy' } as const },
    { startedAt: RECEIVED + 10, firstTokenMs: 30 },
    { startedAt: RECEIVED + 5_000, firstTokenMs: 40 },
  ]
  it('counts as routed when its first turn was sent', async () => {
    expect((await recorded(turns, true)).routerMs).toBe(10)
  })
  it('has its first token in the first turn, even if it is read only at the end', async () => {
    expect((await recorded(turns, false)).firstTokenMs).toBe(40)
  })
})

it('an answer continued or restarted elsewhere counts as routed when the serving attempt was sent', async () => {
  const broken = { startedAt: RECEIVED + 2, firstTokenMs: 5, error: { type: 'provider_unavailable', message: 'gone' } as const }
  expect((await recorded([broken, { startedAt: RECEIVED + 100, firstTokenMs: 7 }], false)).routerMs).toBe(100)
})

it('a record counts from when the call was received, so that no attempt is longer than the call', async () => {
  const clock = manualClock(RECEIVED)
  // Checked and let in before it comes here.
  clock.advance(30)
  const { startedAt, endedAt, durationMs } = await recorded([{ startedAt: RECEIVED + 30, durationMs: 100 }], true, {
    clock,
    meanwhile: () => clock.advance(100),
  })
  expect({ startedAt, endedAt, durationMs }).toEqual({ startedAt: RECEIVED, endedAt: RECEIVED + 130, durationMs: 130 })
})

it('a record names the user of the caller, and none if the name is empty', async () => {
  expect((await recorded([{}], true, { request: { user: 'u-1' } })).externalUser).toBe('u-1')
  expect(await recorded([{}], true, { request: { user: '' } })).not.toHaveProperty('externalUser')
})

it.each([
  [{ modalities: ['text', 'image'] }, 'image'],
  [{ text: { format: { type: 'json_schema', name: 'a', schema: {} } } }, 'json'],
  [{ text: { format: { type: 'json_object' } } }, 'json'],
  [{ text: { format: { type: 'text' } } }, undefined],
  [{}, undefined],
] as const)('a record says what kind of output was asked for: %j', async (request, outputType) => {
  expect((await recorded([{}], true, { request })).outputType).toBe(outputType)
})

it('a record names the tools the gateway ran, if any', async () => {
  const step: GenerationStep = { kind: 'tool', name: 'web_fetch', itemId: 'call_1', startedAt: RECEIVED + 5, durationMs: 7, errorType: 'timeout' }
  expect((await recorded([{}], true, { steps: [step] })).steps).toEqual([step])
  expect(await recorded([{}], true, { steps: [] })).not.toHaveProperty('steps')
  expect(await recorded([{}], true)).not.toHaveProperty('steps')
})

it('an attempt that the caller left is recorded as cancelled, not as failed', async () => {
  const error = { type: 'server', message: 'The caller went away' } as const
  const { attempts } = await recorded([{ error, abandoned: true }, { error }], true)
  expect(attempts.map(({ errorType }) => errorType)).toEqual(['cancelled', 'server'])
})

it('ids and reasons of a server are recorded by their beginning', async () => {
  const long = 'x'.repeat(1_000_000)
  const generation = await recorded([{ upstreamId: long }], true, { nativeReason: long })
  const names = [generation.upstreamId, generation.nativeFinishReason, generation.attempts[0]?.upstreamId]
  expect(names.map((name) => name?.length)).toEqual([1_024, 1_024, 1_024])
})

it('an invalid model name is recorded by its beginning, in whole characters', async () => {
  const { requestedModel } = await recorded([{}], true, { requestedModel: `a/${'\u{1F600}'.repeat(1_000_000)}` })
  expect(requestedModel).toHaveLength(MAX_MODEL_CHARS)
  expect((await recorded([{}], true, { requestedModel: `ab/${'\u{1F600}'.repeat(1_000)}` })).requestedModel.isWellFormed()).toBe(true)
})
