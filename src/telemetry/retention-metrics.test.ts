import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { createRetentionMetrics } from './retention-metrics.ts'

const NONE = { content: 0, generations: 0, activity: 0, spend: 0, deleted_destinations: 0, answers: 0 }
const figures = async (registry: Registry): Promise<readonly string[]> => (await registry.metrics()).split('\n').filter((line) => /^[^#]/.test(line))

it('figures of the last round are absent until there was one', async () => {
  const registry = new Registry()
  const metrics = createRetentionMetrics(registry)
  expect(await figures(registry)).toEqual([])
  metrics.finished({ at: 1_700_000_000_000, durationMs: 1_500, deleted: { ...NONE, content: 3 }, unfinished: false })
  expect(await figures(registry)).toEqual(
    expect.arrayContaining([
      'gateway_retention_deleted_total{what="content"} 3',
      'gateway_retention_last_run_timestamp_seconds 1700000000',
      'gateway_retention_last_run_seconds 1.5',
      'gateway_retention_unfinished 0',
    ]),
  )
})
