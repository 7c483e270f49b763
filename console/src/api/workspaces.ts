import type { Workspace } from './schema.ts'
import { useRead } from './hooks.ts'
import { usePages } from './pages.ts'

export interface OwnWorkspaces {
  /** All workspaces that the key can see. */
  readonly workspaces: readonly Workspace[]
  /** Id of the key's own workspace, which lists use if none is named; undefined while it is unknown. */
  readonly own: string | undefined
  /** The display name, or the id of a workspace that the key cannot see. */
  readonly nameOf: (id: string | null) => string
}

export function useWorkspaces(): OwnWorkspaces {
  const { of } = usePages('GET /api/v1/workspaces', {}, { all: true })
  const me = useRead('GET /api/v1/key')
  const workspaces = of.data ?? []
  return {
    workspaces,
    own: me.data?.data.workspace_id,
    nameOf: (id) => workspaces.find((workspace) => workspace.id === id)?.name ?? id ?? '',
  }
}
