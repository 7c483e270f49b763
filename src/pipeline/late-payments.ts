import type { Call, Owner } from '../core/call.ts'
import type { CallLimits } from '../core/call-limits.ts'
import type { Payment } from '../core/counter.ts'
import { gatewayShare } from '../core/cost.ts'
import type { Cost } from '../core/generation.ts'

/** Payments to budgets that were set while the call ran. They were compared with the store before it had the call, so nobody else tells them its cost. */
export function latePayments(
  { limitsOf }: { readonly limitsOf: (owner: Owner) => CallLimits | undefined },
  { owner }: Call,
  cost: Cost,
  known: CallLimits,
): readonly Payment[] {
  if (cost.total === 0) return []
  let current: CallLimits | undefined
  try {
    current = limitsOf(owner)
  } catch {
    // What limits the caller cannot be read at the moment; the store will tell what was spent.
  }
  return (current ?? []).flatMap(({ subject, budgets, includeByok }) =>
    budgets.length === 0 || known.some((one) => one.subject === subject)
      ? []
      : [{ subject, spentUsd: includeByok ? cost.total : gatewayShare(cost), rates: [] }],
  )
}
