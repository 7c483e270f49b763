import { createTheme } from '@mantine/core'

/** The kit's own look, a little tighter: this is a tool one works with all day. */
export const theme = createTheme({
  primaryColor: 'indigo',
  defaultRadius: 'md',
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace',
  headings: { fontWeight: '650', sizes: { h1: { fontSize: '1.45rem' }, h2: { fontSize: '1.1rem' } } },
  cursorType: 'pointer',
  respectReducedMotion: true,
})
