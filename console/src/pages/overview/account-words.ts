import { count, usd } from '../../lib/format.ts'

export interface Words {
  readonly value: string
  readonly about?: string
  readonly isTrouble?: boolean
}

/** The gateway's placeholder for unlimited credits, because the API requires a number. */
const NO_LIMIT_FROM = 1_000_000_000

/** `share`: the spent share of the credits, 0 to 1. */
export function creditsShown(credits: { readonly total_credits: number; readonly total_usage: number }): Words & { readonly share?: number } {
  const { total_credits: all, total_usage: spent } = credits
  if (all >= NO_LIMIT_FROM) return { value: 'No limit', about: `${usd(spent)} spent` }
  const left = Math.max(0, all - spent)
  return { value: `${usd(left)} left`, about: `of ${usd(all)}`, share: all > 0 ? Math.min(1, spent / all) : 1 }
}

interface Listed<T> {
  readonly found: readonly T[]
  /** There are more than were counted. */
  readonly isPart: boolean
}

const amount = (found: number, isPart: boolean): string => (isPart ? `${count(found)} or more` : found === 0 ? 'None' : count(found))
const counted = ({ found, isPart }: Listed<unknown>): string => amount(found.length, isPart)

/** Failed calls within a day. Any number of them is worth a look. */
export const failedShown = (failed: { readonly count: number; readonly isPart: boolean }): Words => ({
  value: amount(failed.count, failed.isPart),
  about: 'in 24 hours',
})

export function keysShown(keys: Listed<{ readonly disabled: boolean }>): Words {
  const off = keys.found.filter(({ disabled }) => disabled).length
  return { value: counted(keys), ...(off > 0 ? { about: `${count(off)} off` } : {}) }
}

export interface Delivery {
  readonly enabled: boolean
  readonly status?: { readonly paused: boolean; readonly breaker: string; readonly dead: number }
}

/** What prevents records from being delivered, the worst first. */
export function deliveryShown(destinations: Listed<Delivery>): Words {
  const value = counted(destinations)
  const statuses = destinations.found.flatMap(({ status }) => status ?? [])
  const failing = statuses.filter(({ breaker }) => breaker !== 'closed').length
  const dead = statuses.reduce((sum, status) => sum + status.dead, 0)
  const paused = statuses.filter(({ paused: isPaused }) => isPaused).length
  const off = destinations.found.filter(({ enabled }) => !enabled).length
  if (failing > 0) return { value, about: `${count(failing)} failing`, isTrouble: true }
  if (dead > 0) return { value, about: `${count(dead)} ${dead === 1 ? 'record' : 'records'} not delivered`, isTrouble: true }
  const quiet = [paused > 0 ? `${count(paused)} paused` : '', off > 0 ? `${count(off)} off` : ''].filter((part) => part !== '')
  return { value, ...(quiet.length > 0 ? { about: quiet.join(', ') } : {}) }
}
