import type { Workspace } from '../core/store.ts'

/** Workspaces in memory, by id. */
export interface KnownWorkspaces {
  get(this: void, id: string): Workspace | undefined
  /** Returns the ids of those that are not what they were, also if they are gone. */
  replace(list: readonly Workspace[]): ReadonlySet<string>
  readonly size: number
}

export function createKnownWorkspaces(): KnownWorkspaces {
  let byId = new Map<string, Workspace>()
  return {
    get: (id) => byId.get(id),
    replace(list) {
      const before = byId
      // An unchanged one stays the same object, so that what was compiled for it stays in use.
      byId = new Map(list.map((workspace) => [workspace.id, unlessSame(before.get(workspace.id), workspace)]))
      return new Set([...before.keys(), ...byId.keys()].filter((id) => before.get(id) !== byId.get(id)))
    },
    get size() {
      return byId.size
    },
  }
}

const unlessSame = (before: Workspace | undefined, now: Workspace): Workspace =>
  before !== undefined && JSON.stringify(before) === JSON.stringify(now) ? before : now
