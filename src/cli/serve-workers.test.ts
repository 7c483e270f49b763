import cluster, { type Worker } from 'node:cluster'
import { EventEmitter } from 'node:events'
import { availableParallelism } from 'node:os'
import { expect, it, onTestFinished, vi } from 'vitest'
import { configSchema } from '../config/schema.ts'
import { toConfig } from '../config/to-config.ts'
import { workersOf } from '../config/workers.ts'
import type { HeldPort } from '../http/listen.ts'
import { silentLogger } from '../lib/logger.ts'
import { DELIVERIES_LIMIT_MS, RECORDS_LIMIT_MS } from '../wiring/stop-limits.ts'
import { graceOf, serveWithWorkers, stopLimitOf, workerWarnings } from './serve-workers.ts'

const configOf = (tree: object) => toConfig(configSchema.parse(tree), {}, undefined)

it('runs as many processes as told, or one per core', () => {
  expect(workersOf(configOf({}))).toBe(1)
  expect(workersOf(configOf({ server: { workers: 3 } }))).toBe(3)
  expect(workersOf(configOf({ server: { workers: 'auto' } }))).toBe(availableParallelism())
})

it('says what several processes do not share', () => {
  expect(workerWarnings(configOf({}), 3)).toEqual([expect.stringMatching(/^3 processes without Redis: .*SIGNALBOX_REDIS_URL/)])
  expect(workerWarnings(configOf({ storage: { redis_url: 'redis://127.0.0.1:6379' } }), 3)).toEqual([])
})

it('kills no process within its currently configured grace period', () => {
  const started = configOf({ server: { shutdown_grace: '1s', shutdown_delay: '0s' } })
  expect(stopLimitOf(started, [])).toBe(graceOf(started) + 35_000)
  const reloaded = graceOf(configOf({ server: { shutdown_grace: '120s', shutdown_delay: '5s' } }))
  expect(stopLimitOf(started, [graceOf(started), reloaded])).toBe(160_000)
  // What a timer cannot count would be a millisecond.
  expect(stopLimitOf(configOf({ server: { shutdown_grace: '20d', shutdown_delay: '20d' } }), [])).toBe(2_147_483_647)
})

it('kills no process that still writes records or delivers within its time for that', () => {
  const started = configOf({})
  expect(stopLimitOf(started, []) - graceOf(started)).toBeGreaterThan(RECORDS_LIMIT_MS + DELIVERIES_LIMIT_MS)
})

/** Its processes are only told of. */
function primary(workers: number, held?: HeldPort) {
  vi.useFakeTimers()
  const exit = vi.spyOn(process, 'exit').mockImplementation(() => undefined as never)
  const heard = vi.spyOn(process, 'on').mockReturnThis()
  const shown = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  const dead = new Set<number>()
  const told: unknown[] = []
  const all: Worker[] = []
  vi.spyOn(cluster, 'fork').mockImplementation(() => {
    const id = all.length + 1
    const send = (message: unknown): boolean => told.push(message) > 0
    const own = { id, process: { pid: id, kill: () => true }, isConnected: () => true, isDead: () => dead.has(id), send }
    all.push(Object.assign(new EventEmitter(), own) as unknown as Worker)
    return all.at(-1)!
  })
  vi.spyOn(cluster, 'workers', 'get').mockImplementation(() => Object.fromEntries(all.map((worker) => [worker.id, worker])))
  onTestFinished(() => {
    vi.restoreAllMocks()
    vi.useRealTimers()
  })
  serveWithWorkers(configOf({ server: { workers } }), silentLogger, held)
  return { exit, heard, shown, dead, told, workers: all }
}

it('ends with the last of its processes, even if their channels close later', () => {
  const { exit, heard, dead, workers } = primary(2)
  heard.mock.calls.find(([event]) => event === 'SIGTERM')![1]('SIGTERM')
  for (const worker of workers) {
    expect(exit).not.toHaveBeenCalled()
    dead.add(worker.id)
    worker.emit('exit', 0, null)
  }
  expect(exit).toHaveBeenCalledExactlyOnceWith(0)
})

it('says what ended its first process if that was a signal, of which the process itself can say nothing', () => {
  const error = vi.spyOn(silentLogger, 'error')
  const { exit, dead, workers } = primary(1)
  dead.add(1)
  workers[0]!.emit('exit', null, 'SIGKILL')
  expect(error).toHaveBeenCalledExactlyOnceWith({ worker: 1, pid: 1, code: null, signal: 'SIGKILL' }, 'a process ended during the start')
  expect(exit).toHaveBeenCalledExactlyOnceWith(1)
})

it('passes a reload signal on to processes that hear it, because it would end the others, and with the first of them the gateway', () => {
  const { heard, workers } = primary(2)
  const signals = workers.map(({ process: child }) => vi.spyOn(child, 'kill'))
  const reload = (): void => heard.mock.calls.find(([event]) => event === 'SIGHUP')![1]('SIGHUP')
  reload()
  expect(signals.map(({ mock }) => mock.calls)).toEqual([[], []])
  workers[1]!.emit('message', { kind: 'listening' })
  reload()
  expect(signals.map(({ mock }) => mock.calls)).toEqual([[], [['SIGHUP']]])
})

it('tells its processes the port it holds, and releases it when all of them serve, before it is announced', () => {
  const release = vi.fn<() => void>()
  const { shown, told, workers } = primary(2, { port: 4321, release })
  for (const worker of workers) worker.emit('message', { kind: 'listening' })
  expect(told).toEqual([expect.objectContaining({ kind: 'begin', port: 4321 }), expect.objectContaining({ kind: 'begin', port: 4321 })])
  workers[0]!.emit('message', { kind: 'serving', banner: 'at your service' })
  expect(release).not.toHaveBeenCalled()
  workers[1]!.emit('message', { kind: 'serving', banner: 'at your service' })
  expect(release).toHaveBeenCalledBefore(shown)
  expect(shown).toHaveBeenCalledExactlyOnceWith('at your service')
})

it('retries the start of a process while the system lacks resources', () => {
  const { exit, dead, workers } = primary(1)
  const noRoom = Object.assign(new Error('spawn node EAGAIN'), { code: 'EAGAIN' })
  workers[0]!.emit('message', { kind: 'serving', banner: 'at your service' })
  const fork = vi.mocked(cluster.fork)
  // Said afterwards by a process that never was, or at once.
  fork.mockImplementationOnce(() => Object.assign(new EventEmitter(), { id: 2, process: {}, isDead: () => true }) as unknown as Worker)
  fork.mockImplementationOnce(() => {
    throw noRoom
  })
  dead.add(1)
  workers[0]!.emit('exit', null, 'SIGKILL')
  vi.advanceTimersByTime(250)
  ;(fork.mock.results.at(-1)!.value as Worker).emit('error', noRoom)
  vi.advanceTimersByTime(5_000)
  expect(fork).toHaveBeenCalledTimes(4)
  expect(workers).toHaveLength(2)
  expect(exit).not.toHaveBeenCalled()
})

it('ends if the system lacks resources for its processes from the start', () => {
  vi.spyOn(cluster, 'fork').mockImplementation(() => {
    throw new Error('spawn node ENOMEM')
  })
  const exit = vi.spyOn(process, 'exit').mockImplementation(() => undefined as never)
  vi.spyOn(process, 'on').mockReturnThis()
  vi.useFakeTimers()
  onTestFinished(() => {
    vi.restoreAllMocks()
    vi.useRealTimers()
  })
  serveWithWorkers(configOf({ server: { workers: 1 } }), silentLogger)
  expect(exit).toHaveBeenCalledWith(1)
})
