/** The dead letters that an action applies to. */
export interface LetterSelection {
  /** Ids of selected letters that still exist. */
  readonly chosen: readonly string[]
  /** The request body of the action; undefined: all selected letters are gone, so there is nothing to do. */
  readonly body: { readonly ids?: readonly string[] } | undefined
  /** For the buttons: `all`, `2 chosen`. */
  readonly label: string
}

/**
 * The list is refetched during the selection, and others may empty it, too. A body without ids means all letters: it may only be sent if nothing was
 * selected, and not if the selected ones have gone meanwhile.
 */
export function selectLetters(wanted: ReadonlySet<string>, listed: readonly string[]): LetterSelection {
  const chosen = listed.filter((id) => wanted.has(id))
  if (wanted.size === 0) return { chosen, body: {}, label: 'all' }
  return { chosen, body: chosen.length === 0 ? undefined : { ids: chosen }, label: `${chosen.length} chosen` }
}
