import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

/** Before any test: what tests start as a process of its own is what operators start. */
export function setup(): void {
  const { status } = spawnSync(process.execPath, [join(import.meta.dirname, '../../scripts/build.ts'), '--if-stale'], {
    stdio: 'inherit',
    timeout: 120_000,
  })
  if (status !== 0) throw new Error('the bundle could not be made')
}
