import { Drawer } from '@mantine/core'
import type { KeyboardEvent, ReactNode } from 'react'

export interface SidePanelProps {
  readonly title: string
  readonly opened: boolean
  readonly onClose: () => void
  /** Pixels; a narrow window has all of its own. */
  readonly size: number
  readonly children: ReactNode
}

/** One thing of a list, beside it. Questions asked within close by themselves: Escape takes away what lies on top, and no more. */
export function SidePanel({ title, opened, onClose, size, children }: SidePanelProps): ReactNode {
  const onKeyDown = (event: KeyboardEvent): void => {
    const { currentTarget, target } = event
    // A question is no part of this element, though its events come by; an open list of choices says that Escape is for it.
    const isHere = target instanceof Element && currentTarget.contains(target) && target.getAttribute('data-mantine-stop-propagation') !== 'true'
    if (event.key === 'Escape' && isHere) onClose()
  }
  return (
    <Drawer opened={opened} onClose={onClose} title={title} position="right" size={size} closeOnEscape={false} onKeyDown={onKeyDown}>
      {children}
    </Drawer>
  )
}
