/**
 * The data that must come back with a thought may arrive after the text it led to has been written, when the block of the thought has ended. The seal then
 * gets a block of its own behind that text, and says before which block of the message, or into which, it belongs.
 */
export interface LateSeal {
  /** `in`: belongs to the thought in that block; `at`: to the place before it, for a thought without text so far. */
  readonly where: 'in' | 'at'
  /** Index among the blocks of the message. */
  readonly at: number
  /** Order among the thoughts that let text pass. */
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
 * The signature of thoughts without a seal, or without one yet. Many clients treat an empty signature as an error: on the next turn they leave the
 * thoughts out, or send them as text of the model.
 */
export const UNSEALED = 'unsealed'
