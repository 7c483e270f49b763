import { createGuardrailAccounts } from '../accounts/guardrails.ts'
import { createPresetAccounts } from '../accounts/presets.ts'
import type { Authenticator, Encryption } from '../core/account.ts'
import type { Config } from '../core/config.ts'
import type { Store } from '../core/store.ts'
import type { ManagementRoutes } from '../http/management/app.ts'
import { guardrailRoutes } from '../http/management/guardrail-routes.ts'
import { presetRoutes } from '../http/management/preset-routes.ts'
import { systemClock } from '../lib/clock.ts'
import { randomId } from '../lib/id.ts'
import type { CountRequest } from '../pipeline/count-request.ts'
import type { Policies } from './policies.ts'

export interface PolicyDependencies {
  readonly config: () => Config
  readonly store: Store
  readonly encryption: Encryption
  readonly authenticator: Pick<Authenticator, 'key'>
  readonly policies: Policies
  readonly countRequest: CountRequest
}

/** Presets and guardrails: what administrators decide for the requests of others. */
export function policyRoutes({ config, store, encryption, authenticator, policies, countRequest }: PolicyDependencies): readonly ManagementRoutes[] {
  // The change is stored. If the snapshot cannot be read at once, it follows within its interval.
  const presets = createPresetAccounts({
    store: store.presets,
    encryption,
    clock: systemClock,
    onChange: () => policies.presets.refresh().catch(() => undefined),
  })
  const guardrails = createGuardrailAccounts({ store, clock: systemClock, onChange: () => policies.guardrails.refresh().catch(() => undefined) })
  return [
    presetRoutes({
      presets,
      bodyLimitBytes: config().server.bodyLimit,
      countRequest: (owner) => countRequest(owner, `save-${randomId(20)}`, systemClock.now()),
    }),
    guardrailRoutes({ guardrails, keyOf: async (hash) => authenticator.key(hash) ?? (await store.keys.get(hash)) }),
  ]
}
