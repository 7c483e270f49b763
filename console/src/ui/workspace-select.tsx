import { Select } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Workspace } from '../api/schema.ts'

export interface WorkspaceSelectProps {
  readonly workspaces: readonly Workspace[]
  /** Id of one; '' is none yet. */
  readonly value: string
  readonly onChange: (id: string) => void
  readonly error?: string | undefined
}

/** Which workspace something is listed of or made in. Nothing to choose where the key sees only one, unless the address named another. */
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
      error={error}
      w={{ base: '100%', xs: 240 }}
    />
  )
}
