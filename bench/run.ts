/**
 * The same mock upstream through nothing, nginx, a bare Node pass-through, Signalbox, Portkey and responses.js, interleaved in one run on pinned cores:
 * gateways on core 0, load and upstream on core 1. Figures are work per second of the gateway's own CPU time.
 *
 *   npm run bench                                     about 25 minutes
 *   npm run bench -- --quick                          a smoke test of under a minute, whose figures are not reliable
 *   npm run bench -- --only json,sse --targets bare-node,signalbox --rounds 3
 *   npm run bench -- --processes 3                    every program started three times, with rounds for each start
 *   npm run bench -- --strict                         fails if a target figure is missed
 *
 * Everything stays on the loopback; every wait has a limit; every started process is ended.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, release, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { BASE, judge, renderBars, renderTable, type Samples } from './report.ts'
import { NEEDS, RUN, SCENARIOS, type Contender, type Effort, type Sample, type Scenario, repetitions, sceneKey, wake, warmUp } from './scenarios.ts'
import { TARGETS } from './targets/index.ts'
import { signalboxTarget } from './targets/signalbox.ts'
import { freePort, spawnPinned, stopChild, waitUntilReady, type BenchContext, type Target } from './targets/target.ts'
import { verify } from './verify.ts'

const FULL: Effort = {
  rounds: 3,
  loadMs: 3_000,
  // Compilers share the core with the program: after two seconds a large program runs at two thirds of its final speed.
  warmUpMs: 10_000,
  wakeMs: 1_500,
  steadyMs: 5_000,
  jsonConnections: 32,
  sseConnections: 64,
  requestsPerSecond: 100,
  largePerSecond: 20,
  streamsPerSecond: 50,
  openStreams: 1_000,
  manyStreams: 5_000,
  starts: 5,
}
const QUICK: Effort = { ...FULL, rounds: 1, loadMs: 800, warmUpMs: 300, wakeMs: 100, steadyMs: 300, openStreams: 100, manyStreams: 200, starts: 1 }
/** No further round begins after this time: the report then contains what was measured so far. */
const LAST_ROUND_MS = 30 * 60_000
const WHOLE_LIMIT_MS = 45 * 60_000

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    strict: { type: 'boolean', default: false },
    only: { type: 'string', default: SCENARIOS.join(',') },
    targets: {
      type: 'string',
      default: TARGETS.filter(({ onRequest }) => onRequest !== true)
        .map(({ name }) => name)
        .join(','),
    },
    rounds: { type: 'string' },
    processes: { type: 'string', default: '1' },
    'base-root': { type: 'string' },
    'peer-node': { type: 'string', default: process.execPath },
    out: { type: 'string', default: join(import.meta.dirname, 'results/latest.json') },
  },
})

function choose<Name extends string>(what: string, text: string, known: readonly Name[]): readonly Name[] {
  const names = text.split(',')
  const strange = names.filter((name) => !known.some((item) => item === name))
  if (strange.length > 0) throw new Error(`no such ${what}: ${strange.join(', ')}; there are ${known.join(', ')}`)
  return known.filter((name) => names.includes(name))
}

/** Pins this process with all its threads to its core; gives up pinning, with a note, if there is only one core or no taskset. */
function pinSelf(): { readonly gateways: number; readonly load: number } | undefined {
  const single = availableParallelism() < 2
  if (!single && spawnSync('taskset', ['-a', '-c', '-p', '1', String(process.pid)]).status === 0) return { gateways: 0, load: 1 }
  note(`not pinned: ${single ? 'there is one core' : 'taskset is missing or failed'}, figures are not comparable`)
  return undefined
}

const notes: string[] = []
function note(text: string): void {
  // A program's last output may be a stack trace, of which the first line is enough here.
  const line = (text.split('\n')[0] ?? '').slice(0, 300)
  if (notes.includes(line)) return
  notes.push(line)
  console.log(`! ${line}`)
}

async function enter(target: Target, context: BenchContext): Promise<Contender | undefined> {
  const missing = await target.unavailable(context)
  if (missing !== undefined) {
    note(`${target.name} SKIPPED: ${missing}`)
    return undefined
  }
  try {
    const running = await target.start(context)
    const pieces = new Map<string, number>()
    const needs = scenarios.map((name) => NEEDS[name]).filter((need) => need !== undefined)
    for (const [key, need] of new Map(needs.map((each) => [sceneKey(each), each]))) {
      const verified = await verify(target, running, context, need)
      if (verified.problem === undefined) pieces.set(key, verified.pieces)
      else note(`${target.name} is left out of ${key}: ${verified.problem}`)
    }
    return { target, running, pieces }
  } catch (error) {
    note(`${target.name} SKIPPED: ${error instanceof Error ? error.message : String(error)}`)
    return undefined
  }
}

type Collected = { [target: string]: { [S in Scenario]?: Sample[] } }

/** One round of one scenario through every target that supports it; each round begins with another target. */
async function runRound(
  scenario: Scenario,
  round: number,
  contenders: readonly Contender[],
  context: BenchContext,
  samples: Collected,
): Promise<void> {
  const need = NEEDS[scenario]
  const turn = contenders.map((_, i) => contenders[(i + round) % contenders.length]!)
  for (const contender of turn) {
    const { name } = contender.target
    if (need !== undefined && !contender.pieces.has(sceneKey(need))) continue
    const list = ((samples[name] ??= {})[scenario] ??= [])
    // If the program could not be started before, those rounds have empty samples.
    while (list.length < round) list.push({})
    try {
      await wake(scenario, contender, context, effort)
      list[round] = await RUN[scenario](contender, context, effort)
    } catch (error) {
      list[round] = {}
      note(`${name} ${scenario}, round ${round + 1}: ${error instanceof Error ? error.message : String(error)}`)
    }
    await sleep(50)
  }
}

/**
 * All rounds of one start of the programs, the `process`th. Its samples follow those of earlier starts at the same index for every target, so that rounds
 * can be compared.
 */
async function measure(process: number, contenders: readonly Contender[], context: BenchContext, samples: Collected): Promise<void> {
  for (const contender of contenders) await warmUp(contender, context, effort)
  const longest = Math.max(...scenarios.map((scenario) => repetitions(scenario, effort)))
  for (let round = 0; round < longest; round++) {
    if (round > 0 && performance.now() - started > LAST_ROUND_MS) {
      note(`ended after ${round} of ${longest} rounds: ${LAST_ROUND_MS / 60_000} minutes were over`)
      return
    }
    for (const scenario of scenarios) {
      const rounds = repetitions(scenario, effort)
      if (round < rounds) await runRound(scenario, process * rounds + round, contenders, context, samples)
    }
    console.log(`start ${process + 1} of ${processes}, round ${round + 1} of ${longest}: ${((performance.now() - started) / 1000).toFixed(0)} s`)
  }
}

/** Restarts every program for each set of rounds: what the compilers made of one process stays with it, and says little about a build. */
async function measureAll(compared: readonly Target[], context: BenchContext): Promise<{ samples: Samples; contenders: readonly Contender[] }> {
  const samples: Collected = {}
  const seen = new Map<string, Contender>()
  for (let process = 0; process < processes; process++) {
    if (process > 0 && performance.now() - started > LAST_ROUND_MS) break
    const contenders: Contender[] = []
    for (const target of compared) {
      const contender = await enter(target, context)
      if (contender === undefined) continue
      contenders.push(contender)
      seen.set(target.name, contender)
      samples[target.name] ??= {}
    }
    await measure(process, contenders, context, samples)
    await Promise.all(contenders.map(({ running }) => running.stop()))
  }
  return { samples, contenders: [...seen.values()] }
}

const started = performance.now()
const scenarios = choose('scenario', options.only, SCENARIOS)
const targets = choose(
  'target',
  options.targets,
  TARGETS.map(({ name }) => name),
)
const base = options.quick ? QUICK : FULL
const times = (text: string | number): number => Math.min(50, Math.max(1, Math.floor(Number(text)) || 1))
const effort: Effort = { ...base, rounds: times(options.rounds ?? base.rounds) }
const processes = times(options.processes)

const limit = setTimeout(() => {
  console.error(`not done within ${WHOLE_LIMIT_MS / 60_000} minutes: given up`)
  process.exit(1)
}, WHOLE_LIMIT_MS)
limit.unref()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))

const cores = pinSelf()
const root = join(import.meta.dirname, '..')
const temp = mkdtempSync(join(tmpdir(), 'signalbox-bench-'))
process.on('exit', () => rmSync(temp, { recursive: true, force: true }))

// Operators start the bundle; if it is older than the sources, the entry point would run the sources directly.
for (const each of [root, options['base-root']]) {
  const build = each === undefined ? '' : join(each, 'scripts/build.ts')
  if (existsSync(build)) spawnSync(process.execPath, [build, '--if-stale'], { stdio: 'inherit', timeout: 120_000 })
}

const upstreamPort = await freePort()
const upstream = spawnPinned(cores?.load, process.execPath, [join(root, 'bench/mock/upstream.ts'), String(upstreamPort)])
await waitUntilReady(upstream, upstreamPort, '/')
const context: BenchContext = { root, temp, upstreamPort, upstreamPid: upstream.pid!, core: cores?.gateways, peerNode: options['peer-node'] }

const baseRoot = options['base-root']
const compared = baseRoot === undefined ? [] : [signalboxTarget({ name: BASE, title: 'Signalbox before', root: baseRoot })]
const { samples, contenders } = await measureAll([...TARGETS.filter(({ name }) => targets.includes(name)), ...compared], context)
await stopChild(upstream)

const bars = judge(samples)
const titles = Object.fromEntries(contenders.map(({ target }) => [target.name, target.title]))
console.log(`\n${renderTable(samples, titles)}\n`)
console.log(renderBars(bars))
if (options.quick) console.log('\nA quick run shows that everything works; its figures are noise.')
if (notes.length > 0) console.log(`\n${notes.map((text) => `! ${text}`).join('\n')}`)

const peerNode = spawnSync(options['peer-node'], ['--version'], { encoding: 'utf8' }).stdout.trim()
const machine = {
  cpu: cpus()[0]?.model ?? 'unknown',
  cores: cpus().length,
  kernel: release(),
  node: process.version,
  peerNode,
  pinned: cores !== undefined,
}
mkdirSync(join(options.out, '..'), { recursive: true })
writeFileSync(
  options.out,
  `${JSON.stringify({ at: new Date().toISOString(), machine, effort, processes, quick: options.quick, titles, bars, notes, samples }, null, 2)}\n`,
)
console.log(`\n${((performance.now() - started) / 1000).toFixed(0)} s; raw figures in ${options.out}`)
process.exitCode = contenders.length < 2 || (options.strict && bars.some(({ met }) => met === false)) ? 1 : 0
