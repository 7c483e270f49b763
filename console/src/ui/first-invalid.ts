import { useEffect, useRef, type RefObject } from 'react'

/** The first field that shows an error gets the focus: it comes into view, and screen readers read the error with it. False if there is none. */
export function focusFirstInvalid(form: HTMLFormElement | null): boolean {
  const field = form?.querySelector<HTMLElement>('[aria-invalid="true"]')
  field?.focus()
  return field != null
}

/**
 * For a form whose button is disabled while it is sent, and so loses the focus: once the answer is there, the focus moves to the field that was refused,
 * or back to the button. A user who has gone elsewhere meanwhile stays there, unless a field was refused.
 */
export function useFocusAfterSending(busy: boolean): RefObject<HTMLFormElement | null> {
  const form = useRef<HTMLFormElement>(null)
  const wasBusy = useRef(false)
  useEffect(() => {
    const isAnswered = wasBusy.current && !busy
    wasBusy.current = busy
    if (!isAnswered || focusFirstInvalid(form.current) || document.activeElement !== document.body) return
    form.current?.querySelector<HTMLElement>('button[type="submit"]:not(:disabled)')?.focus()
  }, [busy])
  return form
}
