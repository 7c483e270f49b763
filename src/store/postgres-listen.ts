import type pg from 'pg'
import { ceiling } from '../lib/backoff.ts'
import { throttled } from '../lib/throttled.ts'
import type { Secret } from '../lib/secret.ts'
import { driverUrl } from './postgres-url.ts'

/** Notifications carry the schema, because installations may share a database. */
export const CHANNEL = 'signalbox_configuration'

const BACKOFF = { baseMs: 250, maxMs: 10_000 }
const CONNECT_LIMIT_MS = 3_000
/**
 * A connection that only listens does not notice when it is dead: firewalls and load balancers forget idle connections, some within minutes, and tell
 * neither side. A regular query keeps it alive, and detects when it is not.
 */
const PROBE = { everyMs: 10_000, limitMs: 3_000 }
/**
 * Each notification makes every process read everything that may have changed, and one changed row is enough for a notification. So the first of several
 * changes is told at once, and those that follow closely are told together.
 */
const TELL_EVERY_MS = 500
/** A server that accepts bytes and answers nothing never ends the connection. */
const END_LIMIT_MS = 1_000
/** A standby sends no notifications: if the server takes no writes, another one may be the primary by now. */
const STILL_FIRST = 'show transaction_read_only'

/**
 * Calls `onChange` after every committed change of configuration, and after every reconnection, when one may have been missed. Uses a connection of
 * its own, which is reopened when it breaks. Never fails: its users also poll, and this only makes them faster.
 */
export function listenForChanges(url: Secret, onChange: () => void, probe: typeof PROBE = PROBE): { close(): Promise<void> } {
  let client: pg.Client | undefined
  let probing: NodeJS.Timeout | undefined
  let timer: NodeJS.Timeout | undefined
  let failures = 0
  let closed = false
  const notify = throttled(onChange, TELL_EVERY_MS)

  const later = (): void => void (timer = setTimeout(() => void connect(), ceiling(failures++, BACKOFF)).unref())

  const connect = async (): Promise<void> => {
    // Loaded here, because installations with SQLite do not need it.
    const { Client } = (await import('pg')).default
    if (closed) return
    let fresh: pg.Client
    try {
      fresh = new Client({
        connectionString: driverUrl(url),
        connectionTimeoutMillis: CONNECT_LIMIT_MS,
        query_timeout: probe.limitMs,
        keepAlive: true,
        application_name: 'signalbox-listen',
      })
    } catch {
      // It reads certificates that the URL names.
      return later()
    }
    let schema: string | undefined
    let over = false
    const again = (): void => {
      if (over) return
      over = true
      clearTimeout(probing)
      if (client === fresh) client = undefined
      void endWithin(END_LIMIT_MS, fresh)
      if (!closed) later()
    }
    // Each probe waits for the one before it: the next major version of the driver refuses queries side by side.
    const probeLater = (): void => {
      probing = setTimeout(
        () =>
          void fresh.query<{ transaction_read_only: string }>(STILL_FIRST).then(({ rows }) => {
            if (rows[0]?.transaction_read_only === 'on') again()
            else if (!over && !closed) probeLater()
          }, again),
        probe.everyMs,
      ).unref()
    }
    fresh.on('error', again)
    fresh.on('end', again)
    fresh.on('notification', ({ channel, payload }) => {
      if (channel === CHANNEL && payload === schema) notify.ask()
    })
    client = fresh
    try {
      await fresh.connect()
      const { rows } = await fresh.query<{ schema: string }>(`select current_schema() as schema`)
      schema = rows[0]?.schema
      await fresh.query(`listen ${CHANNEL}`)
      if (over || closed) return
      failures = 0
      probeLater()
      notify.ask()
    } catch {
      again()
    }
  }

  void connect()
  return {
    close: async () => {
      closed = true
      notify.end()
      clearTimeout(timer)
      clearTimeout(probing)
      if (client !== undefined) await endWithin(END_LIMIT_MS, client)
    },
  }
}

async function endWithin(limitMs: number, client: pg.Client): Promise<void> {
  const { promise: timedOut, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(() => {
    client.connection.stream.destroy()
    resolve()
  }, limitMs)
  await Promise.race([client.end().catch(() => undefined), timedOut])
  clearTimeout(timer)
}
