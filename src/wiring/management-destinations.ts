import type { ManagementRoutes } from '../http/management/app.ts'
import { createDestinationAccounts } from '../accounts/destinations.ts'
import type { Encryption } from '../core/account.ts'
import type { WorkspaceStore } from '../core/store.ts'
import type { DeliveryHost } from './delivery-host.ts'
import { filterRulesSchema } from '../delivery/filter-rules.ts'
import { DESTINATIONS } from '../destinations/index.ts'
import { destinationOperations, destinationRoutes } from '../http/management/destination-routes.ts'
import type { Clock } from '../lib/clock.ts'

export interface DestinationDependencies {
  readonly delivery: DeliveryHost
  readonly encryption: Encryption
  readonly workspaces: Pick<WorkspaceStore, 'get'>
  readonly clock: Clock
}

/** The destinations API over the delivery thread. */
export function destinationManagement({ delivery, encryption, workspaces, clock }: DestinationDependencies): readonly ManagementRoutes[] {
  const { destinations: store, outbox, test, sendTest } = delivery
  const accounts = createDestinationAccounts({
    store,
    workspaces,
    outbox,
    encryption,
    types: DESTINATIONS,
    filterRules: filterRulesSchema,
    clock,
    test,
    sendTest,
    privacyLocked: delivery.privacyLocked,
  })
  const known = { types: DESTINATIONS, filterRules: filterRulesSchema }
  return [destinationRoutes(accounts, known), destinationOperations(accounts, clock, known)]
}
