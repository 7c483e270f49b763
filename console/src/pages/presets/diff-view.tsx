import { Text } from '@mantine/core'
import { useMemo, type ReactNode } from 'react'
import { diffLines, type DiffLine } from './diff.ts'
import classes from './diff-view.module.css'

export interface DiffViewProps {
  /** Describes the two texts for screen readers. */
  readonly label: string
  readonly before: string
  readonly after: string
}

const SIGNS: { readonly [K in DiffLine['kind']]: string } = { same: '  ', removed: '− ', added: '+ ' }

/** Two texts merged, with a sign and a colour for lines that only one of them has. */
export function DiffView({ label, before, after }: DiffViewProps): ReactNode {
  const lines = useMemo(() => diffLines(before, after), [before, after])
  if (lines.length === 0) {
    return (
      <Text size="xs" c="dimmed">
        Neither version has one.
      </Text>
    )
  }
  return (
    // Long texts scroll within the element, also by keyboard.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <pre className={classes['lines']} aria-label={label} tabIndex={0}>
      {lines.map(({ kind, text }, at) => (
        // A line is identified only by its position.
        <span key={at} className={classes[kind === 'same' ? 'line' : kind]}>
          {SIGNS[kind]}
          {text}
          {'\n'}
        </span>
      ))}
    </pre>
  )
}
