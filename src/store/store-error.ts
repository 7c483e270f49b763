import { GatewayError, isGatewayError, type ErrorType } from '../core/error.ts'
import { defined } from '../lib/defined.ts'

/** What went wrong, for either database: a constraint, a value that is refused, or the database itself, which may have no room or take no writes. */
type Fault = 'unique' | 'foreign-key' | 'data' | 'full' | 'read-only' | 'unavailable'

const MESSAGES: { readonly [F in Fault]: readonly [ErrorType, string] } = {
  unique: ['conflict', 'It exists already'],
  'foreign-key': ['not_found', 'What it belongs to does not exist'],
  data: ['server', 'The database refused the data'],
  full: ['provider_overloaded', 'The disk of the database is full, so nothing can be stored: its operator has to make room'],
  'read-only': ['provider_overloaded', 'The database takes no writes at the moment (it is read-only): its operator has to look at it'],
  unavailable: ['provider_overloaded', 'The database cannot be used at the moment; try again'],
}

/** SQLite's extended result codes: primary code in the low byte, https://www.sqlite.org/rescode.html. */
const SQLITE_FOREIGN_KEY = 787
const SQLITE_READ_ONLY = 8
const SQLITE_FULL = 13
const SQLITE_UNIQUE = new Set([1555, 2067, 2579])
const SQLITE_DATA = new Set([18 /* too big */, 19 /* constraint */, 20 /* mismatch */, 25 /* range */])

/** PostgreSQL's disk_full, and what systems say. */
const NO_ROOM = new Set(['53100', 'ENOSPC', 'EDQUOT'])

function faultOf(error: object): Fault {
  const errcode = 'errcode' in error ? error.errcode : undefined
  if (typeof errcode === 'number') {
    if (SQLITE_UNIQUE.has(errcode)) return 'unique'
    if (errcode === SQLITE_FOREIGN_KEY) return 'foreign-key'
    const primary = errcode & 0xff
    if (primary === SQLITE_FULL) return 'full'
    if (primary === SQLITE_READ_ONLY) return 'read-only'
    return SQLITE_DATA.has(primary) ? 'data' : 'unavailable'
  }
  const code = 'code' in error ? error.code : undefined
  if (code === '23505') return 'unique'
  if (code === '23503') return 'foreign-key'
  if (typeof code === 'string' && NO_ROOM.has(code)) return 'full'
  if (code === '25006') return 'read-only'
  // Classes 22 (data), 23 (constraints) and 54 (limits) are faults of the row. Everything else, a missing table included, is the database's.
  if (typeof code === 'string' && /^(22|23|54)...$/.test(code)) return 'data'
  return code === 'ERR_INVALID_ARG_TYPE' || code === 'ERR_INVALID_ARG_VALUE' ? 'data' : 'unavailable'
}

/**
 * Any driver error as a GatewayError. Drivers quote whole rows in fields such as `detail`, and rows hold prompts, so only the code and the first line
 * of the message are kept.
 */
export function toStoreError(error: unknown): GatewayError {
  if (isGatewayError(error)) return error
  // JSON.parse quotes the text it could not read.
  if (error instanceof SyntaxError) return new GatewayError('server', 'A stored value is not valid JSON')
  const source = typeof error === 'object' && error !== null ? error : {}
  const code = 'code' in source && typeof source.code === 'string' ? source.code : undefined
  const cause = new Error(`${code === undefined ? '' : `${code}: `}${firstLine(source)}`)
  Object.assign(cause, defined({ code, errcode: 'errcode' in source ? source.errcode : undefined }))
  const [errorType, message] = MESSAGES[faultOf(source)]
  const details = errorType === 'provider_overloaded' ? ({ cause, retryAfterMs: 1_000, failover: 'never' } as const) : { cause }
  return new GatewayError(errorType, message, details)
}

function firstLine(error: object): string {
  // An AggregateError (every address of a host refused) has an empty message; its parts have the reasons.
  const message = error instanceof AggregateError ? error.errors.map(String).join('; ') : error instanceof Error ? error.message : 'unknown error'
  return message.split('\n', 1)[0]!.slice(0, 200)
}

/** Faults of an embedded database's file that a retry cannot mend, so that at a start they are no outage. */
export type FileFault = 'denied' | 'directory' | 'no-database' | 'damaged' | 'other-tables'

const FILE_FAULTS: ReadonlyMap<string | number, FileFault> = new Map<string | number, FileFault>([
  ['EACCES', 'denied'],
  ['EPERM', 'denied'],
  ['EROFS', 'denied'],
  ['ENOTDIR', 'denied'],
  ['EISDIR', 'directory'],
  // SQLite: read-only, cannot open, not a database, malformed, and a statement that does not fit the tables.
  [8, 'denied'],
  [14, 'denied'],
  [26, 'no-database'],
  [11, 'damaged'],
  [1, 'other-tables'],
])

/** Why the file of an embedded database cannot be used; undefined if the fault may pass. */
export function fileFaultOf({ cause }: GatewayError): FileFault | undefined {
  if (!(cause instanceof Error)) return undefined
  if ('errcode' in cause && typeof cause.errcode === 'number') return FILE_FAULTS.get(cause.errcode & 0xff)
  return 'code' in cause && typeof cause.code === 'string' ? FILE_FAULTS.get(cause.code) : undefined
}

/** True if the same data may be accepted later: the database was at fault, not the data. */
export function isStoreUnavailable(error: unknown): boolean {
  return !isGatewayError(error) || error.errorType === 'provider_overloaded'
}

/** Runs work against the database; its errors become GatewayErrors. */
export async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw toStoreError(error)
  }
}
