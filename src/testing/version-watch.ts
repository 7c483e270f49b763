import { expect } from 'vitest'
import type { Store } from '../core/store.ts'

/** Asserts how much each piece of work increases the version of the configuration, by which processes notice changes. */
export async function createVersionWatch(store: Pick<Store, 'version'>): Promise<(by: number, work: Promise<unknown>) => Promise<void>> {
  let last = await store.version()
  return async (by, work) => {
    await work
    const now = await store.version()
    expect(now - last).toBe(by)
    last = now
  }
}
