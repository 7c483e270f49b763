/**
 * Runs all static checks of the sources, for `npm run check`.
 *
 *   node scripts/check.ts                      all parts
 *   node scripts/check.ts --only lint,format   some of them
 *
 * Each part is a process. As many run in parallel as there are cores (at most four), the slowest first. Prints one line per part, then all failures.
 */
import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { delimiter, join } from 'node:path'
import { parseArgs, stripVTControlCharacters } from 'node:util'

const ROOT = join(import.meta.dirname, '..')
const PART_LIMIT_MS = 180_000
/** The number of parts that run in parallel. */
const WIDTH = Math.min(4, availableParallelism())
/**
 * Threads of the compiler and of the linter, which run at the same time. More threads than cores increase the work (each checker reads what the
 * others read) and take longer.
 */
const THREADS = String(Math.max(1, Math.floor(availableParallelism() / 2)))
const FOLDERS = ['src', 'e2e', 'bench', 'scripts', 'console', 'examples']

interface Part {
  readonly name: string
  readonly says: string
  readonly command: readonly [string, ...string[]]
}

/** With this file the next run checks only what has changed, in a third of the time. A machine that checks only once would write it for nothing. */
const LEARNT = process.env['CI'] === undefined ? ['--incremental', '--tsBuildInfoFile', 'node_modules/.cache/check/types.tsbuildinfo'] : []

const PARTS: readonly Part[] = [
  { name: 'lint', says: 'oxlint with type-aware rules', command: ['oxlint', '--quiet', '--threads', THREADS] },
  {
    name: 'types',
    says: 'strict TypeScript',
    // The compiler is version 7; `typescript` itself stays at 6 for the tools that parse sources with its API.
    command: ['node', 'node_modules/typescript-native/bin/tsc', '--noEmit', '-p', '.', '--pretty', 'false', '--checkers', THREADS, ...LEARNT],
  },
  {
    name: 'console-types',
    says: 'strict TypeScript, for browsers',
    command: ['node', 'node_modules/typescript-native/bin/tsc', '--noEmit', '-p', 'console', '--pretty', 'false', '--checkers', THREADS],
  },
  { name: 'console-api', says: 'the console’s types are what the API says', command: ['node', 'scripts/gen-console-api.ts', '--check'] },
  {
    name: 'dead-code',
    says: 'unused files, exports and dependencies',
    command: ['knip', '--no-progress', '--cache', '--cache-location', 'node_modules/.cache/check/knip'],
  },
  { name: 'imports', says: 'the import map', command: ['depcruise', ...FOLDERS, '--output-type', 'err-long'] },
  { name: 'api', says: 'every route is on its page', command: ['node', 'scripts/gen-api.ts', '--check'] },
  { name: 'vendor-names', says: 'a vendor’s name stands only in its own file', command: ['node', 'scripts/check-vendor-names.ts'] },
  { name: 'dialects', says: 'every cell of the formats has its tests', command: ['node', 'scripts/gen-dialects.ts', '--check'] },
  { name: 'format', says: 'oxfmt', command: ['oxfmt', '--check', ...FOLDERS, 'vitest.config.ts'] },
  // A lockfile that was written with a registry that lacks other platforms' optional packages installs for its author and for nobody else.
  {
    name: 'lockfile',
    says: 'npm ci would accept it',
    command: ['npm', 'ci', '--dry-run', '--ignore-scripts', '--offline', '--no-audit', '--no-fund'],
  },
  { name: 'docs', says: 'dependencies, decisions, links', command: ['node', 'scripts/check-docs.ts'] },
  { name: 'reference', says: 'generated pages are current', command: ['node', 'scripts/gen-destinations.ts', '--check'] },
  { name: 'providers', says: 'the page of providers is current', command: ['node', 'scripts/gen-providers.ts', '--check'] },
  { name: 'configuration', says: 'every key of the file is on its page', command: ['node', 'scripts/gen-config.ts', '--check'] },
  { name: 'faults', says: 'every fault of the list has its tests', command: ['node', 'scripts/gen-fault-list.ts', '--check'] },
  { name: 'benchmarks', says: 'the page says what was measured', command: ['node', 'scripts/gen-benchmarks.ts', '--check'] },
  { name: 'sizes', says: 'long files', command: ['node', 'scripts/check-sizes.ts'] },
]

/**
 * The compiler and the linter are written in Go and run for seconds. Half of their work was garbage collection for memory that nothing else needs.
 * Values that are already set stay. Scripts parse the same sources one after another, so their compiled code is cached.
 */
const THRIFT = { GOMAXPROCS: THREADS, GOGC: '1000', GOMEMLIMIT: '3GiB', NODE_COMPILE_CACHE: join(ROOT, 'node_modules/.cache/check') }

interface Outcome {
  readonly part: Part
  readonly ok: boolean
  readonly ms: number
  readonly output: string
}

function run(part: Part): Promise<Outcome> {
  const started = performance.now()
  return new Promise((resolve) => {
    const [command, ...args] = part.command
    const env = {
      ...THRIFT,
      ...process.env,
      PATH: `${join(ROOT, 'node_modules/.bin')}${delimiter}${process.env['PATH'] ?? ''}`,
      NO_COLOR: '1',
      FORCE_COLOR: undefined,
    }
    const child = spawn(command, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: PART_LIMIT_MS })
    let output = ''
    const collect = (chunk: Buffer): void => void (output += chunk.toString())
    child.stdout.on('data', collect)
    child.stderr.on('data', collect)
    const finish = (ok: boolean): void => resolve({ part, ok, ms: performance.now() - started, output: stripVTControlCharacters(output).trim() })
    child.on('error', (error) => {
      output += `cannot run ${command}: ${error.message}`
      finish(false)
    })
    child.on('close', (code, signal) => {
      if (signal !== null) output += `\nended by ${signal} (limit ${PART_LIMIT_MS / 1000} s)`
      finish(code === 0)
    })
  })
}

function report({ part, ok, ms, output }: Outcome): void {
  // A part that passes may still print one line worth reading (sizes, counts).
  const note = ok && output.startsWith('note: ') ? `  ${output.slice(6).split('\n')[0] ?? ''}` : ''
  console.log(`${ok ? 'ok  ' : 'FAIL'} ${part.name.padEnd(13)} ${(ms / 1000).toFixed(1).padStart(5)} s  ${part.says}${note}`)
}

async function runAll(parts: readonly Part[], width: number): Promise<readonly Outcome[]> {
  const waiting = [...parts]
  const outcomes: Outcome[] = []
  const worker = async (): Promise<void> => {
    for (let part = waiting.shift(); part !== undefined; part = waiting.shift()) {
      const outcome = await run(part)
      report(outcome)
      outcomes.push(outcome)
    }
  }
  await Promise.all(Array.from({ length: width }, worker))
  return outcomes
}

const { values } = parseArgs({ options: { only: { type: 'string' } } })
const wanted = values.only?.split(',')
const unknown = wanted?.filter((name) => !PARTS.some((part) => part.name === name)) ?? []
if (unknown.length > 0) {
  console.error(`no such part: ${unknown.join(', ')}; there are ${PARTS.map((part) => part.name).join(', ')}`)
  process.exit(2)
}

const started = performance.now()
const outcomes = await runAll(
  PARTS.filter((part) => wanted === undefined || wanted.includes(part.name)),
  WIDTH,
)
const failures = outcomes.filter((outcome) => !outcome.ok)
for (const { part, output } of failures) console.log(`\n== ${part.name} ==\n${output}`)
console.log(`\n${outcomes.length - failures.length} passed, ${failures.length} failed, ${((performance.now() - started) / 1000).toFixed(1)} s`)
process.exitCode = failures.length > 0 ? 1 : 0
