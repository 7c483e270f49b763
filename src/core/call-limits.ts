import type { Budget } from './counter.ts'

/** The limits of one subject: a key, its workspace, or the whole installation. */
export interface SubjectLimits {
  readonly kind: 'key' | 'guardrail' | 'workspace' | 'installation'
  /** The name of its figures in the counter; see `subjectName`. */
  readonly subject: string
  /** Increases with every change of its limits. */
  readonly revision: number
  readonly requestsPerMinute?: number
  readonly tokensPerMinute?: number
  /** Concurrent calls. */
  readonly maxOpen?: number
  readonly budgets: readonly Budget[]
  /** Whether calls that are served with the caller's own provider key count. */
  readonly includeByok: boolean
}

/** All limits of a call, with the narrowest subject first. */
export type CallLimits = readonly SubjectLimits[]

const WITH_BYOK = '+byok'

/**
 * A subject whose limits include callers' own keys has separate figures, so that the two sums never mix when the setting changes. A subject under a
 * guardrail has separate figures too, because they count the same spending against another limit.
 */
export const subjectName = (owner: string, includeByok: boolean, guardrailId?: string): string =>
  `${owner}${guardrailId === undefined ? '' : `+${guardrailId}`}${includeByok ? WITH_BYOK : ''}`

/** The reverse of `subjectName`: whose spending it is, and which of the two sums. */
export function parseSubject(subject: string): { readonly owner: string; readonly includeByok: boolean } {
  const end = subject.indexOf('+')
  return { owner: end === -1 ? subject : subject.slice(0, end), includeByok: subject.endsWith(WITH_BYOK) }
}
