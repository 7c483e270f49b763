import type { Budget } from './counter.ts'

/** The limits of one subject: a key, its workspace, or the whole installation. */
export interface SubjectLimits {
  readonly kind: 'key' | 'guardrail' | 'workspace' | 'installation'
  /** Name of its figures in the counter; see `subjectName`. */
  readonly subject: string
  /** Grows with every change of its limits. */
  readonly revision: number
  readonly requestsPerMinute?: number
  readonly tokensPerMinute?: number
  /** Calls at a time. */
  readonly maxOpen?: number
  readonly budgets: readonly Budget[]
  /** Whether calls served with the caller's own provider key count. */
  readonly includeByok: boolean
}

/** Everything that limits a call, the narrowest subject first. */
export type CallLimits = readonly SubjectLimits[]

const WITH_BYOK = '+byok'

/**
 * A subject whose limits include callers' own keys has figures of their own: the two sums never mix when the switch is turned. So has one
 * under a guardrail, which counts the same spending against another limit.
 */
export const subjectName = (owner: string, includeByok: boolean, guardrailId?: string): string =>
  `${owner}${guardrailId === undefined ? '' : `+${guardrailId}`}${includeByok ? WITH_BYOK : ''}`

/** The reverse: whose spending it is, and which sum. */
export function parseSubject(subject: string): { readonly owner: string; readonly includeByok: boolean } {
  const end = subject.indexOf('+')
  return { owner: end === -1 ? subject : subject.slice(0, end), includeByok: subject.endsWith(WITH_BYOK) }
}
