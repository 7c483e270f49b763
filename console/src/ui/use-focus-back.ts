import { useLayoutEffect, useRef } from 'react'

/**
 * Gives the focus back to what had it when a dialog opened, once that closes. The library does so only for dialogs that were there before they opened, and
 * not for those that begin anew every time. Whatever opens next keeps the focus. If nothing had it, because the pressed button was disabled, the panel
 * below gets it: without it, the keyboard would go on behind the panel.
 */
export function useFocusBack(opened: boolean): void {
  const opener = useRef<Element>(null)
  useLayoutEffect(() => {
    if (opened) {
      opener.current = document.activeElement
      return undefined
    }
    const element = opener.current
    opener.current = null
    if (!(element instanceof HTMLElement)) return undefined
    const closing = document.activeElement?.closest('[role="dialog"]') ?? null
    const timer = setTimeout(() => {
      const now = document.activeElement
      if (now === null || now === document.body || closing?.contains(now) === true) targetOf(element, closing).focus({ preventScroll: true })
    })
    return () => clearTimeout(timer)
  }, [opened])
}

function targetOf(opener: HTMLElement, closing: Element | null): HTMLElement {
  if (opener !== document.body && opener.isConnected) return opener
  return [...document.querySelectorAll<HTMLElement>('[role="dialog"]')].findLast((dialog) => dialog !== closing) ?? opener
}
