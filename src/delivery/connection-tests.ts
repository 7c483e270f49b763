import type { Destination, DestinationContext } from '../core/destination.ts'
import { GatewayError } from '../core/error.ts'
import type { DestinationRecord } from '../core/outbox.ts'
import type { Clock } from '../lib/clock.ts'
import type { IdSource } from '../lib/id.ts'
import { destinationContext } from './destination-context.ts'
import { sampleGeneration } from './sample-generation.ts'
import { sendSample } from './send-sample.ts'
import { readSettings } from './stored-settings.ts'
import type { GatewayContext } from './gateway-context.ts'
import { testConnection, type ConnectionTest } from './test-connection.ts'
import type { Transport } from './transport.ts'

/** For a test with all its steps. */
const LIMIT_MS = 110_000

export interface ConnectionTestsOptions {
  readonly types: ReadonlyMap<string, Destination>
  readonly gatewayContext: GatewayContext
  readonly transport: Transport
  readonly clock: Clock
  readonly newId: IdSource
}

/** Tests that an owner can run at once, past the queue, with settings that need not be stored. Both reject if there is no such type. */
export interface ConnectionTests {
  /** The type's own steps. */
  test(destination: DestinationRecord): Promise<ConnectionTest>
  /** Sends one sample generation. */
  sendTest(destination: DestinationRecord): Promise<ConnectionTest>
}

export function createConnectionTests({ types, gatewayContext, transport, clock, newId }: ConnectionTestsOptions): ConnectionTests {
  const typeOf = ({ type: name }: DestinationRecord): Destination => {
    const type = types.get(name)
    if (type === undefined) throw new GatewayError('invalid_request', `There is no destination type ${name}`)
    return type
  }
  const contextOf = (destination: DestinationRecord): DestinationContext =>
    destinationContext(destination, gatewayContext, { now: clock.now(), attempt: 0 })
  return {
    async test(destination) {
      const type = typeOf(destination)
      const read = readSettings(type, destination)
      if ('problem' in read) return { ok: false, steps: [{ name: 'read the settings', ok: false, status: 0, latencyMs: 0, message: read.problem }] }
      return testConnection({
        type,
        settings: read.settings,
        context: contextOf(destination),
        transport,
        clock,
        signal: AbortSignal.timeout(LIMIT_MS),
      })
    },
    async sendTest(destination) {
      const now = clock.now()
      const sample = sampleGeneration(`gen-${Math.floor(now / 1000)}-${newId(20)}`, destination.workspaceId, now)
      const [type, context] = [typeOf(destination), contextOf(destination)]
      return sendSample({ type, destination, sample, context, transport, clock, signal: AbortSignal.timeout(LIMIT_MS) })
    },
  }
}
