import { Button, Group, Stack } from '@mantine/core'
import type { FormEvent, ReactNode } from 'react'
import { useFocusAfterSending } from './first-invalid.ts'
import { Problem } from './problem.tsx'
import { useUnsaved } from './unsaved.tsx'

export interface EditFormProps {
  readonly label: string
  /** The label of the button: "Create key". */
  readonly action: string
  readonly busy: boolean
  /** The error that no field of the form shows. */
  readonly problem: Error | null
  /** Nothing was changed, or something is missing. */
  readonly disabled?: boolean
  /** The form contains input, valid or not, that would be lost with it. */
  readonly unsaved: boolean
  readonly onSubmit: () => void
  readonly onCancel?: () => void
  readonly children: ReactNode
}

/** Fields in a column, with their errors, and a button at the end. */
export function EditForm({ label, action, busy, problem, disabled = false, unsaved, onSubmit, onCancel, children }: EditFormProps): ReactNode {
  useUnsaved(unsaved)
  const form = useFocusAfterSending(busy)
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    onSubmit()
  }
  return (
    <form aria-label={label} onSubmit={submit} ref={form} noValidate>
      <Stack gap="sm">
        {children}
        <Problem error={problem} />
        <Group justify="flex-end" mt="xs">
          {onCancel !== undefined && (
            <Button variant="default" onClick={onCancel}>
              Cancel
            </Button>
          )}
          <Button type="submit" loading={busy} disabled={disabled}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
