import { expect } from 'vitest'
import type { Store } from '../core/store.ts'

/** Holds by how much each piece of work moves the version of the configuration, by which processes know that something changed. */
export async function createVersionWatch(store: Pick<Store, 'version'>): Promise<(by: number, work: Promise<unknown>) => Promise<void>> {
  let last = await store.version()
  return async (by, work) => {
    await work
    const now = await store.version()
    expect(now - last).toBe(by)
    last = now
  }
}
