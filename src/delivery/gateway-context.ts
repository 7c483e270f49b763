import type { DeliverySettings, DeliveryThreadData } from './thread-protocol.ts'
import type { DeliveryWorkerOptions } from './worker-options.ts'

/** What destinations may know about the gateway. */
export type GatewayContext = Required<Pick<DeliveryWorkerOptions, 'service' | 'baseUrls' | 'directory'>>

/** Read at every use, because the operator may change it while the thread runs. */
export function gatewayContextOf(settings: () => DeliverySettings, { version, directory }: DeliveryThreadData): GatewayContext {
  return {
    service: {
      get name() {
        return settings().serviceName
      },
      version,
    },
    get baseUrls() {
      return settings().baseUrls
    },
    directory,
  }
}
