import type { TabStore } from './inference-key.ts'

/** Unfinished work of a page in this tab, kept across a reload. It is removed on sign-out, like everything else that a key has shown. */
const NAME = 'signalbox.notes'

export type Notes = { readonly [name: string]: unknown }

/** Removes and returns the notes: they are for the next page load only. */
export function consumeNotes(tab: TabStore): Notes {
  const text = tab.getItem(NAME)
  tab.removeItem(NAME)
  try {
    const notes: unknown = JSON.parse(text ?? '{}')
    return typeof notes === 'object' && notes !== null ? (notes as Notes) : {}
  } catch {
    return {}
  }
}

/** False if there is no room: browsers give a tab a few megabytes. */
export function storeNotes(tab: TabStore, notes: Notes): boolean {
  try {
    tab.setItem(NAME, JSON.stringify(notes))
    return true
  } catch {
    return false
  }
}

export const forgetNotes = (tab: TabStore): void => tab.removeItem(NAME)
