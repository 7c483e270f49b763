import { expect, it } from 'vitest'
import type { Api } from '../../api/client.ts'
import { destinationsOf } from './use-destinations.ts'

const WORKSPACES = Array.from({ length: 50 }, (_, n) => `workspace-${n}`)

/** Each workspace has one destination; those read later are answered first. */
function watched(refuse?: string): { readonly api: Api; readonly seen: { most: number; asked: number } } {
  const seen = { most: 0, asked: 0 }
  let open = 0
  const call = async (_route: string, { query }: { readonly query: { readonly workspace_id: string } }): Promise<unknown> => {
    seen.most = Math.max(seen.most, ++open)
    const turns = 5 - (seen.asked++ % 5)
    for (let turn = 0; turn < turns; turn++) await Promise.resolve()
    open--
    if (query.workspace_id === refuse) throw new Error('refused')
    return { data: [{ id: `of ${query.workspace_id}` }], total_count: 1 }
  }
  return { api: call as unknown as Api, seen }
}

it('reads a few workspaces at a time, and lists them in their order', async () => {
  const { api, seen } = watched()
  const found = await destinationsOf(api, WORKSPACES, new AbortController().signal)
  expect(found.map(({ id }) => id)).toEqual(WORKSPACES.map((id) => `of ${id}`))
  expect(seen).toEqual({ most: 4, asked: 50 })
})

it('asks for nothing more after a failure', async () => {
  const { api, seen } = watched('workspace-9')
  await expect(destinationsOf(api, WORKSPACES, new AbortController().signal)).rejects.toThrow('refused')
  await new Promise((resolve) => setTimeout(resolve, 5))
  expect(seen.asked).toBeLessThan(20)
})
