import type { Destination, DestinationContext } from '../core/destination.ts'
import type { FinishedGeneration } from '../core/generation.ts'
import { redact } from '../core/outcome.ts'
import type { DestinationRecord } from '../core/outbox.ts'
import type { Clock } from '../lib/clock.ts'
import { createLookUp } from './prepared.ts'
import { toDeliveryRecord } from './record.ts'
import { sendBatch } from './send-batch.ts'
import { readSettings } from './stored-settings.ts'
import type { ConnectionTest } from './test-connection.ts'
import type { Transport } from './transport.ts'

export interface SampleJob {
  readonly type: Destination
  readonly destination: DestinationRecord
  readonly sample: FinishedGeneration
  readonly context: DestinationContext
  readonly transport: Transport
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** Encodes and sends one generation at once, past filters, sampling and queue, and reports the result. Never rejects. */
export async function sendSample({ type, destination, sample, context, transport, clock, signal }: SampleJob): Promise<ConnectionTest> {
  const started = clock.monotonic()
  const finish = (ok: boolean, status: number, message?: string): ConnectionTest => {
    const step = { name: 'send a sample generation', ok, status, latencyMs: Math.round(clock.monotonic() - started) }
    return { ok, steps: [message === undefined ? step : { ...step, message: redact(message, 500) }] }
  }
  try {
    const read = readSettings(type, destination)
    if ('problem' in read) return finish(false, 0, read.problem)
    const { settings } = read
    const prepared = await type.prepare?.(settings, context, createLookUp(type, settings, transport, signal))
    const { results, verdict, rejected } = await sendBatch({
      type,
      settings,
      context: prepared === undefined ? context : { ...context, prepared },
      records: [toDeliveryRecord(sample.generation, sample.content, destination)],
      transport,
      signal,
      beforeRequest: () => Promise.resolve(),
      now: () => clock.now(),
    })
    const [result] = results
    // An accepted request may name parts that it refuses.
    if (result?.kind === 'delivered' && rejected === 0) return finish(true, verdict.status, verdict.message)
    const why = result !== undefined && 'error' in result ? result.error : verdict.message
    return finish(false, result !== undefined && 'status' in result ? result.status : verdict.status, why ?? 'the sample was not accepted')
  } catch (error) {
    return finish(false, 0, error instanceof Error ? error.message : String(error))
  }
}
