import { MultiSelect } from '@mantine/core'
import type { ReactNode } from 'react'
import { usePages } from '../api/pages.ts'
import { keyOptions } from './key-options.ts'
import { MOST_OPTIONS } from './most-options.ts'

export interface KeyPickerProps {
  readonly label: string
  readonly description: string
  readonly workspaceId: string
  /** Hashes; those that match no key of the workspace are kept. */
  readonly value: readonly string[]
  readonly onChange: (hashes: readonly string[]) => void
  readonly error?: string | undefined
}

/** A selection of the inference keys of a workspace. */
export function KeyPicker({ label, description, workspaceId, value, onChange, error }: KeyPickerProps): ReactNode {
  const query = { include_disabled: 'true', ...(workspaceId === '' ? {} : { workspace_id: workspaceId }) }
  const { of, hasMore } = usePages('GET /api/v1/keys', { query }, { all: true })
  return (
    <MultiSelect
      label={label}
      description={description}
      data={keyOptions(of.data ?? [], value)}
      value={[...new Set(value)]}
      onChange={onChange}
      error={error}
      placeholder={value.length === 0 ? 'all keys' : undefined}
      nothingFoundMessage={hasMore ? 'Searching …' : 'No such key in this workspace'}
      searchable
      clearable
      limit={MOST_OPTIONS}
    />
  )
}
