let open = 0

/**
 * Must be called before any other key listener is added: of two listeners for Escape, the first may already have closed its dialog when the second one
 * runs.
 */
export const watchDialogs = (): void =>
  window.addEventListener(
    'keydown',
    () => {
      open = document.querySelectorAll('[role="dialog"]').length
    },
    true,
  )

/** How many dialogs were open when the current key was pressed. */
export const dialogsAtKey = (): number => open
