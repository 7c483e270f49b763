/** Which dead letters an order is about. */
export interface LetterAim {
  /** Ids of those that were chosen and are still there. */
  readonly chosen: readonly string[]
  /** What the order is sent with; undefined: what was chosen is gone, and nothing is left of the order. */
  readonly body: { readonly ids?: readonly string[] } | undefined
  /** For the buttons: `all`, `2 chosen`. */
  readonly said: string
}

/**
 * The list is read again while somebody chooses, and others empty it, too. A body without ids means all letters: only who chose none may send it,
 * not who chose some that have gone meanwhile.
 */
export function letterAim(wanted: ReadonlySet<string>, listed: readonly string[]): LetterAim {
  const chosen = listed.filter((id) => wanted.has(id))
  if (wanted.size === 0) return { chosen, body: {}, said: 'all' }
  return { chosen, body: chosen.length === 0 ? undefined : { ids: chosen }, said: `${chosen.length} chosen` }
}
