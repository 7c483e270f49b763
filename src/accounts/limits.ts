import type { Authenticator } from '../core/account.ts'
import type { Owner } from '../core/call.ts'
import { subjectName, type CallLimits, type SubjectLimits } from '../core/call-limits.ts'
import type { LimitsConfig } from '../core/config.ts'
import { INTERVALS, type Budget } from '../core/counter.ts'
import type { AppliedGuardrail, Guardrails } from '../core/guardrail.ts'
import { budgetsOf, creditLimitOf, rateLimitsOf, resetOf } from '../core/limit-settings.ts'
import type { ApiKey, Workspace } from '../core/store.ts'

interface Rates {
  readonly requestsPerMinute?: number
  readonly tokensPerMinute?: number
  readonly maxOpen?: number
}

/** The settings of a key or workspace, with defaults from the configuration. */
function ratesOf(settings: ApiKey['settings'], defaults: Partial<LimitsConfig> = {}): Rates {
  const own = rateLimitsOf({ settings })
  const requestsPerMinute = own.requests_per_minute ?? defaults.requestsPerMinute
  const tokensPerMinute = own.tokens_per_minute ?? defaults.tokensPerMinute
  const maxOpen = own.concurrent_requests ?? defaults.concurrentRequests
  return {
    ...(requestsPerMinute === undefined ? {} : { requestsPerMinute }),
    ...(tokensPerMinute === undefined ? {} : { tokensPerMinute }),
    ...(maxOpen === undefined ? {} : { maxOpen }),
  }
}

const isLimited = (limits: SubjectLimits): boolean =>
  limits.budgets.length > 0 || limits.requestsPerMinute !== undefined || limits.tokensPerMinute !== undefined || limits.maxOpen !== undefined

function keyLimits(key: ApiKey, config: LimitsConfig): SubjectLimits {
  const limitUsd = creditLimitOf(key)
  const includeByok = key.settings['include_byok_in_limit'] === true
  return {
    kind: 'key',
    subject: subjectName(`key:${key.hash}`, includeByok),
    revision: key.updatedAt,
    ...ratesOf(key.settings, config),
    budgets: limitUsd === undefined ? [] : [{ interval: resetOf(key), limitUsd }],
    includeByok,
  }
}

function workspaceLimits(workspace: Workspace): SubjectLimits {
  const stored = budgetsOf(workspace)
  const includeByok = workspace.settings['include_byok_in_budgets'] === true
  const budgets: Budget[] = INTERVALS.flatMap((interval) => {
    const budget = stored[interval]
    return budget === undefined ? [] : [{ interval, limitUsd: budget.limit_usd }]
  })
  return {
    kind: 'workspace',
    subject: subjectName(`workspace:${workspace.id}`, includeByok),
    revision: workspace.updatedAt,
    ...ratesOf(workspace.settings),
    budgets,
    includeByok,
  }
}

/** The budget that a guardrail gives each key under it: counted separately from the key's own. */
function guardrailLimits({ id, rules, revision = 0 }: AppliedGuardrail, owner: Owner): readonly SubjectLimits[] {
  const { limit_usd: limitUsd, reset_interval: interval, include_byok_in_budgets: includeByok = false } = rules
  if (limitUsd == null) return []
  return [
    {
      kind: 'guardrail',
      subject: subjectName(`key:${owner.keyHash}`, includeByok, id),
      revision,
      budgets: [{ interval: interval ?? 'lifetime', limitUsd }],
      includeByok,
    },
  ]
}

interface CompiledLimits {
  readonly key: ApiKey | undefined
  readonly workspace: Workspace | undefined
  readonly limits: CallLimits | undefined
  readonly guardrails: readonly AppliedGuardrail[] | undefined
}

/**
 * The current limits of a caller. They are compiled once per owner, and again when its key or workspace changes, so that a few map lookups suffice,
 * also to find that a caller has no limits. A call that began before a change keeps its owner from before.
 */
export function createLimitBook(
  authenticator: Pick<Authenticator, 'key' | 'workspace'>,
  config: () => LimitsConfig,
  guardrails?: Guardrails,
): (owner: Owner) => CallLimits | undefined {
  let compiled = new WeakMap<Owner, CompiledLimits>()
  let compiledFor: LimitsConfig | undefined
  /** Incremented when credits are added, removed or changed, because what was spent without them counts. */
  let creditsRevision = 0
  return (owner) => {
    const current = config()
    if (current !== compiledFor) {
      compiled = new WeakMap()
      if (current.credits !== compiledFor?.credits) creditsRevision++
      compiledFor = current
    }
    const applied = guardrails?.of(owner)
    const key = authenticator.key(owner.keyHash)
    const workspace = authenticator.workspace(owner.workspaceId)
    let known = compiled.get(owner)
    if (known === undefined || known.guardrails !== applied || known.key !== key || known.workspace !== workspace) {
      known = { key, workspace, guardrails: applied, limits: compile({ key, workspace }, owner, current, applied ?? [], creditsRevision) }
      compiled.set(owner, known)
    }
    return known.limits
  }
}

function compile(
  { key, workspace }: Pick<CompiledLimits, 'key' | 'workspace'>,
  owner: Owner,
  config: LimitsConfig,
  guardrails: readonly AppliedGuardrail[],
  creditsRevision: number,
): CallLimits | undefined {
  const all: SubjectLimits[] = []
  if (key !== undefined) all.push(keyLimits(key, config))
  all.push(...guardrails.flatMap((guardrail) => guardrailLimits(guardrail, owner)))
  if (workspace !== undefined) all.push(workspaceLimits(workspace))
  if (config.credits !== undefined) {
    all.push({
      kind: 'installation',
      subject: 'installation',
      revision: creditsRevision,
      budgets: [{ interval: 'lifetime', limitUsd: config.credits }],
      includeByok: false,
    })
  }
  const limited = all.filter(isLimited)
  return limited.length === 0 ? undefined : limited
}
