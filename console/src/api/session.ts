import { forgetInferenceKey } from './inference-key.ts'

/** Where the management key is kept: for this tab, or in this browser if its user says so. It goes nowhere but to the gateway that served the page. */
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

export function forgetKey({ tab, browser }: KeyStores): void {
  tab.removeItem(NAME)
  forgetInferenceKey(tab)
  browser.removeItem(NAME)
}

/** The key of a link that `signalbox serve` prints, `/console/#key=...`. A fragment is not sent to any server, and so stands in no log. */
export function keyOfFragment(fragment: string): string | undefined {
  const key = new URLSearchParams(fragment.replace(/^#/, '')).get('key')
  return key === null || key === '' ? undefined : key
}
