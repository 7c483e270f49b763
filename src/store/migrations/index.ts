import { initial } from './0001-initial.ts'
import { destinations } from './0002-destinations.ts'
import { accounting } from './0003-accounting.ts'
import { presets } from './0004-presets.ts'
import { guardrails } from './0005-guardrails.ts'
import { retention } from './0006-retention.ts'
import { answers } from './0007-answers.ts'
import { keyUses } from './0008-key-uses.ts'
import { exactSums } from './0009-exact-sums.ts'
import { keySecrets } from './0010-key-secrets.ts'
import { leaseOwners } from './0011-lease-owners.ts'
import { keyPages } from './0012-key-pages.ts'
import type { Migration } from './migration.ts'

export const MIGRATIONS: readonly Migration[] = [
  initial,
  destinations,
  accounting,
  presets,
  guardrails,
  retention,
  answers,
  keyUses,
  exactSums,
  keySecrets,
  leaseOwners,
  keyPages,
]
