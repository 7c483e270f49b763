import { Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import { createDeliveryMetrics } from './delivery-metrics.ts'

describe('delivery metrics', () => {
  it('count outcomes by type and show what waits', async () => {
    const registry = new Registry()
    const metrics = createDeliveryMetrics(registry)
    metrics.batch({ type: 'webhook', counts: { delivered: 8, retry: 0, dead: 1 }, rejected: 2 })
    metrics.batch({ type: 'webhook', counts: { delivered: 0, retry: 3, dead: 0 }, rejected: 0 })
    metrics.givenUp({ type: 'webhook', deliveries: 4 })
    metrics.queues([{ type: 'webhook', queued: 4, oldestAt: 1_000 }], 6_000)
    const text = await registry.metrics()
    expect(text).toContain('gateway_delivery_total{type="webhook",outcome="delivered"} 6')
    expect(text).toContain('gateway_delivery_total{type="webhook",outcome="rejected"} 2')
    expect(text).toContain('gateway_delivery_total{type="webhook",outcome="retried"} 3')
    expect(text).toContain('gateway_delivery_total{type="webhook",outcome="dead"} 5')
    expect(text).toContain('gateway_delivery_queue_depth{type="webhook"} 4')
    expect(text).toContain('gateway_delivery_oldest_seconds{type="webhook"} 5')
    metrics.queues([], 7_000)
    expect(await registry.metrics()).not.toContain('gateway_delivery_queue_depth{type="webhook"}')
  })

  it('start at zero once there is a destination, so that the first dead letters are an increase', async () => {
    const registry = new Registry()
    const metrics = createDeliveryMetrics(registry)
    metrics.queues([{ type: 'webhook', queued: 0, oldestAt: undefined }], 6_000)
    for (const outcome of ['delivered', 'rejected', 'retried', 'dead'])
      expect(await registry.metrics()).toContain(`gateway_delivery_total{type="webhook",outcome="${outcome}"} 0`)
    metrics.givenUp({ type: 'webhook', deliveries: 4 })
    expect(await registry.metrics()).toContain('gateway_delivery_total{type="webhook",outcome="dead"} 4')
  })
})
