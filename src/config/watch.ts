import { stat } from 'node:fs/promises'
import { ConfigError } from '../core/config-error.ts'
import { asGatewayError, type GatewayError } from '../core/error.ts'
import type { Config } from '../core/config.ts'
import { defined } from '../lib/defined.ts'
import { withLines } from './lines.ts'
import { configFileAt, configFileCandidates, loadConfig, readConfigFile, readOf, type ConfigRead, type LoadOptions } from './load.ts'
import { pollFiles } from './poll-files.ts'

const POLL_MS = 500
const READ_AGAIN_MS = 1_000
/** Why a file may be unreadable for a moment that a look at it does not show: this process, this machine or a network file system is in trouble. */
const PASSING: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE', 'EIO', 'ESTALE', 'EAGAIN', 'EBUSY', 'ENOMEM', 'ETIMEDOUT'])

export interface WatchHandlers {
  /** A new, valid configuration. If this throws, the old one stays in force, as with a problem in the file. */
  readonly onChange: (next: Config, previous: Config, restart: readonly string[]) => void | Promise<void>
  /** A reload failed; the last good configuration stays in force. */
  readonly onProblem: (error: GatewayError) => void
}

export interface ConfigWatch {
  /** The last good configuration. */
  readonly current: () => Config
  /** Reloads now; resolves to whether the new configuration is in force. */
  readonly reload: () => Promise<boolean>
  readonly close: () => void
}

/**
 * Reloads the configuration when its file changes or the process receives SIGHUP. Reloads run one after the other. Resolves once what the file says
 * is in force, even if it has changed since `initial` was read.
 * `lastGood`: what the other workers had in force when this process was started; it is used if the file is invalid by now. The file is polled,
 * because editors replace files and containers mount them through links: reading it twice a second notices both everywhere.
 */
export async function watchConfig(initial: Config, options: LoadOptions, handlers: WatchHandlers, lastGood?: ConfigRead): Promise<ConfigWatch> {
  let current = initial
  /** The file whose content is in force. */
  let read = initial.file
  let running: Promise<boolean> = Promise.resolve(true)
  /** Set while the file is to be read again. */
  let readAgain: NodeJS.Timeout | undefined
  let closed = false

  // A pipe such as the shell's `<(...)` can be read once: a second read finds nothing, or waits for a writer.
  const isReadOnce = initial.file !== undefined && (await isPipe(initial.file))

  const where = (): LoadOptions => ({ ...options, ...(read === undefined ? {} : { file: read }) })

  /** One that has taken the place of a file, or of none, may wait for its writer forever, and every later reload with it. */
  async function cannotBeRead(): Promise<boolean> {
    const file = isReadOnce ? undefined : await configFileAt(where())
    return isReadOnce || (file !== undefined && (await isPipe(file)))
  }

  async function attempt(known?: ConfigRead): Promise<boolean> {
    const isRepeat = readAgain !== undefined
    clearTimeout(readAgain)
    readAgain = undefined
    try {
      if (known === undefined && (await cannotBeRead())) throw new ConfigError([{ path: 'file', message: READ_ONCE }], read)
      // A file that disappears or is empty now is a mistake or half of a change. It must not put the defaults, or another file, in force.
      const next = await loadConfig({ ...where(), mustSaySomething: true, ...defined({ read: known }) })
      await withLines(next, () => handlers.onChange(next, current, restartNeeded(initial, next)))
      current = next
      read = next.file
      return true
    } catch (error) {
      const isPassing = error instanceof ConfigError && PASSING.has((error.cause as NodeJS.ErrnoException | undefined)?.code)
      if (isPassing && !closed) readAgain = setTimeout(trigger, READ_AGAIN_MS).unref()
      if (!isPassing || !isRepeat) handlers.onProblem(asGatewayError(error))
      return false
    }
  }
  const reload = (): Promise<boolean> => (running = running.then(() => attempt()))
  const trigger = (): void => void reload()

  // There may be a file later.
  const files = initial.file === undefined ? configFileCandidates(options) : isReadOnce ? [] : [initial.file]
  const endPolling = await pollFiles(files, POLL_MS, trigger)
  process.on('SIGHUP', trigger)
  // The start took a while, and polling does not report what was written before it began.
  if (lastGood !== undefined && lastGood.text !== readOf(initial).text) await (running = attempt(lastGood))
  const { text } = (await cannotBeRead()) ? readOf(current) : await readConfigFile(where()).catch((): ConfigRead => ({}))
  if (text !== readOf(current).text) await reload()
  return {
    current: () => current,
    reload,
    close: () => {
      closed = true
      clearTimeout(readAgain)
      endPolling()
      process.off('SIGHUP', trigger)
    },
  }
}

const READ_ONCE = 'is no file that can be read again; a change needs a new process, or --config with a file'

/** Neither a file nor a folder, which is refused when it is read. */
const isPipe = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => !found.isFile() && !found.isDirectory(),
    // The file may come back.
    () => false,
  )

/** Paths of the settings that take effect only after a restart. */
export const READ_AT_START: { readonly [path: string]: (config: Config) => unknown } = {
  'server.host': ({ server }) => server.host,
  'server.port': ({ server }) => server.port,
  'server.role': ({ server }) => server.role,
  'server.workers': ({ server }) => server.workers,
  'server.body_limit': ({ server }) => server.bodyLimit,
  'server.keep_alive_timeout': ({ server }) => server.keepAliveTimeout,
  'storage.data_dir': ({ dataDir }) => dataDir,
  'storage.database': ({ storage }) => storage.database,
  'storage.url': ({ storage }) => storage.url?.reveal(),
  'storage.shared': ({ storage }) => storage.shared,
  'storage.redis_url': ({ storage }) => storage.redisUrl?.reveal(),
  'storage.redis_namespace': ({ storage }) => storage.redisNamespace,
  // For endpoints a change counts at once; what is known of credentials is kept as at the start.
  'routing.cooldown': ({ routing }) => routing.cooldown,
  'destinations.privacy_locked': ({ destinations }) => destinations.privacyLocked,
  'logging.level': ({ logging }) => logging.level,
  'logging.format': ({ logging }) => logging.format,
}

/** Paths of the settings that differ and take effect only after a restart. */
export function restartNeeded(previous: Config, next: Config): readonly string[] {
  return Object.entries(READ_AT_START).flatMap(([path, read]) => (read(next) === read(previous) ? [] : [path]))
}
