import type { ReactNode } from 'react'
import classes from './playground.module.css'

export interface DisclosureProps {
  readonly summary: ReactNode
  readonly children: ReactNode
  /** Open from the start. */
  readonly isOpen?: boolean
}

/** What one may want to look at, behind its name. */
export function Disclosure({ summary, children, isOpen = false }: DisclosureProps): ReactNode {
  return (
    <details className={classes['disclosure']} open={isOpen}>
      <summary>{summary}</summary>
      <div className={classes['inside']}>{children}</div>
    </details>
  )
}

/** Text as it came, of any length. */
export function Pre({ children, label }: { readonly children: string; readonly label?: string }): ReactNode {
  return (
    <pre className={classes['pre']} aria-label={label}>
      {children}
    </pre>
  )
}
