/**
 * What keeps thoughts alive may come when the text they led to is already told, and a block that has ended takes no more. Their seal then
 * stands in a block of its own behind that text, and says before which block of the message, or in which of them, it belongs.
 */
export interface LateSeal {
  /** `in` the thoughts of that block; `at` the place before it, of thoughts that had not said anything. */
  readonly where: 'in' | 'at'
  /** Index among the blocks of the message. */
  readonly at: number
  /** Which of several thoughts that gave way there. */
  readonly nth: number
  readonly seal: string
}

const LATE = /^(in|at)\.(\d{1,6})\.(\d{1,6})\.(.*)$/s

export const writeLateSeal = ({ where, at, nth, seal }: LateSeal): string => `${where}.${at}.${nth}.${seal}`

/** Undefined for any other seal. */
export function readLateSeal(text: string): LateSeal | undefined {
  const [, where, at, nth, seal] = LATE.exec(text) ?? []
  return at === undefined ? undefined : { where: where as LateSeal['where'], at: Number(at), nth: Number(nth), seal: seal! }
}

/**
 * The signature of thoughts that nothing has to be kept of, or nothing yet. Many clients take an empty one for a fault: on the next turn they
 * leave the thoughts out, or send them as words the model is to have said.
 */
export const UNSEALED = 'unsealed'
