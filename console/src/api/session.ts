import { forgetInferenceKey } from './inference-key.ts'
import { forgetNotes } from './notes.ts'

/** Where the management key is stored: for this tab, or in this browser if the user wants that. It is sent only to the gateway that served the page. */
const NAME = 'signalbox.management_key'

export interface KeyStores {
  readonly tab: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>
  readonly browser: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>
}

export const storedKey = ({ tab, browser }: KeyStores): string | undefined => tab.getItem(NAME) ?? browser.getItem(NAME) ?? undefined

export function keepKey({ tab, browser }: KeyStores, key: string, remember: boolean): void {
  tab.setItem(NAME, key)
  if (remember) browser.setItem(NAME, key)
}

/** `key`: forget only this key, which is no longer accepted. The browser may have stored another that still is. */
export function forgetKey({ tab, browser }: KeyStores, key?: string): void {
  tab.removeItem(NAME)
  forgetInferenceKey(tab)
  forgetNotes(tab)
  if (key === undefined || browser.getItem(NAME) === key) browser.removeItem(NAME)
}

export interface SignOutLine {
  /** Tells every other tab of the browser. */
  readonly tell: () => void
  readonly close: () => void
}

/** Signs out all tabs together: a key stored for one tab is out of reach for the others, but a message is not. */
export function signOutLine(onSignedOut: () => void): SignOutLine {
  const channel = new BroadcastChannel('signalbox.signed_out')
  channel.addEventListener('message', onSignedOut)
  // A channel is limited to one origin by itself.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  return { tell: () => channel.postMessage(null), close: () => channel.close() }
}

/** The key in a link that `signalbox serve` prints, `/console/#key=...`. A fragment is not sent to any server, so it appears in no log. */
export function keyOfFragment(fragment: string): string | undefined {
  const key = new URLSearchParams(fragment.replace(/^#/, '')).get('key')
  return key === null || key === '' ? undefined : key
}
