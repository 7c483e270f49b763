import { unwatchFile, watchFile, type Stats } from 'node:fs'
import { stat } from 'node:fs/promises'
import { ConfigError } from '../core/config-error.ts'
import { asGatewayError, type GatewayError } from '../core/error.ts'
import type { Config } from '../core/config.ts'
import { defined } from '../lib/defined.ts'
import { withLines } from './lines.ts'
import { configFileCandidates, loadConfig, readConfigFile, readOf, type ConfigRead, type LoadOptions } from './load.ts'

const POLL_MS = 500

export interface WatchHandlers {
  /** A new configuration is good. What it throws keeps the old one, like a problem in the file. */
  readonly onChange: (next: Config, previous: Config, restart: readonly string[]) => void | Promise<void>
  /** A reload failed; the last good configuration stays in force. */
  readonly onProblem: (error: GatewayError) => void
}

export interface ConfigWatch {
  /** The last good one. */
  readonly current: () => Config
  /** Reloads now; resolves to whether the new one is in force. */
  readonly reload: () => Promise<boolean>
  readonly close: () => void
}

/**
 * Reloads the configuration when its file changes or the process receives SIGHUP. Reloads run one after the other. Resolves when what the file
 * says is in force, also where it has changed since `initial` was read.
 * `lastGood`: what was in force beside this process when it was started; it holds where the file is wrong by now.
 * The file is polled: editors replace it, containers mount it through links, and a look twice a second finds either everywhere.
 */
export async function watchConfig(initial: Config, options: LoadOptions, handlers: WatchHandlers, lastGood?: ConfigRead): Promise<ConfigWatch> {
  let current = initial
  /** The file whose content is in force. */
  let read = initial.file
  let running: Promise<boolean> = Promise.resolve(true)

  // A pipe, such as a shell's `<(...)`, says it once: whoever reads it again finds nothing, or waits for somebody to write.
  const isReadOnce = initial.file !== undefined && !(await isFile(initial.file))

  const where = (): LoadOptions => ({ ...options, ...(read === undefined ? {} : { file: read }) })

  async function attempt(known?: ConfigRead): Promise<boolean> {
    try {
      if (isReadOnce && known === undefined) throw new ConfigError([{ path: 'file', message: READ_ONCE }], read)
      // A file that is gone or empty now is a mistake, or half of a change: it must not put the defaults in force, nor another file.
      const next = await loadConfig({ ...where(), mustSaySomething: true, ...defined({ read: known }) })
      await withLines(next, () => handlers.onChange(next, current, restartNeeded(initial, next)))
      current = next
      read = next.file
      return true
    } catch (error) {
      handlers.onProblem(asGatewayError(error))
      return false
    }
  }
  const reload = (): Promise<boolean> => (running = running.then(() => attempt()))
  const trigger = (): void => void reload()

  // Without a file, one may yet be made.
  const files = initial.file === undefined ? configFileCandidates(options) : isReadOnce ? [] : [initial.file]
  // Node also tells that a file is not there, at its first look: times of 0 on both sides.
  const look = (now: Stats, before: Stats): void => {
    if (now.mtimeMs !== 0 || before.mtimeMs !== 0) trigger()
  }
  for (const path of files) watchFile(path, { interval: POLL_MS, persistent: false }, look)
  process.on('SIGHUP', trigger)
  // A start takes its time, and to whoever looks from now on what was written meanwhile is no change.
  if (lastGood !== undefined && lastGood.text !== readOf(initial).text) await (running = attempt(lastGood))
  const { text } = isReadOnce ? readOf(current) : await readConfigFile(where()).catch((): ConfigRead => ({}))
  if (text !== readOf(current).text) await reload()
  return {
    current: () => current,
    reload,
    close: () => {
      for (const path of files) unwatchFile(path, look)
      process.off('SIGHUP', trigger)
    },
  }
}

const READ_ONCE = 'is no file that can be read again; a change needs a new process, or --config with a file'

const isFile = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isFile(),
    // One that is gone may come back.
    () => true,
  )

/** What takes effect only with a new process, by its path in the file. */
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
  // Of endpoints it counts at once; what is known of keys is kept as at the start.
  'routing.cooldown': ({ routing }) => routing.cooldown,
  'destinations.privacy_locked': ({ destinations }) => destinations.privacyLocked,
  'logging.level': ({ logging }) => logging.level,
  'logging.format': ({ logging }) => logging.format,
}

/** Settings that differ and take effect only with a new process, by their path in the file. */
export function restartNeeded(previous: Config, next: Config): readonly string[] {
  return Object.entries(READ_AT_START).flatMap(([path, read]) => (read(next) === read(previous) ? [] : [path]))
}
