import { GatewayError, isGatewayError, type ErrorType } from '../core/error.ts'
import { defined } from '../lib/defined.ts'

/** What went wrong, for either database: a constraint, a value that is refused, or the database itself, as far as it says why. */
type Fault = 'unique' | 'foreign-key' | 'data' | 'full' | 'read-only' | 'damaged' | 'other-tables' | 'crowded' | 'unavailable'

const MESSAGES: { readonly [F in Fault]: readonly [ErrorType, string] } = {
  unique: ['conflict', 'It exists already'],
  'foreign-key': ['not_found', 'What it belongs to does not exist'],
  data: ['server', 'The database refused the data'],
  full: ['provider_overloaded', 'The disk of the database is full, so nothing can be stored: its operator has to make room'],
  'read-only': ['provider_overloaded', 'The database takes no writes at the moment (it is read-only): its operator has to look at it'],
  damaged: ['provider_overloaded', 'The database is damaged and cannot be used: its operator has to restore it from a backup'],
  'other-tables': [
    'provider_overloaded',
    'The database lacks a table or column of this version, as a restored backup of an earlier one does: its operator has to run signalbox migrate',
  ],
  crowded: [
    'provider_overloaded',
    'The database has no room for another connection: try again, or its operator has to raise max_connections or the limit of the role or of the pooler',
  ],
  unavailable: ['provider_overloaded', 'The database cannot be used at the moment; try again'],
}

/** SQLite's extended result codes, then primary ones (the low byte), https://www.sqlite.org/rescode.html. */
const SQLITE_FAULTS: ReadonlyMap<number, Fault> = new Map<number, Fault>([
  [787, 'foreign-key'],
  [1555, 'unique'],
  [2067, 'unique'],
  [2579, 'unique'],
  [8, 'read-only'],
  [11 /* malformed */, 'damaged'],
  [13, 'full'],
  [18 /* too big */, 'data'],
  [19 /* constraint */, 'data'],
  [20 /* mismatch */, 'data'],
  [25 /* range */, 'data'],
  [26 /* no database */, 'damaged'],
])

/** Codes of PostgreSQL, of the system and of the driver. */
const NAMED_FAULTS: ReadonlyMap<string, Fault> = new Map<string, Fault>([
  ['23505', 'unique'],
  ['23503', 'foreign-key'],
  ['25006', 'read-only'],
  ['42P01', 'other-tables'],
  ['42703', 'other-tables'],
  ['53100', 'full'],
  ['ENOSPC', 'full'],
  ['EDQUOT', 'full'],
  ['XX001', 'damaged'],
  ['XX002', 'damaged'],
  ['ERR_INVALID_ARG_TYPE', 'data'],
  ['ERR_INVALID_ARG_VALUE', 'data'],
])

/** What poolers say instead of 53300, under codes that say something else in general. */
const NO_ROOM_AT_POOLER = /no more connections allowed/

/** Whether the server, the database, the role or a pooler has no connection left. */
export const isWithoutRoom = (error: object): boolean =>
  'code' in error &&
  (error.code === '53300' || (/^(?:08P01|0A000)$/.test(String(error.code)) && 'message' in error && NO_ROOM_AT_POOLER.test(String(error.message))))

function faultOf(error: object): Fault {
  const errcode = 'errcode' in error ? error.errcode : undefined
  if (typeof errcode === 'number') return SQLITE_FAULTS.get(errcode) ?? SQLITE_FAULTS.get(errcode & 0xff) ?? 'unavailable'
  const code = 'code' in error ? error.code : undefined
  if (typeof code !== 'string') return 'unavailable'
  if (isWithoutRoom(error)) return 'crowded'
  // Classes 22 (data), 23 (constraints) and 54 (limits) are faults of the row. Everything else, a missing table included, is the database's.
  return NAMED_FAULTS.get(code) ?? (/^(22|23|54)...$/.test(code) ? 'data' : 'unavailable')
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

/** PostgreSQL has ended this transaction so that another one could go on. */
export function isDeadlock(error: unknown): boolean {
  const { cause } = isGatewayError(error) ? error : {}
  return cause instanceof Error && 'code' in cause && cause.code === '40P01'
}
