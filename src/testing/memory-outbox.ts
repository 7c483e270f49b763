import type { Generation, GenerationContent } from '../core/generation.ts'
import { newestHealth } from '../core/newest-health.ts'
import type { DeadLetter, DeadReason, DeliveryHealth, DeliveryStatus, LeasedDelivery, Outbox, OutboxEntry, Settlement } from '../core/outbox.ts'

interface Row {
  readonly id: string
  readonly destinationId: string
  readonly generation: Generation
  content: GenerationContent | undefined
  attempts: number
  enteredAt: number
  readonly bytes: number
  dueAt: number
  owner: string | undefined
  leaseUntil: number
  dead: { readonly reason: DeadReason; readonly status: number; readonly error: string; readonly at: number } | undefined
}

interface Counters {
  delivered: number
  rejected: number
  dropped: number
  health: DeliveryHealth | undefined
}

/** An outbox in memory only: the reference behaviour of the port, for tests. */
export interface MemoryOutbox extends Outbox {
  /** Ids of generations recorded, in order. */
  readonly recorded: readonly string[]
}

export function createMemoryOutbox(now: () => number = Date.now): MemoryOutbox {
  const rows = new Map<string, Row>()
  const recorded: string[] = []
  const counters = new Map<string, Counters>()
  const counter = (id: string): Counters => {
    let found = counters.get(id)
    if (found === undefined) counters.set(id, (found = { delivered: 0, rejected: 0, dropped: 0, health: undefined }))
    return found
  }
  const of = (destinationId: string): Row[] => [...rows.values()].filter((row) => row.destinationId === destinationId)
  const queued = (destinationId: string): Row[] => of(destinationId).filter((row) => row.dead === undefined)
  const isDue = (row: Row, at: number): boolean => row.dead === undefined && row.dueAt <= at && row.leaseUntil <= at

  function enter(entry: OutboxEntry): void {
    if (!recorded.includes(entry.generation.id)) recorded.push(entry.generation.id)
    for (const { destinationId, withContent } of entry.deliveries) {
      const id = `${entry.generation.id}/${destinationId}`
      if (rows.has(id)) continue
      const at = now()
      rows.set(id, {
        id,
        destinationId,
        generation: entry.generation,
        content: withContent && entry.content !== undefined ? (JSON.parse(entry.content) as GenerationContent) : undefined,
        attempts: 0,
        enteredAt: at,
        bytes: entry.bytes,
        dueAt: at,
        owner: undefined,
        leaseUntil: 0,
        dead: undefined,
      })
    }
  }

  function apply(row: Row, settlement: Settlement): void {
    row.owner = undefined
    row.leaseUntil = 0
    if (settlement.state === 'delivered') rows.delete(row.id)
    if (settlement.state === 'released') row.dueAt = settlement.at ?? row.dueAt
    if (settlement.state === 'retry') {
      row.attempts++
      row.dueAt = settlement.at
    }
    if (settlement.state === 'dead') {
      row.attempts++
      row.dead = { reason: settlement.reason, status: settlement.status, error: settlement.error, at: now() }
    }
  }

  return {
    recorded,
    async record(entries) {
      for (const entry of entries) enter(structuredClone(entry))
    },
    async due(at, cap, maySend = () => true) {
      const work = [...new Set([...rows.values()].map((row) => row.destinationId))].flatMap((destinationId) => {
        const due = queued(destinationId)
          .filter((row) => isDue(row, at))
          .slice(0, maySend(destinationId) ? cap : 1)
        if (due.length === 0) return []
        return [
          {
            destinationId,
            records: due.length,
            bytes: due.reduce((sum, row) => sum + row.bytes, 0),
            oldestAt: Math.min(...due.map((row) => row.enteredAt)),
            retried: due.some((row) => row.attempts > 0),
          },
        ]
      })
      const later = [...rows.values()].filter((row) => row.dead === undefined && !isDue(row, at)).map((row) => Math.max(row.dueAt, row.leaseUntil))
      return { work, nextAt: later.length === 0 ? undefined : Math.min(...later) }
    },
    async lease(destinationId, { owner, records, bytes, now: at, leaseMs }) {
      const taken: LeasedDelivery[] = []
      let size = 0
      for (const row of queued(destinationId)
        .filter((each) => isDue(each, at))
        .sort((a, b) => a.enteredAt - b.enteredAt)) {
        if (taken.length >= records || (taken.length > 0 && size + row.bytes > bytes)) break
        row.owner = owner
        row.leaseUntil = at + leaseMs
        size += row.bytes
        taken.push({
          id: row.id,
          destinationId,
          generation: row.generation,
          ...(row.content === undefined ? {} : { content: row.content }),
          attempts: row.attempts,
          enteredAt: row.enteredAt,
          bytes: row.bytes,
        })
      }
      return taken
    },
    async extend(owner, ids, until) {
      const held = ids.filter((id) => rows.get(id)?.owner === owner)
      for (const id of held) rows.get(id)!.leaseUntil = until
      return held
    },
    async settle(owner, settlements, counts) {
      let settled = 0
      const gone: Row[] = []
      for (const settlement of settlements) {
        const row = rows.get(settlement.id)
        if (row?.owner !== owner) continue
        settled++
        if (settlement.state === 'delivered') gone.push(row)
        apply(row, settlement)
      }
      const [first] = gone
      if (first !== undefined) {
        const taken = Math.min(counts?.delivered ?? 0, gone.length)
        counter(first.destinationId).delivered += taken
        counter(first.destinationId).rejected += Math.min(counts?.rejected ?? 0, gone.length - taken)
      }
      return settled
    },
    async retryNow(destinationId, at) {
      const waiting = queued(destinationId).filter((row) => row.owner === undefined && row.dueAt > at)
      for (const row of waiting) row.dueAt = row.enteredAt = Math.min(row.enteredAt, at)
      return waiting.length
    },
    async releaseAll(owner) {
      for (const row of rows.values()) if (row.owner === owner) apply(row, { id: row.id, state: 'released' })
    },
    async cancel(destinationId) {
      const all = of(destinationId)
      for (const row of all) rows.delete(row.id)
      return all.length
    },
    async stripContent(destinationId) {
      for (const row of of(destinationId)) row.content = undefined
    },
    async trim(destinationId, bounds) {
      let bodies = 0
      let deliveries = 0
      const oldest = queued(destinationId)
        .filter((row) => row.owner === undefined)
        .sort((a, b) => a.enteredAt - b.enteredAt)
      let bytes = oldest.reduce((sum, row) => sum + row.bytes, 0)
      for (const row of oldest) {
        if (bytes <= bounds.bytes) break
        if (row.content === undefined) continue
        row.content = undefined
        bytes -= row.bytes
        bodies++
      }
      for (const row of oldest.slice(0, Math.max(0, oldest.length - bounds.records))) {
        apply(row, { id: row.id, state: 'dead', reason: 'overflow', status: 0, error: 'the queue was full' })
        deliveries++
      }
      counter(destinationId).dropped += deliveries
      return { bodies, deliveries }
    },
    async report(destinationId, health) {
      const found = counter(destinationId)
      found.health = newestHealth(found.health, health, now())
    },
    async status(destinationId): Promise<DeliveryStatus> {
      const waiting = queued(destinationId)
      const { delivered, rejected, dropped, health } = counter(destinationId)
      return {
        queued: waiting.length,
        queuedBytes: waiting.reduce((sum, row) => sum + row.bytes, 0),
        oldestAt: waiting.length === 0 ? undefined : Math.min(...waiting.map((row) => row.enteredAt)),
        delivered,
        rejected,
        dropped,
        dead: of(destinationId).length - waiting.length,
        health,
      }
    },
    async deadLetters(destinationId, { offset, limit }) {
      const letters = of(destinationId).flatMap((row): DeadLetter[] =>
        row.dead === undefined
          ? []
          : [
              {
                id: row.id,
                destinationId,
                generationId: row.generation.id,
                reason: row.dead.reason,
                status: row.dead.status,
                error: row.dead.error,
                attempts: row.attempts,
                enteredAt: row.enteredAt,
                diedAt: row.dead.at,
              },
            ],
      )
      return { letters: letters.slice(offset, offset + limit), total: letters.length }
    },
    async replay(destinationId, at, ids) {
      const dead = of(destinationId).filter((row) => row.dead !== undefined && (ids === undefined || ids.includes(row.id)))
      for (const row of dead) Object.assign(row, { dead: undefined, attempts: 0, dueAt: at })
      return dead.length
    },
    async purge(destinationId, ids) {
      const dead = of(destinationId).filter((row) => row.dead !== undefined && (ids === undefined || ids.includes(row.id)))
      for (const row of dead) rows.delete(row.id)
      return dead.length
    },
  }
}
