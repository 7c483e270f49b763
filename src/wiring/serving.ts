import type { Server } from 'node:http'
import type { Boot } from './boot.ts'
import { workersOf } from '../config/workers.ts'
import type { Config, Role } from '../core/config.ts'
import type { DeliveryHost } from './delivery-host.ts'
import { Admission } from '../http/admission.ts'
import { drainServer, type CallsUnderWay } from '../http/drain.ts'
import { createFollower, type Follower } from '../accounts/follower.ts'
import { DEGRADED, judgeReadiness, type Readiness } from '../http/readiness.ts'
import { systemClock } from '../lib/clock.ts'
import type { Logger } from '../lib/logger.ts'
import type { Store } from '../core/store.ts'
import type { WriteBehindSink } from '../store/index.ts'
import { createMemoryLook, memoryLeftOf, startLoadProbe } from '../telemetry/load-probe.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { VERSION } from '../version.ts'

/** What stands between the socket and the calls: admission, `readyz`, and the shutdown. */
export interface Serving {
  readonly admission: Admission
  readonly readiness: () => Readiness
  /** False once the grace period of a stop is over. */
  readonly accepting: () => boolean
  /** Ends service in order; see `drainServer`. */
  drain(server: Server): Promise<void>
}

export interface ServingOptions {
  readonly config: () => Config
  readonly state: Pick<Boot, 'accounts' | 'store'>
  readonly delivery: Pick<DeliveryHost, 'hasStarted'>
  readonly sink: Pick<WriteBehindSink, 'stats'>
  /** Undefined if there is no shared state. */
  readonly sharedStateAnswers: () => boolean | undefined
  readonly inFlight: CallsUnderWay
  readonly configurationRefused: () => boolean
  readonly metrics: Pick<Metrics, 'gauge' | 'gauges'>
  readonly logger: Logger
}

/** After this time a gateway serves even though its records cannot be written: they wait in memory, and the log says why. */
const START_LIMIT_MS = 10_000
const LOOK_AGE_MS = 10
const WRITE_POLL = { pollMs: 2_000, failedPollMs: 1_000 }

export function openServing(options: ServingOptions): Serving {
  const { config, state, delivery, sink, sharedStateAnswers, configurationRefused, inFlight, metrics, logger } = options
  const processes = workersOf(config())
  const memory = recentLook(createMemoryLook(processes))
  const admission = new Admission(
    () => config().overload,
    (share) => memoryLeftOf(memory(), processes, share),
  )
  let delayMs = 0
  const stopProbe = startLoadProbe({
    clock: systemClock,
    processes,
    onLoad: (load) => {
      delayMs = load.delayMs
      admission.observe(load)
    },
  })
  const openedAt = systemClock.monotonic()
  let stopping = false
  let accepting = true
  // The role at the start; a reload does not change it.
  const { role } = config().server
  // A process that records notices failing writes by the records that wait.
  const writes = role === 'worker' ? watchWrites(state.store, logger) : undefined
  const readiness = (): Readiness => {
    const { keys, prepared, secretKeyOutdated } = state.accounts.snapshot.stats()
    return judgeReadiness({
      role,
      stopping,
      overloaded: admission.stats().overloaded,
      knownKeys: keys,
      databaseAnswers: state.accounts.answers(),
      databasePrepared: prepared,
      databaseTakesWrites: writes === undefined || (!writes.failing && writes.contactAgeMs !== undefined),
      records: delivery.hasStarted || systemClock.monotonic() - openedAt > START_LIMIT_MS,
      recordsWaitMs: sink.stats().oldestAgeMs,
      sharedStateAnswers: sharedStateAnswers(),
      secretKeyOutdated,
      configurationRefused: configurationRefused(),
    })
  }
  registerFigures(metrics, { inFlight, admission, readiness, delayMs: () => delayMs, role: config().server.role })
  return {
    admission,
    accepting: () => accepting,
    readiness,
    async drain(server) {
      stopping = true
      const { shutdownDelay, shutdownGrace } = config().server
      await drainServer(server, { inFlight, delayMs: shutdownDelay, graceMs: shutdownGrace, onGraceOver: () => (accepting = false) })
      stopProbe()
      await writes?.close()
    },
  }
}

interface ServingFigures extends Pick<Serving, 'admission' | 'readiness'> {
  readonly inFlight: CallsUnderWay
  readonly delayMs: () => number
  readonly role: Role
}

function registerFigures(metrics: ServingOptions['metrics'], { inFlight, admission, readiness, delayMs, role }: ServingFigures): void {
  metrics.gauges('gateway_build_info', '1, with the version that runs.', 'version', () => ({ [VERSION]: 1 }))
  metrics.gauges('gateway_role', '1, with the role of the process.', 'role', () => ({ [role]: 1 }))
  metrics.gauge('gateway_calls_in_flight', 'Calls being served.', () => inFlight.size)
  metrics.gauge(
    'gateway_calls_limit',
    'Calls this process takes at the moment; less than configured while it is under pressure.',
    () => admission.stats().limit,
  )
  metrics.gauge('gateway_calls_shed', 'Calls refused since the start because the process was under pressure.', () => admission.stats().shed)
  metrics.gauge('gateway_event_loop_delay_seconds', 'How late the event loop is, smoothed.', () => delayMs() / 1_000)
  metrics.gauges('gateway_degraded', '1 for what readyz names as degraded.', 'what', () => {
    const { degraded } = readiness()
    return Object.fromEntries(DEGRADED.map((what) => [what, Number(degraded.includes(what))]))
  })
}

/** A look reads several system files; large bodies that arrive together share one. */
function recentLook<T>(look: () => T): () => T {
  let last: { readonly at: number; readonly seen: T } | undefined
  return () => {
    const at = systemClock.monotonic()
    if (last === undefined || at - last.at > LOOK_AGE_MS) last = { at, seen: look() }
    return last.seen
  }
}

/** Tries again and again whether the database takes what a worker writes. A read-only one looks healthy otherwise. */
function watchWrites(store: Pick<Store, 'proveWritable'>, logger: Logger): Follower {
  const writes = createFollower({
    synchronize: () => store.proveWritable(),
    clock: systemClock,
    ...WRITE_POLL,
    onLost: (error) => logger.warn({ error }, 'the database takes no writes: nothing can be delivered'),
    onBack: (outageMs) => logger.info({ outage_ms: outageMs }, 'the database takes writes again'),
  })
  void writes.start().catch(() => undefined)
  return writes
}
