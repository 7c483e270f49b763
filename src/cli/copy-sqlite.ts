import { databaseFileIn } from '../accounts/data-directory.ts'
import { loadConfig } from '../config/load.ts'
import { GatewayError } from '../core/error.ts'
import { systemClock } from '../lib/clock.ts'
import { copySqlite } from '../store/copy-sqlite.ts'
import { openExistingStore } from '../wiring/boot.ts'
import type { Overrides } from './overrides.ts'
import { storeOptions } from './serve.ts'

const line = (text: string): void => void process.stdout.write(`${text}\n`)

/** `signalbox migrate --from-sqlite`: copies the embedded database of the data directory into the configured PostgreSQL database. */
export async function copyFromSqlite(overrides: Overrides): Promise<void> {
  const config = await loadConfig(storeOptions(overrides))
  const { url, ...storage } = config.storage
  if (url === undefined) {
    throw new GatewayError(
      'invalid_request',
      'There is no PostgreSQL database to copy to: set SIGNALBOX_DATABASE_URL (or storage.url) to an empty one',
    )
  }
  // Throws if the file is missing or may not be used.
  await (await openExistingStore({ ...config, storage })).close()
  const path = databaseFileIn(config.dataDir)
  await copySqlite({ path, url, clock: systemClock, onTable: (table, rows) => line(`${table}: ${rows} ${rows === 1 ? 'row' : 'rows'}`) })
  line(`${path} was copied and is unchanged. Start the gateway with the PostgreSQL database and the same secret key.`)
}
