import { noteMove } from '../accounts/moved-database.ts'
import { loadConfig } from '../config/load.ts'
import { GatewayError } from '../core/error.ts'
import { systemClock } from '../lib/clock.ts'
import { copySqlite } from '../store/copy-sqlite.ts'
import { usableDatabaseIn } from '../wiring/boot.ts'
import type { Overrides } from './overrides.ts'
import { createProgress } from './progress.ts'
import { storeOptions } from './serve.ts'

const line = (text: string): void => void process.stdout.write(`${text}\n`)

/** `signalbox migrate --from-sqlite`: copies the embedded database of the data directory into the configured PostgreSQL database. */
export async function copyFromSqlite(overrides: Overrides): Promise<void> {
  const config = await loadConfig(storeOptions(overrides))
  const { url } = config.storage
  if (url === undefined) {
    throw new GatewayError(
      'invalid_request',
      'There is no PostgreSQL database to copy to: set SIGNALBOX_DATABASE_URL (or storage.url) to an empty one',
    )
  }
  outliveOutput()
  // Also one that was copied before: the other copy may have been a trial.
  const path = await usableDatabaseIn(config.dataDir)
  const progress = createProgress({ stream: process.stderr, clock: systemClock })
  try {
    await copySqlite({
      path,
      url,
      clock: systemClock,
      onRows: (table, rows) => progress.show(() => `${table}: ${rows} rows so far`),
      onTable: (table, rows) => {
        progress.end()
        line(`${table}: ${rows} ${rows === 1 ? 'row' : 'rows'}`)
      },
    })
  } finally {
    progress.end()
  }
  line(`${path} was copied and is unchanged. Start the gateway with the PostgreSQL database and the same secret key.`)
  const note = await noteMove(config.dataDir).catch(() => undefined)
  line(note === undefined ? `Start none with ${path} any more.` : `Nothing uses ${path} any more, unless you delete ${note}.`)
}

/** The copy matters more than what is said about it: the reader may be gone, or the disk of the output full. Other commands end then. */
function outliveOutput(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.removeAllListeners('error')
    stream.on('error', () => undefined)
  }
}
