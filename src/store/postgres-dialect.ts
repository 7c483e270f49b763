import { PostgresDialect, type Dialect, type PostgresPool, type PostgresPoolClient } from 'kysely'
import type pg from 'pg'
import type { Secret } from '../lib/secret.ts'
import { driverUrl } from './postgres-url.ts'

export interface PostgresDialectOptions {
  readonly url: Secret
  readonly maxConnections: number
  /** Milliseconds to wait for a connection, new or from the pool. */
  readonly connectLimitMs: number
  /** Milliseconds one statement may take, on the server and, a little longer, on the wire. */
  readonly statementLimitMs: number
}

/** How much longer than the server's own limit we wait for its answer: beyond it the network is gone. */
const WIRE_GRACE_MS = 2_000
/** Unused connections are kept this long. */
const IDLE_MS = 30_000
/** Milliseconds, tokens and counts are bigint columns, all far below 2^53: plain numbers on our side. */
const INT8 = 20
/** read_only_sql_transaction: none of ours is. */
const READ_ONLY = '25006'
/** Between two looks for another server while the one there is takes no writes: it may be the only one. */
const LOOK_ELSEWHERE_MS = 5_000

/**
 * Begins a statement that reads one row. Followers ask so every two seconds and have five to know of a change: without an answer within this
 * time the next question goes another way.
 */
export const QUICK = '/* quick */'
const QUICK_MS = 900
/**
 * The server ends it a little sooner. Where it waits, for a table that somebody has locked or a disk that stands still, it would not learn that we
 * have left, and what was asked every second would hold a connection each for as long as a statement may take: all that it has, and nobody else's would get in.
 */
const QUICKLY = `set local statement_timeout = ${QUICK_MS - 100}; `
/** Behind each of them. Who only reads never learns otherwise that another server is the first by now: what the old one says has been true. */
const STILL_FIRST = '; show transaction_read_only'
/** What the server has nothing to do for: without an answer the connection leads nowhere, and what was to follow goes through another. */
const BEGIN = 'begin'
const BEGIN_MS = 2_000
/** As our transactions are meant, whatever the database or the role has as its default: under a stricter one every second of two at a time would fail. */
const BEGIN_AS_MEANT = 'begin isolation level read committed'
/** protocol_violation, feature_not_supported: what poolers say of a connection that asks for settings of its own. */
const NO_SETTINGS = new Set(['08P01', '0A000'])

/** too_many_connections: of the server, of the database or of the role. */
const NO_ROOM = '53300'
/** What poolers say of the same, under the code above. */
const NO_ROOM_AT_POOLER = /no more connections allowed/
/** How long a pool makes do with the connections it has before it asks for more again. */
const MAKE_DO_MS = 5_000

/** PostgreSQL behind kysely, through a pool with a bound on everything. */
export function postgresDialect(options: PostgresDialectOptions): Dialect {
  return new PostgresDialect({ pool: async () => createPool((await import('pg')).default, options) })
}

function createPool(driver: typeof pg, { url, maxConnections, connectLimitMs, statementLimitMs }: PostgresDialectOptions): PostgresPool {
  const types = new driver.TypeOverrides()
  types.setTypeParser(INT8, Number)
  // The second also ends the locks of a process that stopped in the middle of a transaction.
  const limits = { statement_timeout: statementLimitMs, idle_in_transaction_session_timeout: statementLimitMs + WIRE_GRACE_MS }
  const pool = new driver.Pool({
    connectionString: driverUrl(url),
    max: maxConnections,
    connectionTimeoutMillis: connectLimitMs,
    idleTimeoutMillis: IDLE_MS,
    ...limits,
    query_timeout: statementLimitMs + WIRE_GRACE_MS,
    keepAlive: true,
    application_name: 'signalbox',
    types,
  })
  // A connection that breaks is dropped; whoever uses it, or asks next, gets the error or a fresh one. Without a listener for as long as
  // the client lives (in use, between uses, while it is being closed) the event would end the process.
  pool.on('error', () => undefined)
  pool.on('connect', (client) => client.on('error', () => undefined))
  const trust = createTrust()
  const begin = [BEGIN_AS_MEANT, ...Object.entries(limits).map(([name, ms]) => `set local ${name} = ${ms}`)].join('; ')
  let takesSettings = true
  const makeDo = shareWhatIsThere(pool, maxConnections)
  const connect = async (): Promise<PostgresPoolClient> => {
    const until = performance.now() + connectLimitMs
    for (;;) {
      const asked = takesSettings
      try {
        const client = await pool.connect()
        if (trust.holds(client)) return guardClient(driver, client, trust, takesSettings ? BEGIN_AS_MEANT : begin)
        client.release(true)
      } catch (error) {
        const code = error instanceof driver.DatabaseError ? error.code : undefined
        if (isWithoutRoom(error, code) && performance.now() < until && makeDo()) continue
        if (!asked || !NO_SETTINGS.has(code ?? '') || isWithoutRoom(error, code)) throw error
        // A pooler, whose connections are everybody's: what is set there would be found by others. Each transaction sets what it needs.
        takesSettings = false
        for (const name of Object.keys(limits)) delete pool.options[name as keyof typeof limits]
      }
    }
  }
  return { connect, end: () => pool.end(), options: pool.options }
}

const isWithoutRoom = (error: unknown, code: string | undefined): boolean =>
  code === NO_ROOM || (NO_SETTINGS.has(code ?? '') && error instanceof Error && NO_ROOM_AT_POOLER.test(error.message))

/**
 * For a server that has no room for another connection: those that are there are taken in turns, and whoever waits for one is served. Returns
 * what begins that for a while, and says whether there are any.
 */
function shareWhatIsThere(pool: pg.Pool, maxConnections: number): () => boolean {
  let open = 0
  let widening: NodeJS.Timeout | undefined
  pool.on('connect', () => open++)
  pool.on('remove', () => open--)
  return () => {
    if (open === 0) return false
    pool.options.max = Math.min(open, maxConnections)
    widening ??= setTimeout(() => {
      widening = undefined
      pool.options.max = maxConnections
    }, MAKE_DO_MS).unref()
    return true
  }
}

/** Which connections are worth asking. */
interface Trust {
  readonly holds: (client: pg.PoolClient) => boolean
  readonly answered: (client: pg.PoolClient) => void
  /** A question of this time went unanswered. */
  readonly doubt: (askedAt: number) => void
  /** A server that takes no writes answered: whether to ask over new connections, which may find the one that does. */
  readonly lookElsewhere: () => boolean
}

/**
 * A firewall or a moved address forgets all connections at once, and says so of none. Where a short question or the begin of a transaction finds one of them dead, those that
 * have been silent since are closed unasked when their turn comes, instead of each holding up somebody for as long as a statement may take.
 */
function createTrust(): Trust {
  const answeredAt = new WeakMap<pg.PoolClient, number>()
  let doubtedAt = -Infinity
  let soughtAt = -Infinity
  return {
    // One that was never asked is new.
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
 * A connection whose answer never came is still waiting for it: it must not go back to the pool, where the next user would wait behind it. One
 * that refuses writes leads to what was the first server before a failover; it is as lively as ever, and a new one may find the server that is now.
 */
function guardClient(driver: typeof pg, client: pg.PoolClient, trust: Trust, begin: string): PostgresPoolClient {
  let broken = false
  const query = async (text: string, values: unknown[]): Promise<unknown> => {
    const isQuick = text.startsWith(QUICK)
    const shortMs = isQuick ? QUICK_MS : text === BEGIN ? BEGIN_MS : undefined
    const sent = isQuick ? QUICKLY + text + STILL_FIRST : text === BEGIN ? begin : text
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
  return { query: query as PostgresPoolClient['query'], release: (destroy) => client.release(broken || destroy) }
}
