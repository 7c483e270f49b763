import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

/** Before any test: what tests start as a process of its own, and the pages they look at, are what operators get. */
export async function setup(): Promise<void> {
  await Promise.all(
    ['build.ts', 'build-console.ts'].map(async (script) => {
      const child = spawn(process.execPath, [join(import.meta.dirname, '../../scripts', script), '--if-stale'], {
        stdio: 'inherit',
        timeout: 120_000,
      })
      const [status] = (await once(child, 'exit')) as [number | null]
      if (status !== 0) throw new Error(`${script} failed`)
    }),
  )
}
