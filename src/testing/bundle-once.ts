import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

/** Before any test: what tests start as a process of its own, and the pages they look at, are what operators get. */
export function setup(): void {
  for (const script of ['build.ts', 'build-console.ts']) {
    const { status } = spawnSync(process.execPath, [join(import.meta.dirname, '../../scripts', script), '--if-stale'], {
      stdio: 'inherit',
      timeout: 120_000,
    })
    if (status !== 0) throw new Error(`${script} failed`)
  }
}
