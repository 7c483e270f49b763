import { describe, expect, it } from 'vitest'
import type { AttemptRecord } from '../core/call.ts'
import type { ModelEvent } from '../core/event.ts'
import { createUsage, type Usage } from '../core/usage.ts'
import { testEndpoint } from '../testing/endpoints.ts'
import { withoutHalfCounts } from './half-counts.ts'

type Counts = Parameters<typeof createUsage>[0]

/** What is left of the counts at the end of an answer, and what its record holds of them. */
function completed(
  counts: Counts,
  spoke = true,
  modalities?: readonly string[],
): { readonly completed: Usage | undefined; readonly kept: Usage | undefined } {
  const record: AttemptRecord = { endpoint: testEndpoint(), status: 200, startedAt: 0, ...(spoke ? { firstTokenMs: 1 } : {}) }
  const events: ModelEvent[] = [{ type: 'response-end', reason: 'stop', usage: createUsage(counts) }]
  const shown = withoutHalfCounts(events, { input: [], ...(modalities === undefined ? {} : { modalities }) }, record)
  return { completed: (shown.at(-1) as { usage?: Usage }).usage, kept: record.counted }
}

describe('counts at the end of an answer', () => {
  it('are used if they cover prompt and output', () => {
    expect(completed({ inputTokens: 30, outputTokens: 2 })).toMatchObject({ completed: { inputTokens: 30, outputTokens: 2 }, kept: undefined })
  })

  it.each<[string, Counts, boolean]>([
    ['without a prompt', { outputTokens: 2 }, true],
    ['without its words', { inputTokens: 30 }, true],
    ['of nothing', {}, false],
  ])('%s are incomplete, and correct an estimate', (_name, counts, spoke) => {
    const { completed: usage, kept } = completed(counts, spoke)
    expect(usage).toBeUndefined()
    expect(kept).toEqual(createUsage(counts))
  })

  it.each<[string, Counts]>([
    ['says what it has cost', { inputTokens: 30, reportedCost: 0.5 }],
    ['counts pictures apart', { inputTokens: 30, imageOutputTokens: 1_290 }],
    ['says what it charges for', { inputTokens: 30, billed: { inputTokens: 3, outputTokens: 1 } }],
  ])('are used where their server %s', (_name, counts) => {
    expect(completed(counts).completed).toEqual(createUsage(counts))
  })

  it('are used for an empty answer, and for vectors', () => {
    expect(completed({ inputTokens: 30 }, false).completed).toBeDefined()
    expect(completed({ inputTokens: 30 }, true, ['embeddings']).completed).toBeDefined()
  })
})
