/**
 * Compares the current sources with another revision in one interleaved run, and fails if they are more than a tenth worse. Both are started several
 * times: two starts of one build differ by up to a sixth, so with one start each the comparison would mostly show that difference.
 *
 *   npm run bench:check                      with main
 *   npm run bench:check -- --base v1.2.0 --processes 7 --rounds 2 --only json,sse
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { compare, type Samples } from './report.ts'

const TOLERANCE = 0.1
const RUN_LIMIT_MS = 20 * 60_000

const { values: options } = parseArgs({
  options: {
    base: { type: 'string', default: 'main' },
    rounds: { type: 'string', default: '2' },
    processes: { type: 'string', default: '5' },
    only: { type: 'string', default: 'json,sse,latency,memory' },
    quick: { type: 'boolean', default: false },
  },
})

const root = join(import.meta.dirname, '..')
const temp = mkdtempSync(join(tmpdir(), 'signalbox-bench-check-'))
const checkout = join(temp, 'base')

function git(...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('git', ['-C', root, ...args], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr.trim()}`)
  return stdout.trim()
}

/** Checks out the other revision next to this one, with packages of its own only if its lockfile differs. */
function checkOut(): void {
  git('worktree', 'add', '--detach', checkout, options.base)
  const sameLock = readFileSync(join(root, 'package-lock.json')).equals(readFileSync(join(checkout, 'package-lock.json')))
  if (sameLock && existsSync(join(root, 'node_modules'))) return symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'))
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: checkout, stdio: 'inherit', timeout: RUN_LIMIT_MS })
  if (status !== 0) throw new Error('npm ci failed in the other revision')
}

try {
  checkOut()
  const out = join(temp, 'samples.json')
  const args = [join(root, 'bench/run.ts'), '--targets', 'signalbox', '--base-root', checkout, '--out', out]
  args.push('--only', options.only, '--rounds', options.rounds, '--processes', options.processes, ...(options.quick ? ['--quick'] : []))
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit', timeout: RUN_LIMIT_MS })
  if (status !== 0) throw new Error('the run failed')
  const { samples } = JSON.parse(readFileSync(out, 'utf8')) as { readonly samples: Samples }
  const changes = compare(samples, TOLERANCE)
  console.log(`\nagainst ${options.base} (${git('rev-parse', '--short', options.base)}), at most ${TOLERANCE * 100} % worse:`)
  for (const { name, change, worse } of changes)
    console.log(`${worse ? 'WORSE' : 'ok   '}  ${name.padEnd(28)} ${(change * 100).toFixed(1).padStart(7)} %`)
  process.exitCode = changes.length === 0 || changes.some(({ worse }) => worse) ? 1 : 0
} finally {
  if (existsSync(checkout)) git('worktree', 'remove', '--force', checkout)
  rmSync(temp, { recursive: true, force: true })
}
