import { mergeMetrics, type ProcessMetrics } from '../telemetry/merge-metrics.ts'

/** What the process that keeps the port and those that serve say to each other. */
export type ToWorker =
  | { readonly kind: 'stop' }
  /** Asks for figures. */
  | { readonly kind: 'collect'; readonly id: number }
  /** Answers `gather` with those of everybody. */
  | { readonly kind: 'gathered'; readonly id: number; readonly processes: readonly ProcessMetrics[] }

export type FromWorker =
  /** From here on it hears what it is told; before, messages are lost. */
  | { readonly kind: 'listening' }
  | { readonly kind: 'serving'; readonly banner: string }
  /** How long its stop may take as it is configured now, before what is left is written. */
  | { readonly kind: 'grace'; readonly ms: number }
  /** It cannot go on, and no other can. */
  | { readonly kind: 'fatal' }
  | { readonly kind: 'gather'; readonly id: number }
  | { readonly kind: 'collected'; readonly id: number; readonly text: string }

/** Longer than the others are given to answer. */
const GATHER_LIMIT_MS = 3_000

/** The side of a process that serves. */
export interface WorkerLink {
  send(message: FromWorker): void
  /** Figures of all processes; this one's alone when the others cannot be asked. */
  readonly gather: (own: () => Promise<string>) => Promise<string>
}

export interface WorkerChannel {
  send(message: FromWorker): void
  listen(onMessage: (message: ToWorker) => void): void
}

export interface WorkerHandlers {
  readonly metrics: () => Promise<string>
  readonly stop: () => void
}

/** `handlers`: those in force, which change while the process starts. */
export function linkToPrimary(channel: WorkerChannel, handlers: () => WorkerHandlers | undefined): WorkerLink {
  const waiting = new Map<number, (processes: readonly ProcessMetrics[]) => void>()
  let nextId = 0
  channel.listen((message) => {
    switch (message.kind) {
      case 'stop':
        return handlers()?.stop()
      case 'collect':
        void (handlers()?.metrics() ?? Promise.resolve('')).then((text) => channel.send({ kind: 'collected', id: message.id, text }))
        return
      case 'gathered':
        return waiting.get(message.id)?.(message.processes)
      default:
        return message satisfies never
    }
  })
  return {
    send: (message) => channel.send(message),
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
