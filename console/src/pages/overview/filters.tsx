import { Group, Select } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Address } from '../../ui/address.ts'
import { MOST_OPTIONS } from '../../ui/most-options.ts'
import { useKeys, type ApiKey, type Workspace } from './reads.ts'

export interface Filter {
  readonly workspace: string | undefined
  readonly key: string | undefined
}

export const filterOf = ({ get }: Address): Filter => ({ workspace: get('workspace'), key: get('key') })
export const NO_FILTER = { workspace: undefined, key: undefined }

export interface FiltersProps {
  readonly address: Address
  readonly workspaces: readonly Workspace[]
}

/** The filters for workspace and key, which are part of the URL. */
export function Filters({ address, workspaces }: FiltersProps): ReactNode {
  const { workspace, key } = filterOf(address)
  // Of all workspaces, only the keys of the first are read.
  const keys = useKeys(workspace === undefined ? workspaces : workspaces.filter(({ id }) => id === workspace))
  const shared = {
    size: 'xs',
    w: { xs: 210 },
    flex: { base: 1, xs: 'none' },
    miw: 0,
    clearable: true,
    searchable: true,
    limit: MOST_OPTIONS,
    nothingFoundMessage: 'No match',
  } as const
  const offered = keyOptions(keys.data?.found ?? [], workspaces, workspace)
  return (
    <Group gap="xs" align="flex-end">
      <Select
        {...shared}
        label="Workspace"
        placeholder="All"
        value={workspace ?? null}
        onChange={(value) => address.set({ workspace: value ?? undefined, key: undefined })}
        data={workspaces.map(({ id, name }) => ({ value: id, label: name }))}
      />
      <Select
        {...shared}
        label="Key"
        placeholder="All"
        value={key ?? null}
        onChange={(value) => address.set({ key: value ?? undefined })}
        data={[...offered]}
      />
    </Group>
  )
}

interface KeyGroup {
  readonly group: string
  readonly items: { readonly value: string; readonly label: string }[]
}

/** Keys of one workspace, or of all, grouped by workspace. */
function keyOptions(keys: readonly ApiKey[], workspaces: readonly Workspace[], chosen: string | undefined): readonly KeyGroup[] {
  const byWorkspace = Map.groupBy(keys, ({ workspace_id: id }) => id)
  return workspaces
    .filter(({ id }) => byWorkspace.has(id) && (chosen === undefined || chosen === id))
    .map(({ id, name: group }) => ({
      group,
      items: (byWorkspace.get(id) ?? []).map(({ hash, name, disabled }) => ({ value: hash, label: disabled ? `${name} (off)` : name })),
    }))
}
