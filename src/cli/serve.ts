import cluster from 'node:cluster'
import type { App } from '../app.ts'
import { checkExposure, weakKeyNote } from '../config/exposure.ts'
import { withLines } from '../config/lines.ts'
import { loadConfig, readOf, type LoadOptions } from '../config/load.ts'
import { misspeltVariables, quotedVariables } from '../config/misspelt.ts'
import { watchConfig, type WatchHandlers } from '../config/watch.ts'
import { workersOf } from '../config/workers.ts'
import type { Config } from '../core/config.ts'
import { GatewayError } from '../core/error.ts'
import { defined } from '../lib/defined.ts'
import type { Logger } from '../lib/logger.ts'
import { canSharePorts, holdPort } from '../http/listen.ts'
import { holdYoungGeneration } from '../lib/young-generation.ts'
import { findConsole } from '../wiring/console-files.ts'
import { createLogger } from '../telemetry/logger.ts'
import { banner, keyLines } from './banner.ts'
import { commandHere } from './command-here.ts'
import { handleUncaughtErrors } from './last-resort.ts'
import { listenOr } from './listen.ts'
import type { Overrides } from './overrides.ts'
import { graceOf, serveWithWorkers } from './serve-workers.ts'
import { onStopSignals } from './stop-signals.ts'
import { linkToPrimary, type GivenConfig, type WorkerHandlers, type WorkerLink } from './worker-link.ts'

export function loadOptions({ config, data, port, host, role, workers }: Overrides): LoadOptions {
  return {
    env: process.env,
    overrides: defined({ dataDir: data, port, host, role, workers }),
    ...(config === undefined ? {} : { file: config }),
  }
}

/**
 * For commands that use the database beside a running gateway. They skip `providers`, because the vendors' keys are in the gateway's environment and
 * not in the operator's shell.
 */
export const storeOptions = (overrides: Overrides, more: readonly string[] = []): LoadOptions => ({
  ...loadOptions(overrides),
  sections: ['server', 'storage', ...more],
})

/**
 * `signalbox serve`: runs until a stop signal, then closes in order. A second signal ends the process at once.
 * Throws GatewayError with a sentence for the operator when it cannot start.
 */
export async function serve(overrides: Overrides): Promise<void> {
  holdYoungGeneration()
  // Until the file is watched, only noted: Node's default would end a gateway that was just started.
  process.on('SIGHUP', () => (reloadAsked = true))
  const own = newOwn()
  // Set at once: process 1 of a container ignores signals without a listener, so an early stop would be lost.
  const forgetSignals = onStopSignals(
    (signal) => own.handlers.stop(signal),
    () => process.exit(1),
  )
  const options = loadOptions(overrides)
  if (cluster.isWorker) return serveAmongOthers(options, own)
  const { config, logger } = await configure(options)
  for (const note of [...misspeltVariables(process.env, config.text?.reveal()), ...quotedVariables(process.env)]) logger.warn({}, note)
  const weak = weakKeyNote(config)
  if (weak !== undefined) logger.warn({}, weak)
  if (workersOf(config) === 1) return serveAlone({ config, options, logger, own })
  // Taken before anything is created: another gateway may have the port.
  const heldPort = canSharePorts ? await listenOr(() => holdPort(config.server), config.server) : undefined
  await prepareData(config, logger)
  forgetSignals()
  serveWithWorkers(config, logger, heldPort)
}

/** Serves as one of several workers, with the configuration that the supervisor sends. */
async function serveAmongOthers(options: LoadOptions, own: Own): Promise<void> {
  const link = openLink(() => own.handlers)
  outliveStarter(own)
  try {
    const fromPrimary = await link.begin()
    const { config, logger } = await configure({ ...options, ...defined({ read: fromPrimary?.initial }) })
    await serveAlone({ config, options, logger, own, link, ...defined({ given: fromPrimary }) })
  } catch (error) {
    // Nothing more will come, so the channel must not keep the process alive.
    process.channel?.unref()
    throw error
  }
}

/** Node ends a worker at once when its supervisor is gone. This lets it finish its calls first. */
function outliveStarter(own: Own): void {
  const self = cluster.worker
  self?.once('disconnect', () => {
    self.exitedAfterDisconnect = true
    own.handlers.stop('the process that started this one is gone')
  })
}

async function configure(options: LoadOptions): Promise<{ readonly config: Config; readonly logger: Logger }> {
  const config = await loadConfig(options)
  const logger = createLogger(config.logging)
  outliveOutput(logger)
  const refusal = checkExposure(config)
  if (refusal !== undefined) throw new GatewayError('invalid_request', refusal)
  return { config, logger }
}

/** Calls matter more than output: the reader may be gone, or its disk full. Other commands end in that case. */
function outliveOutput(logger: Logger): void {
  process.stdout.removeAllListeners('error')
  process.stdout.on('error', (error) =>
    logger.warn({ error }, 'standard output cannot be written, so the new keys were not shown: create others with signalbox keys create'),
  )
}

/** Does once what workers must not do at the same time: data directory, migrations, first keys. */
async function prepareData(config: Config, logger: Logger): Promise<void> {
  const { boot } = await import('../wiring/boot.ts')
  // If the database is away now, the workers find out what is wrong with it later.
  const state = await boot(config, logger, () => undefined)
  if (state.generated.length > 0) process.stdout.write(`${keyLines(state.generated).join('\n')}\n`)
  await state.close()
}

/** What signals or the supervisor can ask of this process; changes while the process starts. */
interface Own {
  handlers: WorkerHandlers
  /** Why to stop as soon as that is possible. */
  stopEarly: string | undefined
}

/** A stop before anything is served ends the process at once; later it closes in order. */
const newOwn = (): Own => ({ handlers: earlyHandlers(() => process.exit(0)), stopEarly: undefined })

interface Serving {
  readonly config: Config
  readonly options: LoadOptions
  readonly logger: Logger
  readonly own: Own
  /** Present in a worker. */
  readonly link?: WorkerLink
  readonly given?: GivenConfig
}

async function serveAlone({ config, options, logger, own, link, given }: Serving): Promise<void> {
  // A supervisor never loads it.
  const { createApp } = await import('../app.ts')
  const onFatal = (): void => {
    link?.send({ kind: 'fatal' })
    // In a worker the channel alone would keep the process alive. The message is sent first.
    setTimeout(() => process.exit(1), FATAL_MARGIN_MS)
  }
  const among = { sharesPort: given?.port !== undefined, ...defined({ gatherMetrics: link?.gather }) }
  // Only what listens gets the port that is held for all: changes of the file are compared with what it said at the start.
  const server = { ...config.server, ...defined({ port: given?.port }) }
  const app = await withLines(config, () => createApp({ config: { ...config, server }, env: process.env, logger, onFatal, ...among }))
  own.handlers = earlyHandlers((why) => (own.stopEarly = why))
  const handlers: WatchHandlers = {
    onChange: async (next, _previous, restart) => {
      await app.reload(next)
      link?.send({ kind: 'configured', read: readOf(next), graceMs: graceOf(next) })
      logger.info(restart.length === 0 ? {} : { needs_restart: restart }, 'configuration reloaded')
      const refusal = checkExposure(next)
      // Better known now than when the machine restarts.
      if (refusal !== undefined) logger.warn({}, `a start with the reloaded configuration would be refused: ${refusal}`)
    },
    onProblem: (error) => {
      app.refuseReload()
      logger.error({}, `the configuration was not reloaded, the last good one stays in force: ${error.message}`)
    },
  }
  // Before the first call, so that no call is served by a configuration that was replaced during the start.
  const watch = await watchConfig(config, options, handlers, given?.lastGood)
  const { url } = await listenOr(() => app.listen(), server).catch(async (error: unknown) => {
    watch.close()
    await app.close()
    // They are stored now, and no later start makes others.
    if (app.boot.generated.length > 0) process.stdout.write(`${keyLines(app.boot.generated).join('\n')}\n`)
    throw error
  })
  if (reloadAsked) void watch.reload()
  let stopping = false
  const stop = (why: string, code = 0): void => {
    if (stopping) return
    stopping = true
    logger.info({ signal: why, calls: app.calls.size }, 'stopping')
    watch.close()
    app.close().then(
      () => process.exit(code),
      (error: unknown) => {
        logger.error({ error }, 'the stop failed')
        process.exit(1)
      },
    )
  }
  handleUncaughtErrors({ logger, stop })
  // Whoever has read the printed address may send a stop, so from here on it is heard.
  app.boot.onGenerated((key) => process.stdout.write(`${keyLines([key]).join('\n')}\n`))
  const text = bannerOf(app, url, config)
  if (link === undefined) process.stdout.write(text)
  own.handlers = { metrics: app.metrics, stop: (why = OTHERS_STOP) => stop(why) }
  link?.send({ kind: 'serving', banner: text })
  link?.send({ kind: 'configured', read: readOf(watch.current()), graceMs: graceOf(watch.current()) })
  if (own.stopEarly !== undefined) stop(own.stopEarly)
}

const OTHERS_STOP = 'the other processes stop, too'

const FATAL_MARGIN_MS = 100

/** Whether a SIGHUP came before the configuration was watched. */
let reloadAsked = false

/** For a process that does not serve yet. */
const earlyHandlers = (stop: (why: string) => void): WorkerHandlers => ({
  metrics: () => Promise.resolve(''),
  stop: (why = OTHERS_STOP) => stop(why),
})

function bannerOf(app: App, url: string, config: Config): string {
  const catalog = app.catalog()
  const slugs = catalog.providers.map(({ slug }) => slug)
  return banner({
    url,
    generated: app.boot.generated,
    models: catalog.models().length,
    providers: slugs,
    dataDir: config.dataDir,
    role: config.server.role,
    workers: workersOf(config),
    hasConsole: config.server.console && findConsole() !== undefined,
    command: commandHere(process),
  })
}

function openLink(handlers: () => WorkerHandlers | undefined): WorkerLink {
  return linkToPrimary(
    {
      // If the supervisor is gone, sending fails; this worker then finishes its calls and ends.
      send: (message) => void process.send?.(message, undefined, undefined, () => undefined),
      listen: (onMessage) => void process.on('message', onMessage),
    },
    handlers,
  )
}
