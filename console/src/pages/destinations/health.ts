import type { DestinationStatus } from '../../api/schema.ts'

/** The state of a destination's deliveries, as a word and a colour. */
export interface Health {
  readonly word: 'Disabled' | 'Paused' | 'Failing' | 'Delivering' | 'Nothing sent yet'
  readonly colour: string
  /** Whether `last_error` is still the case. */
  readonly isErrorCurrent: boolean
}

export function healthOf(status: DestinationStatus): Health {
  const isErrorCurrent = isCurrent(status)
  if (!status.enabled) return { word: 'Disabled', colour: 'gray', isErrorCurrent }
  if (status.paused) return { word: 'Paused', colour: 'yellow', isErrorCurrent }
  if (status.breaker !== 'closed' || isErrorCurrent) return { word: 'Failing', colour: 'red', isErrorCurrent }
  if (status.last_success_at !== null || status.delivered > 0) return { word: 'Delivering', colour: 'teal', isErrorCurrent }
  return { word: 'Nothing sent yet', colour: 'gray', isErrorCurrent }
}

function isCurrent({ last_error_at: failed, last_success_at: succeeded }: DestinationStatus): boolean {
  return failed !== null && (succeeded === null || Date.parse(failed) > Date.parse(succeeded))
}
