import { Select } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Workspace } from '../api/schema.ts'
import { MOST_OPTIONS } from './most-options.ts'

export interface WorkspaceSelectProps {
  readonly workspaces: readonly Workspace[]
  /** The workspace's id; '' is none yet. */
  readonly value: string
  readonly onChange: (id: string) => void
  readonly error?: string | undefined
}

/** The workspace that a list shows or that something is created in. Hidden if the key can see only one, unless the URL names another. */
export function WorkspaceSelect({ workspaces, value, onChange, error }: WorkspaceSelectProps): ReactNode {
  if (workspaces.length < 2 && error === undefined) return null
  return (
    <Select
      label="Workspace"
      data={workspaces.map(({ id, name, slug }) => ({ value: id, label: name.toLowerCase() === slug ? name : `${name} (${slug})` }))}
      value={value === '' ? null : value}
      onChange={(next) => next !== null && onChange(next)}
      allowDeselect={false}
      searchable
      limit={MOST_OPTIONS}
      error={error}
      w={{ base: '100%', xs: 240 }}
    />
  )
}
