import { createApp } from '../app.ts'
import { checkExposure } from '../config/exposure.ts'
import { loadConfig, type LoadOptions } from '../config/load.ts'
import { watchConfig } from '../config/watch.ts'
import { GatewayError } from '../core/error.ts'
import { createLogger } from '../telemetry/logger.ts'
import { banner } from './banner.ts'
import type { Overrides } from './overrides.ts'

export function loadOptions(overrides: Overrides): LoadOptions {
  const { config, data, port, host } = overrides
  return {
    env: process.env,
    overrides: { ...(data === undefined ? {} : { dataDir: data }), ...(port === undefined ? {} : { port }), ...(host === undefined ? {} : { host }) },
    ...(config === undefined ? {} : { file: config }),
  }
}

/**
 * `signalbox serve`: runs until a stop signal, then closes in order. A second signal ends the process at once.
 * Throws GatewayError with a sentence for the operator when it cannot start.
 */
export async function serve(overrides: Overrides): Promise<void> {
  const options = loadOptions(overrides)
  const config = await loadConfig(options)
  const refusal = checkExposure(config)
  if (refusal !== undefined) throw new GatewayError('invalid_request', refusal)
  const logger = createLogger(config.logging)
  const app = await createApp({ config, env: process.env, logger })
  const { url } = await listen(() => app.listen(), config.server.port)
  const catalog = app.catalog()
  process.stdout.write(
    banner({
      url,
      generated: app.boot.generated,
      models: catalog.models().length,
      providers: catalog.providers.map(({ slug }) => slug),
      dataDir: config.dataDir,
    }),
  )
  const watch = await watchConfig(config, options, {
    onChange: async (next, _previous, restart) => {
      await app.reload(next)
      logger.info(restart.length === 0 ? {} : { needs_restart: restart }, 'configuration reloaded')
    },
    onProblem: (error) => logger.error({}, `the configuration was not reloaded, the last good one stays in force: ${error.message}`),
  })
  const stop = (signal: NodeJS.Signals): void => {
    process.once(signal, () => process.exit(1))
    logger.info({ signal, calls: app.calls.size }, 'stopping')
    watch.close()
    app.close().then(
      () => process.exit(0),
      (error: unknown) => {
        logger.error({ error }, 'the stop failed')
        process.exit(1)
      },
    )
  }
  process.once('SIGTERM', stop)
  process.once('SIGINT', stop)
}

async function listen(open: () => Promise<{ readonly url: string }>, port: number): Promise<{ readonly url: string }> {
  try {
    return await open()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    throw new GatewayError('invalid_request', `Port ${port} is in use; choose another with --port or SIGNALBOX_PORT.`, { cause: error })
  }
}
