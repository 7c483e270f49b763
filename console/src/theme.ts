import { Badge, createTheme, Drawer, Modal, NavLink, NumberInput, type CSSVariablesResolver } from '@mantine/core'
import { decimalMarks } from './lib/decimal-marks.ts'

/** The button's icon means nothing to screen readers. */
const closeButtonProps = { 'aria-label': 'Close' }

/** A title that is one long word must not push the close button out of the panel. */
const styles = { title: { minWidth: 0, overflowWrap: 'anywhere' } } as const

/** The library's default look, a little more compact, because this tool is used all day. */
export const theme = createTheme({
  primaryColor: 'indigo',
  primaryShade: { light: 7, dark: 8 },
  defaultRadius: 'md',
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace',
  headings: { fontWeight: '650', sizes: { h1: { fontSize: '1.45rem' }, h2: { fontSize: '1.1rem' } } },
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    Badge: Badge.extend({ defaultProps: { tt: 'none', fw: 500 } }),
    NavLink: NavLink.extend({ styles: { root: { borderRadius: 'var(--mantine-radius-md)' } } }),
    NumberInput: NumberInput.extend({ defaultProps: { allowedDecimalSeparators: decimalMarks() } }),
    Modal: Modal.extend({ defaultProps: { closeButtonProps }, styles }),
    Drawer: Drawer.extend({ defaultProps: { closeButtonProps }, styles }),
  },
})

/** Replaces text colours of the library that are too pale: WCAG 2.2 requires a contrast of 4.5 to 1 with the background. */
export const readable: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': '#5c636a',
    '--mantine-color-placeholder': '#6c737a',
    '--mantine-color-error': 'var(--mantine-color-red-9)',
    '--mantine-color-red-text': 'var(--mantine-color-red-9)',
    '--mantine-color-teal-light-color': '#066649',
    '--mantine-color-yellow-light-color': '#8a5200',
    '--mantine-color-orange-light-color': '#a8380b',
    // Also while hovering.
    '--mantine-color-red-light-color': '#a51f1f',
    '--mantine-color-indigo-light-color': '#2c43b0',
  },
  dark: {
    '--mantine-color-dimmed': '#a6a6a6',
    '--mantine-color-placeholder': '#9a9a9a',
    '--mantine-color-error': 'var(--mantine-color-red-4)',
    '--mantine-color-red-text': 'var(--mantine-color-red-4)',
  },
})
