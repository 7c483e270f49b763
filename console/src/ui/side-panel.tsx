import { Drawer } from '@mantine/core'
import type { ReactNode } from 'react'
import { useGuard } from './unsaved.tsx'

export interface SidePanelProps {
  readonly title: string
  readonly opened: boolean
  readonly onClose: () => void
  /** Pixels; a narrow window has all of its own. */
  readonly size: number
  readonly children: ReactNode
}

/** One thing of a list, beside it. What is typed in it is kept until somebody says otherwise. */
export function SidePanel({ title, opened, onClose, size, children }: SidePanelProps): ReactNode {
  const { close, onKeyDown, around } = useGuard(opened, onClose)
  return (
    <Drawer opened={opened} onClose={close} title={title} position="right" size={size} closeOnEscape={false} onKeyDown={onKeyDown}>
      {around(children)}
    </Drawer>
  )
}
