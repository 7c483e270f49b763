import type { Workspace } from '../core/store.ts'
import { inSteps } from './in-steps.ts'

/** Workspaces in memory, by id. */
export interface KnownWorkspaces {
  get(this: void, id: string): Workspace | undefined
  /** The same list, with those that have not changed as they are known: `replace` is short then. Compares in steps. */
  recognize(list: readonly Workspace[]): Promise<readonly Workspace[]>
  /** Returns the ids of those that are not what they were, also if they are gone. */
  replace(list: readonly Workspace[]): ReadonlySet<string>
  all(): readonly Workspace[]
  readonly size: number
}

export function createKnownWorkspaces(): KnownWorkspaces {
  let byId = new Map<string, Workspace>()
  return {
    get: (id) => byId.get(id),
    async recognize(list) {
      const found: Workspace[] = []
      await inSteps(list, (workspace) => void found.push(unlessSame(byId.get(workspace.id), workspace)))
      return found
    },
    replace(list) {
      const before = byId
      // An unchanged one stays the same object, so that what was compiled for it stays in use.
      byId = new Map(list.map((workspace) => [workspace.id, unlessSame(before.get(workspace.id), workspace)]))
      return new Set([...before.keys(), ...byId.keys()].filter((id) => before.get(id) !== byId.get(id)))
    },
    all: () => [...byId.values()],
    get size() {
      return byId.size
    },
  }
}

const unlessSame = (before: Workspace | undefined, now: Workspace): Workspace =>
  before !== undefined && (before === now || isSame(before, now)) ? before : now

/** Only settings, which most have not, are written out. */
function isSame({ settings: before, ...was }: Workspace, { settings: now, ...is }: Workspace): boolean {
  return (Object.keys(is) as (keyof typeof is)[]).every((name) => was[name] === is[name]) && JSON.stringify(before) === JSON.stringify(now)
}
