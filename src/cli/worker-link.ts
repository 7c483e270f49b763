import type { ConfigRead } from '../config/load.ts'
import { mergeMetrics, type ProcessMetrics } from '../telemetry/merge-metrics.ts'

/** The configuration a worker starts with, so that all workers agree whatever the file says by now. */
export interface GivenConfig {
  /** The configuration all of them were started with: settings that only a restart changes come from it. */
  readonly initial: ConfigRead
  /** The configuration that is in force. */
  readonly lastGood: ConfigRead
  /** The port all workers listen on themselves. Absent: connections are handed to them. */
  readonly port?: number
}

/** Messages between the supervisor and its workers. */
export type ToWorker =
  /** Answer to `listening`. */
  | ({ readonly kind: 'begin' } & GivenConfig)
  | { readonly kind: 'stop' }
  /** A question for a sign of life; the answer is `alive`. */
  | { readonly kind: 'ask' }
  /** A request for this worker's metrics. */
  | { readonly kind: 'collect'; readonly id: number }
  /** Answer to `gather`: the metrics of all workers. */
  | { readonly kind: 'gathered'; readonly id: number; readonly processes: readonly ProcessMetrics[] }

export type FromWorker =
  /** From now on the worker hears messages; earlier ones are lost. */
  | { readonly kind: 'listening' }
  | { readonly kind: 'serving'; readonly banner: string }
  /** What it has in force now, and how long a stop may take by that configuration before records are flushed. */
  | { readonly kind: 'configured'; readonly read: ConfigRead; readonly graceMs: number }
  | { readonly kind: 'alive' }
  /** It cannot go on, and neither could another. */
  | { readonly kind: 'fatal' }
  | { readonly kind: 'gather'; readonly id: number }
  | { readonly kind: 'collected'; readonly id: number; readonly text: string }

/** Longer than the supervisor waits for each of the others. */
const GATHER_LIMIT_MS = 3_000
/** A process started by anything else gets no configuration. */
const BEGIN_LIMIT_MS = 3_000

/** The worker's side of the link. */
export interface WorkerLink {
  send(message: FromWorker): void
  /** Announces that it hears messages. Resolves with the configuration it gets, or undefined if none comes. */
  begin(): Promise<GivenConfig | undefined>
  /** The metrics of all workers, or of this one alone if the supervisor does not answer. */
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

/** `handlers`: those in force at the moment, which change while the process starts. */
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
      const config = await begun.promise
      clearTimeout(timer)
      return config
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
