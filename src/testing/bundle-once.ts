import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

/** Runs before all tests: the processes that tests start, and the pages they open, are those that operators get. */
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
