import type { Egress, EgressOptions } from '../lib/egress.ts'
import { createTransport, type Transport } from './transport.ts'

export interface DestinationClient {
  readonly transport: Transport
  close(): Promise<void>
}

/** The HTTP client of destinations. Loaded with the first request: the thread has its own copy, which an installation without destinations does not need. */
export function openDestinationClient(options: EgressOptions): DestinationClient {
  let opened: Promise<{ readonly egress: Egress; readonly transport: Transport }> | undefined
  const open = async () => {
    const { createEgress } = await import('../lib/egress.ts')
    const egress = createEgress(options)
    return { egress, transport: createTransport(egress) }
  }
  return {
    async transport(request, timeoutMs, signal) {
      const { transport } = await (opened ??= open())
      return transport(request, timeoutMs, signal)
    },
    async close() {
      await (await opened)?.egress.close()
    },
  }
}
