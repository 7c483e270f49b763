import type { Workspace } from './schema.ts'
import { useRead } from './hooks.ts'
import { usePages } from './pages.ts'

export interface OwnWorkspaces {
  /** All that the key sees. */
  readonly workspaces: readonly Workspace[]
  /** Id of that the key belongs to, which lists mean when none is named; undefined while it is not known. */
  readonly own: string | undefined
  /** Name for people, or the id of one that is not seen. */
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
