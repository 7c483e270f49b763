let open = 0

/**
 * Has to be called before anything else listens for keys: of two who hear Escape the first may be gone, and what it closed with it, when the
 * second is told.
 */
export const watchDialogs = (): void =>
  window.addEventListener(
    'keydown',
    () => {
      open = document.querySelectorAll('[role="dialog"]').length
    },
    true,
  )

/** How many dialogs were open when the key that is just told of was pressed. */
export const dialogsAtKey = (): number => open
