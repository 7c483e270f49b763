import type { Attempt, Metadata } from './run.ts'

export interface EndpointFate {
  readonly provider: string
  readonly model: string
  readonly fate: string
}

export interface Routing {
  /** What happened, in one sentence. */
  readonly sentence: string
  readonly attempts: readonly Attempt[]
  readonly endpoints: readonly EndpointFate[]
  /** The provider that answered. */
  readonly served: string | undefined
  /** There was a fallback, or no provider answered. */
  readonly isNotable: boolean
  /** There are endpoints that were not tried; whether they could have been is up to the plan. */
  readonly hasUnasked: boolean
}

const hasFailed = ({ status, error_type: type }: Attempt): boolean => type !== undefined || status < 200 || status >= 300

/** How a call was routed, according to its metadata. */
export function routingOf({ attempts = [], endpoints }: Metadata): Routing {
  const failed = attempts.filter(hasFailed)
  const served = attempts.findLast((attempt) => !hasFailed(attempt))
  const fates = (endpoints?.available ?? []).map(({ provider, model, selected }) => {
    const own = attempts.filter((attempt) => attempt.provider === provider && attempt.model === model)
    return { provider, model, fate: fateOf(own, selected) }
  })
  return {
    served: served?.provider,
    sentence: sentenceOf(served, failed, endpoints?.total ?? 0),
    attempts,
    endpoints: fates,
    isNotable: failed.length > 0 || served === undefined,
    hasUnasked: fates.some(({ fate }) => fate === UNASKED),
  }
}

const UNASKED = 'not asked'

function fateOf(attempts: readonly Attempt[], selected: boolean): string {
  const last = attempts.at(-1)
  if (last === undefined) return selected ? 'chosen' : UNASKED
  return hasFailed(last) ? `failed: ${whyOf(last)}` : 'answered'
}

export const whyOf = ({ status, error_type: type }: Attempt): string =>
  [status === 0 ? undefined : status, type].filter((part) => part !== undefined).join(' ')

function sentenceOf(served: Attempt | undefined, failed: readonly Attempt[], total: number): string {
  const tries = `${failed.length} failed ${failed.length === 1 ? 'attempt' : 'attempts'}`
  const who = [...new Set(failed.map((attempt) => `${attempt.provider} ${whyOf(attempt)}`))].join(', ')
  if (served !== undefined) return failed.length === 0 ? `${served.provider} answered.` : `${served.provider} answered after ${tries}: ${who}.`
  // A success status next to an error: the answer broke after it had begun.
  const began = failed.some(({ status }) => status >= 200 && status < 300)
  if (failed.length > 0) return `No ${began ? 'complete ' : ''}answer; ${tries}: ${who}.`
  return `None of ${total} ${total === 1 ? 'endpoint' : 'endpoints'} was called.`
}
