import { Modal } from '@mantine/core'
import type { ReactNode } from 'react'
import { useGuard } from './unsaved.tsx'
import { useFocusBack } from './use-focus-back.ts'

export interface FormDialogProps {
  readonly title: string
  readonly opened: boolean
  readonly onClose: () => void
  readonly children: ReactNode
}

/** A dialog with a form for something new. Its input is kept until the user discards it. */
export function FormDialog({ title, opened, onClose, children }: FormDialogProps): ReactNode {
  useFocusBack(opened)
  const { close, onKeyDown, around } = useGuard(opened, onClose)
  return (
    <Modal opened={opened} onClose={close} title={title} size="lg" closeOnEscape={false} onKeyDown={onKeyDown}>
      {around(children)}
    </Modal>
  )
}
