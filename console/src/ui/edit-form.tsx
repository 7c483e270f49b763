import { Button, Group, Stack } from '@mantine/core'
import type { FormEvent, ReactNode } from 'react'
import { Problem } from './problem.tsx'
import { useUnsaved } from './unsaved.tsx'

export interface EditFormProps {
  readonly label: string
  /** On the button: "Create key". */
  readonly action: string
  readonly busy: boolean
  /** What no field of the form shows. */
  readonly problem: Error | null
  /** Nothing was changed, or something is missing. */
  readonly disabled?: boolean
  /** Something was typed or chosen that is lost when the form goes, be it right or not. */
  readonly unsaved: boolean
  readonly onSubmit: () => void
  readonly onCancel?: () => void
  readonly children: ReactNode
}

/** Fields under each other, with why they were refused and a button at the end. */
export function EditForm({ label, action, busy, problem, disabled = false, unsaved, onSubmit, onCancel, children }: EditFormProps): ReactNode {
  useUnsaved(unsaved)
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    onSubmit()
  }
  return (
    <form aria-label={label} onSubmit={submit} noValidate>
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
