import { Button, Group, SegmentedControl } from '@mantine/core'
import type { ReactNode } from 'react'
import { KeyLine } from './key-line.tsx'

export interface ToolbarProps {
  readonly inferenceKey: string
  readonly spent: number
  readonly onDropKey: () => void
  /** Undefined: there is nothing to forget. */
  readonly onForget: (() => void) | undefined
  readonly isBusy: boolean
  readonly isRaw: boolean
  readonly onRaw: (isRaw: boolean) => void
}

/** The key in use, and the choice between form and JSON. */
export function Toolbar({ inferenceKey, spent, onDropKey, onForget, isBusy, isRaw, onRaw }: ToolbarProps): ReactNode {
  return (
    <Group justify="space-between" gap="xs">
      <KeyLine inferenceKey={inferenceKey} spent={spent} onChange={onDropKey} />
      <Group gap="xs">
        {onForget !== undefined && (
          <Button size="xs" variant="default" disabled={isBusy} onClick={onForget}>
            New conversation
          </Button>
        )}
        <SegmentedControl
          size="xs"
          aria-label="Edit the request as"
          data={[
            { value: 'form', label: 'Form' },
            { value: 'json', label: 'JSON' },
          ]}
          value={isRaw ? 'json' : 'form'}
          onChange={(mode) => onRaw(mode === 'json')}
        />
      </Group>
    </Group>
  )
}
