import { notWritable, type DataDirectory } from '../accounts/data-directory.ts'
import { GatewayError } from '../core/error.ts'
import { fileFaultOf, type FileFault } from '../store/index.ts'

const FAULTS: { readonly [F in Exclude<FileFault, 'denied'>]: string } = {
  directory: 'is a directory',
  'no-database': 'is not an SQLite database',
  damaged: 'is a damaged SQLite database, cut short or overwritten in part',
  'other-tables': 'is an SQLite database whose tables are not those of Signalbox',
}

/** The error that refuses a start when waiting cannot bring the embedded database back; undefined if it may. */
export function databaseRefusal(
  { path, databaseFile }: Pick<DataDirectory, 'path' | 'databaseFile'>,
  failure: GatewayError,
): GatewayError | undefined {
  const fault = fileFaultOf(failure)
  if (fault === undefined) return undefined
  if (fault === 'denied') return notWritable(path, databaseFile, failure.cause)
  const message =
    `${databaseFile} ${FAULTS[fault]}${fault === 'directory' ? '' : ` (${(failure.cause as Error).message})`}: restore it from a backup, or move it away ` +
    'together with its -wal and -shm files to begin with an empty one, or choose another data directory with --data or SIGNALBOX_DATA_DIR'
  return new GatewayError('invalid_request', message, { cause: failure.cause })
}
