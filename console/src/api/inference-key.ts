/** A key that calls models, which a management key cannot. It is kept for the tab alone, and goes when its user signs out. */
const NAME = 'signalbox.inference_key'

export type TabStore = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

export const storedInferenceKey = (tab: TabStore): string | undefined => tab.getItem(NAME) ?? undefined
export const keepInferenceKey = (tab: TabStore, key: string): void => tab.setItem(NAME, key)
export const forgetInferenceKey = (tab: TabStore): void => tab.removeItem(NAME)
