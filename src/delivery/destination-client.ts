import type * as Client from '../lib/egress.ts'
import type { Egress, EgressOptions } from '../lib/egress.ts'
import { createTransport, type Transport } from './transport.ts'

export interface DestinationClient {
  readonly transport: Transport
  close(): Promise<void>
}

interface Opened {
  readonly egress: Egress
  readonly transport: Transport
}

/** The HTTP client of destinations. Loaded with the first request: the thread has its own copy, which an installation without destinations does not need. */
export function openDestinationClient(
  options: EgressOptions,
  load: () => Promise<Pick<typeof Client, 'createEgress'>> = () => import('../lib/egress.ts'),
): DestinationClient {
  let opened: Promise<Opened> | undefined
  const open = async () => {
    const { createEgress } = await load()
    const egress = createEgress(options)
    return { egress, transport: createTransport(egress) }
  }
  /** What could not be loaded (no file descriptors left) is loaded again by the next request: nothing would ever be delivered otherwise. */
  const openAgain = (): Promise<Opened> =>
    open().catch((error: unknown) => {
      opened = undefined
      throw error
    })
  return {
    async transport(request, timeoutMs, signal) {
      const { transport } = await (opened ??= openAgain())
      return transport(request, timeoutMs, signal)
    },
    async close() {
      const last = await opened?.catch(() => undefined)
      await last?.egress.close()
    },
  }
}
