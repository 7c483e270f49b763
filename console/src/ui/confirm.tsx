import { Button, Group, Modal, Stack, Text, TextInput, type ButtonProps } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useEffect, useRef, useState, type ReactNode, type RefObject } from 'react'
import { Problem } from './problem.tsx'

export interface ConfirmProps {
  readonly label: string
  readonly title: string
  /** Explains what will happen, and what cannot be restored. */
  readonly children: ReactNode
  /** If it rejects, the error is shown, and the dialog stays open or opens again. */
  readonly onConfirm: () => Promise<unknown>
  /** Called once it is done, unless the user has left the panel or page of this button: what they do elsewhere must not end because of it. */
  readonly onDone?: () => void
  readonly size?: ButtonProps['size']
  /** Must be typed first, if much will be lost. */
  readonly phrase?: string
}

/** A button for an irreversible action: it asks once, says what it does, and shows the error if it was refused. */
export function Confirm({ label, title, children, onConfirm, onDone, size = 'xs', phrase }: ConfirmProps): ReactNode {
  const [opened, { open, close }] = useDisclosure()
  const isLeft = useIsLeft()
  const [typed, setTyped] = useState('')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<Error | null>(null)
  const ask = (): void => {
    // Clears the error and the input of an earlier attempt.
    setError(null)
    setTyped('')
    open()
  }
  const confirm = async (): Promise<void> => {
    setBusy(true)
    setError(null)
    try {
      await onConfirm()
      close()
      if (!isLeft.current) onDone?.()
    } catch (thrown) {
      setError(thrown instanceof Error ? thrown : new Error(String(thrown)))
      // The user may have closed it while waiting, and would take silence for success.
      open()
    } finally {
      setBusy(false)
    }
  }
  return (
    <>
      <Button size={size} variant="light" color="red" onClick={ask}>
        {label}
      </Button>
      <Modal opened={opened} onClose={close} title={title}>
        <Stack>
          <Text size="sm" component="div">
            {children}
          </Text>
          {phrase !== undefined && (
            <TextInput
              label={`Type ${phrase} to confirm`}
              value={typed}
              onChange={(event) => setTyped(event.currentTarget.value)}
              autoComplete="off"
              data-autofocus
            />
          )}
          <Problem error={error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button color="red" loading={busy} disabled={phrase !== undefined && typed.trim() !== phrase} onClick={() => void confirm()}>
              {label}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  )
}

/** Whether the component is gone. */
function useIsLeft(): RefObject<boolean> {
  const isLeft = useRef(false)
  useEffect(() => {
    isLeft.current = false
    return () => {
      isLeft.current = true
    }
  }, [])
  return isLeft
}
