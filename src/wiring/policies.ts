import { unknownNames } from '../accounts/configured-names.ts'
import { createGuardrailSnapshot, type GuardrailSnapshot } from '../accounts/guardrail-snapshot.ts'
import { createKnownGuardrails, createKnownPresets } from '../accounts/last-known-good.ts'
import { createPresetSnapshot, type PresetSnapshot } from '../accounts/preset-snapshot.ts'
import type { Boot } from './boot.ts'
import type { Config } from '../core/config.ts'
import { systemClock } from '../lib/clock.ts'
import type { Logger } from '../lib/logger.ts'

/** Presets and guardrails in memory. */
export interface Policies {
  readonly presets: PresetSnapshot
  readonly guardrails: GuardrailSnapshot
  /** Warns of workspaces and keys that guardrails of the configuration name and that do not exist. Never throws. */
  checkGuardrailNames(): Promise<void>
  close(): Promise<void>
}

/** A database that is away does not stop the start; it is asked again later. */
export async function openPolicies({ store, encryption, accounts, directory }: Boot, config: () => Config, logger: Logger): Promise<Policies> {
  const presets = createPresetSnapshot({
    store,
    encryption,
    clock: systemClock,
    onUnreadable: (id, error) => logger.warn({ id, error }, 'a preset cannot be decrypted and is left out'),
    lastKnownGood: createKnownPresets(directory.presetsFile),
  })
  const guardrails = createGuardrailSnapshot({
    store,
    authenticator: accounts.snapshot,
    clock: systemClock,
    config: () => config().guardrails,
    lastKnownGood: createKnownGuardrails(directory.guardrailsFile),
  })
  const start = { databaseIsAway: !accounts.answers() }
  await Promise.all([presets.start(start).catch(() => undefined), guardrails.start(start).catch(() => undefined)])
  const checkGuardrailNames = (): Promise<void> => warnOfUnknownNames(store, config(), logger)
  await checkGuardrailNames()
  return {
    presets,
    guardrails,
    checkGuardrailNames,
    close: async () => {
      await presets.close()
      await guardrails.close()
    },
  }
}

/** Not repeated if the database is away: the warning is only a help. */
async function warnOfUnknownNames(store: Boot['store'], { guardrails: { rules } }: Config, logger: Logger): Promise<void> {
  if (!rules.some(({ workspaces, keys }) => workspaces !== undefined || keys !== undefined)) return
  try {
    for (const unknown of unknownNames(rules, await store.workspaces.list(), await store.keys.list()))
      logger.warn(unknown, `a guardrail of the configuration names a ${unknown.kind} that does not exist`)
  } catch {
    // Other reads report what is wrong with the database.
  }
}
