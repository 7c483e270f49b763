import { z } from 'zod'
import { roundUsd } from '../../core/cost.ts'
import { NOTHING_SPENT } from '../../core/counter.ts'
import type { SpendFigures } from '../../core/store.ts'

const usd = z.number().describe('USD.')

/** What a key or a workspace has spent, in total and in the current day, week and month (UTC). */
export const spentFields = {
  usage: usd,
  usage_daily: usd,
  usage_weekly: usd,
  usage_monthly: usd,
  byok_usage: usd,
  byok_usage_daily: usd,
  byok_usage_weekly: usd,
  byok_usage_monthly: usd,
}

export const NO_SPENDING: SpendFigures = { usd: NOTHING_SPENT, byokUsd: NOTHING_SPENT }

export const presentSpent = ({ usd: own, byokUsd }: SpendFigures): { readonly [K in keyof typeof spentFields]: number } => ({
  usage: roundUsd(own.lifetime),
  usage_daily: roundUsd(own.daily),
  usage_weekly: roundUsd(own.weekly),
  usage_monthly: roundUsd(own.monthly),
  byok_usage: roundUsd(byokUsd.lifetime),
  byok_usage_daily: roundUsd(byokUsd.daily),
  byok_usage_weekly: roundUsd(byokUsd.weekly),
  byok_usage_monthly: roundUsd(byokUsd.monthly),
})
