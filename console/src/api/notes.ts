import type { TabStore } from './inference-key.ts'

/** What a page of this tab was in the midst of when it was loaded again. It goes when its user signs out, as all that a key showed does. */
const NAME = 'signalbox.notes'

export type Notes = { readonly [name: string]: unknown }

/** Takes them out: they are for the page that comes next, once. */
export function takeNotes(tab: TabStore): Notes {
  const text = tab.getItem(NAME)
  tab.removeItem(NAME)
  try {
    const notes: unknown = JSON.parse(text ?? '{}')
    return typeof notes === 'object' && notes !== null ? (notes as Notes) : {}
  } catch {
    return {}
  }
}

/** False where they have no room: browsers give a tab a few megabytes. */
export function leaveNotes(tab: TabStore, notes: Notes): boolean {
  try {
    tab.setItem(NAME, JSON.stringify(notes))
    return true
  } catch {
    return false
  }
}

export const forgetNotes = (tab: TabStore): void => tab.removeItem(NAME)
