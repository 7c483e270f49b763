import type { ReactNode } from 'react'
import classes from './playground.module.css'

export interface DisclosureProps {
  readonly summary: ReactNode
  readonly children: ReactNode
  /** Initially open. */
  readonly isOpen?: boolean
}

/** Details behind a summary that can be opened. */
export function Disclosure({ summary, children, isOpen = false }: DisclosureProps): ReactNode {
  return (
    <details className={classes['disclosure']} open={isOpen}>
      <summary>{summary}</summary>
      <div className={classes['inside']}>{children}</div>
    </details>
  )
}

/** Preformatted text of any length. */
export function Pre({ children, label }: { readonly children: string; readonly label?: string }): ReactNode {
  return (
    <pre className={classes['pre']} aria-label={label}>
      {children}
    </pre>
  )
}
