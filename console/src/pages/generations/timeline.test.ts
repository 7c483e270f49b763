import { expect, it } from 'vitest'
import type { GenerationAttempt } from '../../api/schema.ts'
import { timelineOf } from './timeline.ts'

const START = Date.parse('2026-01-02T03:04:05.000Z')
const at = (ms: number): string => new Date(START + ms).toISOString()

const attempt = (of: Partial<GenerationAttempt>): GenerationAttempt => ({
  provider: 'acme',
  provider_name: 'Acme',
  model: 'acme/small',
  upstream_model: 'small-1',
  endpoint_id: 'e1',
  status: 200,
  started_at: at(0),
  latency: null,
  duration: null,
  error_type: null,
  error_message: null,
  upstream_id: null,
  is_byok: false,
  cost: null,
  ...of,
})

it('attempts and tools stand where they happened within the call, in the order they began', () => {
  const line = timelineOf({
    created_at: at(0),
    generation_time: 1_000,
    attempts: [
      attempt({ started_at: at(0), duration: 200, error_type: 'overloaded' }),
      attempt({ started_at: at(200), duration: 300, latency: 100 }),
      attempt({ started_at: at(700), latency: 50 }),
    ],
    steps: [{ kind: 'tool', name: 'gateway:web_search', item_id: 'x', started_at: at(500), duration_ms: 200, error_type: null, error_message: null }],
  })
  expect(line.map(({ kind, start, length, firstContent, isFailed }) => [kind, start, length, firstContent, isFailed])).toEqual([
    ['attempt', 0, 0.2, undefined, true],
    ['attempt', 0.2, 0.3, 0.3, false],
    ['tool', 0.5, 0.2, undefined, false],
    ['attempt', 0.7, expect.closeTo(0.3, 5), 0.75, false],
  ])
})

it('bars stay within the timeline whatever the clocks said, and what took no time is still visible', () => {
  const line = timelineOf({
    created_at: at(0),
    generation_time: 0,
    attempts: [attempt({ started_at: at(-3), duration: 0 }), attempt({ started_at: at(5), duration: 0, latency: 9 })],
    steps: [],
  })
  for (const { start, length, firstContent = 0 } of line) {
    expect(start).toBeGreaterThanOrEqual(0)
    expect(length).toBeGreaterThan(0)
    expect(start + length).toBeLessThanOrEqual(1)
    expect(firstContent).toBeLessThanOrEqual(1)
  }
})
