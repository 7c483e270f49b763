import { PostgresDialect, type Dialect, type PostgresPool, type PostgresPoolClient } from 'kysely'
import type pg from 'pg'
import type { Secret } from '../lib/secret.ts'
import { driverUrl } from './postgres-url.ts'
import { isWithoutRoom } from './store-error.ts'

export interface PostgresDialectOptions {
  readonly url: Secret
  readonly maxConnections: number
  /** Milliseconds to wait for a connection, new or from the pool. */
  readonly connectLimitMs: number
  /** Milliseconds one statement may take on the server; on the wire a little longer. */
  readonly statementLimitMs: number
}

/** How much longer than the server's own limit we wait for its answer; after that the network is gone. */
const WIRE_GRACE_MS = 2_000
/** Idle connections are kept this long. */
const IDLE_MS = 30_000
/** Milliseconds, tokens and counts are bigint columns, all far below 2^53, so they are parsed to plain numbers. */
const INT8 = 20
/** read_only_sql_transaction: a server that takes no writes. */
const READ_ONLY = '25006'
/** While the current server takes no writes, how often to look for another one; it may be the only one. */
const LOOK_ELSEWHERE_MS = 5_000

/**
 * Marks a statement that reads one row. Followers run one every two seconds and must see a change within five: if no answer comes within this time,
 * the next one goes over another connection.
 */
export const QUICK = '/* quick */'
const QUICK_MS = 900
/**
 * The server's limit is a little shorter. A statement that waits there, for a locked table or a stalled disk, would not notice that we have given up.
 * Each would hold a connection for the full statement limit, until the server has none left for anybody.
 */
const QUICKLY = `set local statement_timeout = ${QUICK_MS - 100}; `
/** Appended to each of them: after a failover, reads over an old connection still succeed, and this tells that its server is no longer the primary. */
const SHOW_READ_ONLY = '; show transaction_read_only'
/** Takes the server no time. Without an answer the connection is dead, and the transaction starts over another one. */
const BEGIN = 'begin'
const BEGIN_MS = 2_000
/** The isolation level we rely on, whatever the default of the database or role: under a stricter one, one of two concurrent transactions would often fail. */
const BEGIN_READ_COMMITTED = 'begin isolation level read committed'
/** protocol_violation, feature_not_supported: what poolers say to a connection that asks for settings of its own. */
const NO_SETTINGS = new Set(['08P01', '0A000'])

/** How long a pool manages with its existing connections before it asks for more again. */
const NO_ROOM_PAUSE_MS = 5_000

/** PostgreSQL for kysely, over a pool with a limit on everything. */
export function postgresDialect(options: PostgresDialectOptions): Dialect {
  return new PostgresDialect({ pool: async () => createPool((await import('pg')).default, options) })
}

function createPool(driver: typeof pg, { url, maxConnections, connectLimitMs, statementLimitMs }: PostgresDialectOptions): PostgresPool {
  const types = new driver.TypeOverrides()
  types.setTypeParser(INT8, Number)
  // The second limit also frees the locks of a process that was stopped in the middle of a transaction. The third never ends a wait before the first
  // does; it replaces a default of the database or role, under which changes that wait for each other would fail.
  const patience = statementLimitMs + WIRE_GRACE_MS
  const limits = { statement_timeout: statementLimitMs, idle_in_transaction_session_timeout: patience, lock_timeout: patience }
  const pool = new driver.Pool({
    connectionString: driverUrl(url),
    max: maxConnections,
    connectionTimeoutMillis: connectLimitMs,
    idleTimeoutMillis: IDLE_MS,
    ...limits,
    query_timeout: patience,
    keepAlive: true,
    application_name: 'signalbox',
    types,
  })
  // A broken connection is dropped: its user gets the error, and the next one a fresh connection. An `error` event without a listener would end the
  // process, so there is one for as long as the client lives: in use, idle, or closing.
  pool.on('error', () => undefined)
  pool.on('connect', (client) => client.on('error', () => undefined))
  const trust = createTrust()
  const begin = [BEGIN_READ_COMMITTED, ...Object.entries(limits).map(([name, ms]) => `set local ${name} = ${ms}`)].join('; ')
  let takesSettings = true
  const sharing = shareOpenConnections(pool, maxConnections)
  const connect = async (): Promise<PostgresPoolClient> => {
    const until = performance.now() + connectLimitMs
    for (;;) {
      const sentSettings = takesSettings
      try {
        const client = await pool.connect()
        if (trust.holds(client)) return guardClient(driver, client, trust, takesSettings ? BEGIN_READ_COMMITTED : begin, sharing)
        client.release(true)
      } catch (error) {
        const code = error instanceof driver.DatabaseError ? error.code : undefined
        const hasNoRoom = error instanceof driver.DatabaseError && isWithoutRoom(error)
        if (hasNoRoom && performance.now() < until && sharing.begin()) continue
        if (!sentSettings || !NO_SETTINGS.has(code ?? '') || hasNoRoom) throw error
        // A pooler shares its connections, so settings of one would affect others. Each transaction sets what it needs.
        takesSettings = false
        for (const name of Object.keys(limits)) delete pool.options[name as keyof typeof limits]
      }
    }
  }
  return { connect, end: () => pool.end(), options: pool.options }
}

/** What a pool does when its server has no room for another connection. */
interface Sharing {
  /** From now on its users take turns on the open connections, for a while. Returns whether there are any. */
  readonly begin: () => boolean
  /** Whether to close this connection, which its user gives back. */
  readonly isSpare: (client: pg.PoolClient) => boolean
}

/**
 * Others need connections, too, first of all the thread of this process that writes its records: a pool that kept what it has would never let it in,
 * because it uses all of them every few seconds. So each time the server is found full, a pool goes down to half, but keeps one.
 */
function shareOpenConnections(pool: pg.Pool, maxConnections: number): Sharing {
  const open = new Set<pg.PoolClient>()
  let widening: NodeJS.Timeout | undefined
  pool.on('connect', (client) => open.add(client))
  pool.on('remove', (client) => open.delete(client))
  return {
    begin: () => {
      if (open.size === 0) return false
      widening ??= setTimeout(() => {
        widening = undefined
        pool.options.max = maxConnections
      }, NO_ROOM_PAUSE_MS).unref()
      // A burst is refused several times at once, and halves only once.
      const kept = pool.options.max === maxConnections ? open.size >> 1 : open.size
      pool.options.max = Math.max(1, Math.min(pool.options.max, kept))
      return true
    },
    // `remove` comes when it has ended, and others may be given back before that.
    isSpare: (client) => open.size > pool.options.max && open.delete(client),
  }
}

/** Which connections are worth using. */
interface Trust {
  readonly holds: (client: pg.PoolClient) => boolean
  readonly answered: (client: pg.PoolClient) => void
  /** A statement sent at this time was not answered. */
  readonly doubt: (askedAt: number) => void
  /** A server that takes no writes has answered. Returns whether to try new connections, which may reach the primary. */
  readonly lookElsewhere: () => boolean
}

/**
 * A firewall or a moved address drops all connections at once, without telling anybody. When a quick statement or the beginning of a transaction
 * finds a dead one, connections that have been silent since are closed without being tried, instead of each holding somebody up for the full
 * statement limit.
 */
function createTrust(): Trust {
  const answeredAt = new WeakMap<pg.PoolClient, number>()
  let doubtedAt = -Infinity
  let soughtAt = -Infinity
  return {
    // A connection that was never used is new.
    holds: (client) => (answeredAt.get(client) ?? Infinity) >= doubtedAt,
    answered: (client) => void answeredAt.set(client, performance.now()),
    doubt: (askedAt) => (doubtedAt = Math.max(doubtedAt, askedAt)),
    lookElsewhere: () => {
      const now = performance.now()
      if (now - soughtAt < LOOK_ELSEWHERE_MS) return false
      doubtedAt = soughtAt = now
      return true
    },
  }
}

const isOnlyRead = (shown: unknown): boolean =>
  (shown as pg.QueryResult<{ readonly transaction_read_only: string }>).rows[0]?.transaction_read_only === 'on'

/**
 * A connection that still waits for an answer must not return to the pool, where its next user would wait behind that. One that refuses writes leads
 * to a server that was the primary before a failover; it works otherwise, but a new connection may find the primary.
 */
function guardClient(driver: typeof pg, client: pg.PoolClient, trust: Trust, begin: string, sharing: Sharing): PostgresPoolClient {
  let broken = false
  const query = async (text: string, values: unknown[]): Promise<unknown> => {
    const isQuick = text.startsWith(QUICK)
    const shortMs = isQuick ? QUICK_MS : text === BEGIN ? BEGIN_MS : undefined
    const sent = isQuick ? QUICKLY + text + SHOW_READ_ONLY : text === BEGIN ? begin : text
    const askedAt = performance.now()
    try {
      const answer: unknown = await client.query({ text: sent, values, ...(shortMs === undefined ? {} : { query_timeout: shortMs }) })
      trust.answered(client)
      if (!isQuick || !Array.isArray(answer)) return answer
      const [read, shown] = (answer as readonly unknown[]).slice(-2)
      broken ||= isOnlyRead(shown) && trust.lookElsewhere()
      return read
    } catch (error) {
      if (error instanceof driver.DatabaseError) {
        trust.answered(client)
        if (error.code === READ_ONLY) {
          broken = true
          trust.lookElsewhere()
        }
      } else {
        broken = true
        if (shortMs !== undefined) trust.doubt(askedAt)
      }
      throw error
    }
  }
  return { query: query as PostgresPoolClient['query'], release: (destroy) => client.release(broken || destroy || sharing.isSpare(client)) }
}
