import { Counter, Gauge, type Registry } from 'prom-client'

export interface DeliveryMetrics {
  /** Counts one batch with its outcome. */
  batch(batch: {
    readonly type: string
    readonly counts: { readonly delivered: number; readonly retry: number; readonly dead: number }
    readonly rejected: number
  }): void
  /** Counts deliveries that became dead letters without an attempt, because they waited too long or their queue was full. */
  givenUp(letters: { readonly type: string; readonly deliveries: number }): void
  /** Sets the queue lengths by type; a type that is not listed has an empty queue. */
  queues(queues: readonly { readonly type: string; readonly queued: number; readonly oldestAt: number | undefined }[], now: number): void
}

/** Metrics of deliveries by type of destination. Types and outcomes are closed vocabularies. */
export function createDeliveryMetrics(registry: Registry): DeliveryMetrics {
  const registers = [registry]
  const total = new Counter({
    name: 'gateway_delivery_total',
    help: 'Deliveries by type of destination and outcome (delivered, rejected, retried, dead).',
    labelNames: ['type', 'outcome'],
    registers,
  })
  const depth = new Gauge({
    name: 'gateway_delivery_queue_depth',
    help: 'Waiting deliveries by type of destination.',
    labelNames: ['type'],
    registers,
  })
  const oldest = new Gauge({
    name: 'gateway_delivery_oldest_seconds',
    help: 'Age of the oldest waiting delivery by type of destination.',
    labelNames: ['type'],
    registers,
  })
  const begun = new Set<string>()
  /** Series start with 0 as soon as there is such a destination: if one started with the first thirty dead letters, Prometheus would see no increase. */
  const begin = (type: string): void => {
    if (begun.has(type)) return
    begun.add(type)
    for (const outcome of ['delivered', 'rejected', 'retried', 'dead']) total.inc({ type, outcome }, 0)
  }
  return {
    batch: ({ type, counts, rejected }) => {
      begin(type)
      const outcomes = { delivered: Math.max(0, counts.delivered - rejected), rejected, retried: counts.retry, dead: counts.dead }
      for (const [outcome, count] of Object.entries(outcomes)) if (count > 0) total.inc({ type, outcome }, count)
    },
    givenUp: ({ type, deliveries }) => {
      if (deliveries > 0) total.inc({ type, outcome: 'dead' }, deliveries)
    },
    queues: (queues, now) => {
      depth.reset()
      oldest.reset()
      for (const { type, queued, oldestAt } of queues) {
        begin(type)
        depth.set({ type }, queued)
        oldest.set({ type }, oldestAt === undefined ? 0 : Math.max(0, (now - oldestAt) / 1000))
      }
    },
  }
}
