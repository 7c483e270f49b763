import type { ConfigRead } from '../config/load.ts'
import { mergeMetrics, type ProcessMetrics } from '../telemetry/merge-metrics.ts'

/** How a process is to be configured, so that it is like the others whatever the file says by now. */
export interface GivenConfig {
  /** With what all of them were started: what holds from the start is of this. */
  readonly initial: ConfigRead
  /** What they have in force. */
  readonly lastGood: ConfigRead
  /** Where all of them listen with sockets of their own. Without: connections are handed to them. */
  readonly port?: number
}

/** What the process that keeps the port and those that serve say to each other. */
export type ToWorker =
  /** Answers `listening`. */
  | ({ readonly kind: 'begin' } & GivenConfig)
  | { readonly kind: 'stop' }
  /** Answered with `alive`. */
  | { readonly kind: 'ask' }
  /** Asks for figures. */
  | { readonly kind: 'collect'; readonly id: number }
  /** Answers `gather` with those of everybody. */
  | { readonly kind: 'gathered'; readonly id: number; readonly processes: readonly ProcessMetrics[] }

export type FromWorker =
  /** From here on it hears what it is told; before, messages are lost. */
  | { readonly kind: 'listening' }
  | { readonly kind: 'serving'; readonly banner: string }
  /** What it has in force now, and how long its stop may take by that, before what is left is written. */
  | { readonly kind: 'configured'; readonly read: ConfigRead; readonly graceMs: number }
  | { readonly kind: 'alive' }
  /** It cannot go on, and no other can. */
  | { readonly kind: 'fatal' }
  | { readonly kind: 'gather'; readonly id: number }
  | { readonly kind: 'collected'; readonly id: number; readonly text: string }

/** Longer than the others are given to answer. */
const GATHER_LIMIT_MS = 3_000
/** Whoever else starts processes this way has no configuration to give. */
const BEGIN_LIMIT_MS = 3_000

/** The side of a process that serves. */
export interface WorkerLink {
  send(message: FromWorker): void
  /** Says that it hears; resolves with what it is told to be, undefined when nobody says so. */
  begin(): Promise<GivenConfig | undefined>
  /** Figures of all processes; this one's alone when the others cannot be asked. */
  readonly gather: (own: () => Promise<string>) => Promise<string>
}

export interface WorkerChannel {
  send(message: FromWorker): void
  listen(onMessage: (message: ToWorker) => void): void
}

export interface WorkerHandlers {
  readonly metrics: () => Promise<string>
  readonly stop: (why?: string) => void
}

/** `handlers`: those in force, which change while the process starts. */
export function linkToPrimary(channel: WorkerChannel, handlers: () => WorkerHandlers | undefined): WorkerLink {
  const waiting = new Map<number, (processes: readonly ProcessMetrics[]) => void>()
  const begun = Promise.withResolvers<GivenConfig | undefined>()
  let nextId = 0
  channel.listen((message) => {
    switch (message.kind) {
      case 'stop':
        return handlers()?.stop()
      case 'ask':
        return channel.send({ kind: 'alive' })
      case 'collect':
        void (handlers()?.metrics() ?? Promise.resolve('')).then((text) => channel.send({ kind: 'collected', id: message.id, text }))
        return
      case 'begin':
        return begun.resolve(message)
      case 'gathered':
        return waiting.get(message.id)?.(message.processes)
      default:
        return message satisfies never
    }
  })
  return {
    send: (message) => channel.send(message),
    async begin() {
      const timer = setTimeout(() => begun.resolve(undefined), BEGIN_LIMIT_MS)
      channel.send({ kind: 'listening' })
      const given = await begun.promise
      clearTimeout(timer)
      return given
    },
    async gather(own) {
      const id = nextId++
      const answered = Promise.withResolvers<readonly ProcessMetrics[]>()
      waiting.set(id, answered.resolve)
      const timer = setTimeout(() => answered.resolve([]), GATHER_LIMIT_MS)
      channel.send({ kind: 'gather', id })
      const processes = await answered.promise
      clearTimeout(timer)
      waiting.delete(id)
      return processes.length === 0 ? own() : mergeMetrics(processes)
    },
  }
}
