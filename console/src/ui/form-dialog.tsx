import { Modal } from '@mantine/core'
import type { ReactNode } from 'react'
import { useGuard } from './unsaved.tsx'

export interface FormDialogProps {
  readonly title: string
  readonly opened: boolean
  readonly onClose: () => void
  readonly children: ReactNode
}

/** A form that makes something new. What is typed in it is kept until somebody says otherwise. */
export function FormDialog({ title, opened, onClose, children }: FormDialogProps): ReactNode {
  const { close, onKeyDown, around } = useGuard(opened, onClose)
  return (
    <Modal opened={opened} onClose={close} title={title} size="lg" closeOnEscape={false} onKeyDown={onKeyDown}>
      {around(children)}
    </Modal>
  )
}
