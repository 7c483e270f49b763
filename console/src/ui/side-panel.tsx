import { Drawer } from '@mantine/core'
import type { ReactNode } from 'react'
import { focusPage } from './page.tsx'
import { useGuard } from './unsaved.tsx'

export interface SidePanelProps {
  readonly title: string
  readonly opened: boolean
  readonly onClose: () => void
  /** Pixels; in a narrow window the panel takes the full width. */
  readonly size: number
  readonly children: ReactNode
}

/** Details of one entry next to the list. Input is kept until the user discards it. */
export function SidePanel({ title, opened, onClose, size, children }: SidePanelProps): ReactNode {
  const { close, onKeyDown, around } = useGuard(opened, onClose)
  return (
    <Drawer
      opened={opened}
      onClose={close}
      title={title}
      position="right"
      size={size}
      closeOnEscape={false}
      onKeyDown={onKeyDown}
      // The library gives the focus back to the row that opened it, which is gone with what was deleted.
      onExitTransitionEnd={focusPage}
    >
      {around(children)}
    </Drawer>
  )
}
