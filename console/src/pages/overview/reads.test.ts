import { expect, it } from 'vitest'
import type { Api } from '../../api/client.ts'
import { askForDestinations, askForKeys, everywhere } from './reads.ts'

const WORKSPACES = Array.from({ length: 50 }, (_, n) => `workspace-${n}`)

it('of fifty workspaces a few requests are open at a time, so that no answer comes too late and the charts need not wait for them', async () => {
  const seen = { open: 0, most: 0, all: 0 }
  const call = async (route: string): Promise<unknown> => {
    seen.all++
    seen.most = Math.max(seen.most, ++seen.open)
    await new Promise((resolve) => setImmediate(resolve))
    seen.open--
    const rows = Array.from({ length: 3 }, (_, n) => ({ id: `${n}`, enabled: true }))
    return { data: route.endsWith('/status') ? { paused: false } : rows }
  }
  const api = call as unknown as Api
  const { signal } = new AbortController()
  const [keys, destinations] = await Promise.all([
    everywhere(api, WORKSPACES, askForKeys, signal),
    everywhere(api, WORKSPACES, askForDestinations, signal),
  ])
  expect([keys.found.length, destinations.found.length, seen.all]).toEqual([150, 150, 50 + 50 + 150])
  expect(seen.most).toBeLessThanOrEqual(4)
})
