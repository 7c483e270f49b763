import type { ModelRequest } from '../../core/request.ts'

export interface StopRule {
  /** Sequences of white space alone are refused. */
  readonly blank?: false
  /** How many are accepted. */
  readonly max?: number
}

/** The caller's stop sequences as the endpoint accepts them; those it does not get are noted. Empty ones stop nothing and are refused everywhere. */
export function stopSequences(request: ModelRequest, { blank, max = Infinity }: StopRule, dropped: string[]): string[] {
  const stop = request['stop'] ?? request['stop_sequences']
  const requested = (Array.isArray(stop) ? stop : [stop]).filter((each): each is string => typeof each === 'string' && each !== '')
  const usable = blank === false ? requested.filter((each) => each.trim() !== '') : requested
  if (usable.length < requested.length) dropped.push('stop: white space')
  if (usable.length > max) dropped.push(`stop: only the first ${max}`)
  return usable.slice(0, max)
}
