/** A key that calls models, which a management key cannot. It is stored for this tab only, and removed on sign-out. */
const NAME = 'signalbox.inference_key'

export type TabStore = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

export const storedInferenceKey = (tab: TabStore): string | undefined => tab.getItem(NAME) ?? undefined
export const keepInferenceKey = (tab: TabStore, key: string): void => tab.setItem(NAME, key)
export const forgetInferenceKey = (tab: TabStore): void => tab.removeItem(NAME)
