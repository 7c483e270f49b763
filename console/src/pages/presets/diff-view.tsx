import { Text } from '@mantine/core'
import { useMemo, type ReactNode } from 'react'
import { diffLines, type DiffLine } from './diff.ts'
import classes from './diff-view.module.css'

export interface DiffViewProps {
  /** What the two texts are, for those who cannot see them. */
  readonly label: string
  readonly before: string
  readonly after: string
}

const SIGNS: { readonly [K in DiffLine['kind']]: string } = { same: '  ', removed: '− ', added: '+ ' }

/** Two texts as one, with a sign and a colour for what is only in either. */
export function DiffView({ label, before, after }: DiffViewProps): ReactNode {
  const lines = useMemo(() => diffLines(before, after), [before, after])
  if (lines.length === 0) {
    return (
      <Text size="xs" c="dimmed">
        Neither has one.
      </Text>
    )
  }
  return (
    // Long texts are scrolled within, also by keyboard.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <pre className={classes['lines']} aria-label={label} tabIndex={0}>
      {lines.map(({ kind, text }, at) => (
        // A line has nothing of its own but its place.
        <span key={at} className={classes[kind === 'same' ? 'line' : kind]}>
          {SIGNS[kind]}
          {text}
          {'\n'}
        </span>
      ))}
    </pre>
  )
}
