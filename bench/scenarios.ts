import { setTimeout as sleep } from 'node:timers/promises'
import { holdStreams, runClosedLoop, runOpenLoop, type LoadResult } from './load/load.ts'
import { percentile } from './measure/statistics.ts'
import { cpuSeconds, processTree, residentKb } from './measure/process-usage.ts'
import { placeProcesses, placeThreads } from './measure/threads.ts'
import { BURST_EVENTS } from './mock/script.ts'
import { createShot, type Need } from './requests.ts'
import type { BenchContext, RunningTarget, Target } from './targets/target.ts'

export const SCENARIOS = [
  'latency-rested',
  'json',
  'sse',
  'sse-block',
  'latency',
  'first-token',
  '32k',
  '400k',
  '1m',
  'front-door',
  'workers',
  'memory',
  'memory-5000',
  'ready',
] as const
export type Scenario = (typeof SCENARIOS)[number]

/** How much load and how long; reduced by `--quick`. */
export interface Effort {
  readonly rounds: number
  readonly loadMs: number
  readonly warmUpMs: number
  /** Duration of the load before a measurement under load. */
  readonly wakeMs: number
  /** Duration of calls at the same rate before their latency is measured. */
  readonly steadyMs: number
  readonly jsonConnections: number
  readonly sseConnections: number
  readonly requestsPerSecond: number
  readonly largePerSecond: number
  readonly streamsPerSecond: number
  readonly openStreams: number
  readonly manyStreams: number
  readonly starts: number
}

/** Figures of one run of one scenario; NaN if a target has none. */
export type Sample = { readonly [figure: string]: number }

/** A running target, with what is known about it. */
export interface Contender {
  readonly target: Target
  readonly running: RunningTarget
  /** Pieces per answer by scene, from verification; scenes that failed are missing. */
  readonly pieces: ReadonlyMap<string, number>
}

export const sceneKey = ({ scene, stream, prompt = '2k' }: Need): string => `${scene}:${stream ? 'stream' : 'json'}:${prompt}`

/** What a scenario requires of a target: without a verified answer to it there is nothing to measure. */
export const NEEDS: { readonly [S in Scenario]: Need | undefined } = {
  json: { scene: 'json', stream: false },
  sse: { scene: 'burst', stream: true },
  'sse-block': { scene: 'block', stream: true },
  latency: { scene: 'json', stream: false },
  'latency-rested': { scene: 'json', stream: false },
  'first-token': { scene: 'paced', stream: true },
  '32k': { scene: 'json', stream: false, prompt: '32k' },
  '400k': { scene: 'json', stream: false, prompt: '400k' },
  '1m': { scene: 'json', stream: false, prompt: '1m' },
  'front-door': { scene: 'json', stream: false },
  workers: { scene: 'json', stream: false },
  memory: { scene: 'paced', stream: true },
  'memory-5000': { scene: 'paced', stream: true },
  ready: undefined,
}
/** As many as the cores that the bench uses. */
const WORKERS = 2
const IDLE: Need = { scene: 'idle', stream: true }

const SETTLE_MS = 1_500
/** Programs clean up after their start, Signalbox after two idle seconds: this is over before memory is read for the first time. */
const START_SETTLE_MS = 4_000
const FIRST_STREAMS = 20
const QUIET_MS = 400
const QUIET_CPU_SECONDS = 0.02
const QUIET_LOOKS = 150
const HOLD_LIMIT_MS = 60_000

function shotOf(contender: Contender, context: BenchContext, need: Need): ReturnType<typeof createShot> {
  return createShot(contender.target, contender.running, context, need, contender.pieces.get(sceneKey(need)) ?? 0)
}

function insistComplete(result: LoadResult): void {
  if (result.completed === 0 || result.failed > result.completed / 100) {
    throw new Error(`${result.failed} of ${result.failed + result.completed} answers are incomplete: ${JSON.stringify(result.problems)}`)
  }
}

/**
 * Work that a program has postponed, such as our records and deliveries, counts as well. It is over once its processes use next to no CPU time and nothing
 * waits to be forwarded (a program may pause before it retries).
 */
async function untilQuiet({ pending }: RunningTarget, pids: readonly number[]): Promise<void> {
  for (let looks = 0; looks < QUIET_LOOKS; looks++) {
    const before = cpuSeconds(pids)
    await sleep(QUIET_MS)
    if (cpuSeconds(pids) - before <= QUIET_CPU_SECONDS && ((await pending?.()) ?? 0) === 0) return
  }
  throw new Error(`still busy ${(QUIET_LOOKS * QUIET_MS) / 1000} s after the load`)
}

/** Runs the load and measures the CPU time that the target's processes spend on it, until they have nothing left to do. */
async function withCpu(contender: Contender, load: () => Promise<LoadResult>): Promise<{ result: LoadResult; cpu: number }> {
  const pids = contender.running.pid === undefined ? [] : processTree(contender.running.pid)
  const before = cpuSeconds(pids)
  const result = await load()
  if (pids.length > 0) await untilQuiet(contender.running, pids)
  const cpu = pids.length === 0 ? Number.NaN : cpuSeconds(pids) - before
  insistComplete(result)
  return { result, cpu }
}

async function json(contender: Contender, context: BenchContext, effort: Effort): Promise<Sample> {
  const shot = shotOf(contender, context, NEEDS.json!)
  const { result, cpu } = await withCpu(contender, () => runClosedLoop(shot, effort.jsonConnections, effort.loadMs))
  return {
    perCpuSecond: result.completed / cpu,
    perSecond: result.completed / result.seconds,
    cpuShare: cpu / result.seconds,
    failed: result.failed,
    p99: percentile(result.latencies, 0.99),
  }
}

async function events(scenario: 'sse' | 'sse-block', contender: Contender, context: BenchContext, effort: Effort): Promise<Sample> {
  const shot = shotOf(contender, context, NEEDS[scenario]!)
  const { result, cpu } = await withCpu(contender, () => runClosedLoop(shot, effort.sseConnections, effort.loadMs))
  // Upstream events, however many wire events a gateway makes of them: the same work for every target.
  const count = result.completed * BURST_EVENTS
  return { perCpuSecond: count / cpu, perSecond: count / result.seconds, cpuShare: cpu / result.seconds, failed: result.failed }
}

async function latency(contender: Contender, context: BenchContext, effort: Effort): Promise<Sample> {
  const result = await runOpenLoop(shotOf(contender, context, NEEDS.latency!), effort.requestsPerSecond, effort.loadMs)
  insistComplete(result)
  return { p50: percentile(result.latencies, 0.5), p99: percentile(result.latencies, 0.99), late: result.late, failed: result.failed }
}

/** Large requests, one at a time, as from callers of a lightly loaded gateway. */
async function large(scenario: '32k' | '400k' | '1m', contender: Contender, context: BenchContext, effort: Effort): Promise<Sample> {
  const shot = shotOf(contender, context, NEEDS[scenario]!)
  const { result, cpu } = await withCpu(contender, () => runOpenLoop(shot, effort.largePerSecond, effort.loadMs))
  return {
    p50: percentile(result.latencies, 0.5),
    p99: percentile(result.latencies, 0.99),
    cpuMs: (cpu * 1000) / result.completed,
    late: result.late,
    failed: result.failed,
  }
}

async function firstToken(contender: Contender, context: BenchContext, effort: Effort): Promise<Sample> {
  const result = await runOpenLoop(shotOf(contender, context, NEEDS['first-token']!), effort.streamsPerSecond, effort.loadMs, 64)
  insistComplete(result)
  return { p50: percentile(result.firstPieces, 0.5), p99: percentile(result.firstPieces, 0.99), late: result.late, failed: result.failed }
}

/** Throughput if the answering thread has the gateways' core to itself. All others (delivery, garbage collection) share the other with load and upstream. */
async function frontDoor(contender: Contender, context: BenchContext, effort: Effort): Promise<Sample> {
  const { pid } = contender.running
  const { core } = context
  if (pid === undefined || core === undefined) return {}
  placeThreads(pid, { first: core, others: 1 - core })
  try {
    const result = await runClosedLoop(shotOf(contender, context, NEEDS['front-door']!), effort.jsonConnections, effort.loadMs)
    insistComplete(result)
    await untilQuiet(contender.running, processTree(pid))
    return { perSecond: result.completed / result.seconds, p99: percentile(result.latencies, 0.99) }
  } finally {
    placeThreads(pid, { first: core, others: core })
  }
}

/**
 * Two processes that share a port, compared with one. The single one has a core to itself, with load and upstream on the other; the two have both cores,
 * and load and upstream take their part of these, which is one of the figures. Without pinning, all of them share what there is.
 */
async function workers(contender: Contender, context: BenchContext, effort: Effort): Promise<Sample> {
  const { core, upstreamPid } = context
  if (contender.target.startWorkers === undefined) return {}
  const callers = effort.jsonConnections * WORKERS
  const { result: one } = await withCpu(contender, () => runClosedLoop(shotOf(contender, context, NEEDS.workers!), callers, effort.loadMs))
  const several = { ...contender, running: await contender.target.startWorkers(context, WORKERS) }
  const others = [process.pid, upstreamPid]
  try {
    if (core !== undefined) placeProcesses([...others, ...processTree(several.running.pid!)], `${core},${1 - core}`)
    const shot = shotOf(several, context, NEEDS.workers!)
    await runClosedLoop(shot, callers, effort.warmUpMs)
    const othersBefore = cpuSeconds(others)
    let othersCpu = 0
    const { result, cpu } = await withCpu(several, async () => {
      const loaded = await runClosedLoop(shot, callers, effort.loadMs)
      othersCpu = cpuSeconds(others) - othersBefore
      return loaded
    })
    const perSecond = result.completed / result.seconds
    return {
      one: one.completed / one.seconds,
      perSecond,
      ofOne: (perSecond * one.seconds) / one.completed,
      perCpuSecond: result.completed / cpu,
      loadCores: othersCpu / result.seconds,
    }
  } finally {
    if (core !== undefined) placeProcesses(others, String(1 - core))
    await several.running.stop()
  }
}

/**
 * Memory per open stream, in a new process. A few streams come first, so that lazily loaded code does not count. They are only a few, because the garbage
 * of a load run would leave room that the held streams could then fill unnoticed.
 */
async function memory(contender: Contender, context: BenchContext, streams: number): Promise<Sample> {
  const running = await contender.target.start(context)
  try {
    if (running.pid === undefined) return {}
    const shot = shotOf({ ...contender, running }, context, IDLE)
    const first = await holdStreams(shot, FIRST_STREAMS, HOLD_LIMIT_MS)
    first.close()
    await sleep(START_SETTLE_MS)
    const before = residentKb(processTree(running.pid))
    const held = await holdStreams(shot, streams, HOLD_LIMIT_MS)
    await sleep(SETTLE_MS)
    const during = residentKb(processTree(running.pid))
    held.close()
    return { kbPerStream: (during - before) / streams, idleMb: before / 1024 }
  } finally {
    await running.stop()
  }
}

/** From the start to the first correct answer, in new processes. */
async function ready(contender: Contender, context: BenchContext): Promise<Sample> {
  const running = await contender.target.start(context)
  await running.stop()
  return { ms: running.readyMs }
}

export const RUN: { readonly [S in Scenario]: (contender: Contender, context: BenchContext, effort: Effort) => Promise<Sample> } = {
  json,
  sse: (contender, context, effort) => events('sse', contender, context, effort),
  'sse-block': (contender, context, effort) => events('sse-block', contender, context, effort),
  latency,
  'latency-rested': latency,
  'first-token': firstToken,
  '32k': (contender, context, effort) => large('32k', contender, context, effort),
  '400k': (contender, context, effort) => large('400k', contender, context, effort),
  '1m': (contender, context, effort) => large('1m', contender, context, effort),
  'front-door': frontDoor,
  workers,
  memory: (contender, context, effort) => memory(contender, context, effort.openStreams),
  'memory-5000': (contender, context, effort) => memory(contender, context, effort.manyStreams),
  ready,
}

/** The median of 300 answers differs by a sixth between rounds, even in the same process, so five rounds cannot show a difference of a tenth. */
const LATENCY_TIMES = 3

/** The number of runs: one per round, more for latency, and a limited number for scenarios that start processes of their own. */
export function repetitions(scenario: Scenario, effort: Effort): number {
  if (scenario === 'ready') return effort.starts
  if (scenario === 'latency') return effort.rounds * LATENCY_TIMES
  return scenario.startsWith('memory') || scenario === 'workers' ? Math.min(effort.rounds, 3) : effort.rounds
}

/** Warms up compilers and caches before anything counts. */
export async function warmUp(contender: Contender, context: BenchContext, effort: Effort): Promise<void> {
  for (const need of [NEEDS.json, NEEDS.sse].filter((each) => each !== undefined)) {
    if (contender.pieces.has(sceneKey(need))) await runClosedLoop(shotOf(contender, context, need), 16, effort.warmUpMs)
  }
}

const OF_WORK: ReadonlySet<Scenario> = new Set(['json', 'sse', 'sse-block', 'front-door', 'workers'])

/**
 * While other programs are measured for minutes, the kernel and V8 put a program to rest, and a large one more than a small one. So it is woken first: for
 * figures of throughput by that load, for those of a steady rate by that rate. `latency-rested` is what its first callers experience.
 */
export async function wake(scenario: Scenario, contender: Contender, context: BenchContext, effort: Effort): Promise<void> {
  if (scenario === 'latency') await runOpenLoop(shotOf(contender, context, NEEDS.latency!), effort.requestsPerSecond, effort.steadyMs)
  if (!OF_WORK.has(scenario)) return
  await runClosedLoop(shotOf(contender, context, NEEDS[scenario]!), effort.jsonConnections, effort.wakeMs)
  // Otherwise, what is still to be forwarded after waking would be counted in the next measurement.
  const { running } = contender
  if (running.pending !== undefined && running.pid !== undefined) await untilQuiet(running, processTree(running.pid))
}
