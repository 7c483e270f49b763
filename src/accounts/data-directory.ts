import { chmod, chown, link, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { GatewayError } from '../core/error.ts'
import { syncDirectory, writeDurably } from '../lib/durable-file.ts'
import { randomId } from '../lib/id.ts'
import { Secret } from '../lib/secret.ts'
import { generateSecretKey, parseSecretKey } from './encryption.ts'

export interface DataDirectory {
  readonly path: string
  /** The embedded database. */
  readonly databaseFile: string
  /** Keys as hashes, for a start without the database. */
  readonly lastKnownGoodFile: string
  /** Callers' own provider keys, sealed, for the same. */
  readonly ownKeysFile: string
  /** The same for guardrails. */
  readonly guardrailsFile: string
  /** What presets set was, sealed. */
  readonly presetsFile: string
  readonly secretKey: Buffer
  /** Where the secret key comes from; `created` at the first start without one. */
  readonly secretKeySource: 'environment' | 'file' | 'created'
}

export interface DataDirectoryOptions {
  readonly path: string
  /** SIGNALBOX_SECRET_KEY, base64: then no key file is read or made. */
  readonly secretKey?: Secret
  /** For commands beside an installation that exists already: neither the directory nor a key is made. Default: both are. */
  readonly existing?: boolean
}

const SECRET_KEY_FILE = 'secret.key'
const OWNER_ONLY = 0o600
const OTHERS = 0o077

/** The embedded database of a data directory, which need not exist. */
export const databaseFileIn = (path: string): string => join(resolve(path), 'signalbox.db')

/**
 * Opens the data directory. Creates it (0700) and the secret key file (0600) if they are missing, and proves that it is writable. Several processes
 * may do so at once. Throws GatewayError `invalid_request` with what to set or repair.
 */
export async function openDataDirectory({ path, secretKey, existing = false }: DataDirectoryOptions): Promise<DataDirectory> {
  const absolute = resolve(path)
  try {
    if (!existing) await makeDirectory(absolute)
  } catch (error) {
    throw unusable(absolute, 'cannot be made', error)
  }
  await proveWritable(absolute)
  const files = {
    path: absolute,
    databaseFile: databaseFileIn(absolute),
    lastKnownGoodFile: join(absolute, 'last-known-good.json'),
    ownKeysFile: join(absolute, 'last-known-own-keys.json'),
    guardrailsFile: join(absolute, 'last-known-guardrails.json'),
    presetsFile: join(absolute, 'last-known-presets.json'),
  }
  if (secretKey) return { ...files, secretKey: parseSecretKey(secretKey, 'SIGNALBOX_SECRET_KEY'), secretKeySource: 'environment' }

  const file = join(absolute, SECRET_KEY_FILE)
  const kept = await readSecretKey(file)
  if (kept) return { ...files, secretKey: kept, secretKeySource: 'file' }
  if (existing) throw new GatewayError('not_found', `There is no secret key: SIGNALBOX_SECRET_KEY is not set, and there is no ${file}`)
  const created = await createSecretKey(file)
  return { ...files, secretKey: created.key, secretKeySource: created.won ? 'created' : 'file' }
}

/**
 * Creates missing parents as well. Node's `recursive` would try for ever, in a thread that cannot be stopped, if an existing directory accepts no
 * entries and reports them as missing (/proc).
 */
async function makeDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 })
  } catch (error) {
    const parent = dirname(path)
    if (codeOf(error) === 'ENOENT' && parent !== path && !(await isDirectory(parent))) {
      await makeDirectory(parent)
      return makeDirectory(path)
    }
    if (!(await isDirectory(path))) throw error
  }
}

const isDirectory = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )

/** What no retry mends; a disk that is full, for one, may have room again. */
const NOT_WRITABLE = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOTDIR'])

/** A database that cannot be made and keys that cannot be remembered would look like an outage, and lose records for as long as it "lasts". */
async function proveWritable(directory: string): Promise<void> {
  const probe = join(directory, `.writable.${randomId(8)}`)
  try {
    await writeFile(probe, '', { mode: OWNER_ONLY, flag: 'wx' })
  } catch (error) {
    if (NOT_WRITABLE.has(codeOf(error) ?? '')) throw notWritable(directory, directory, error)
  } finally {
    await rm(probe, { force: true }).catch(() => undefined)
  }
}

/** The error for a user without access to `file`, which is the data directory or in it. It names the user, and what to do. */
export function notWritable(directory: string, file: string, cause: unknown, what = 'cannot be written'): GatewayError {
  const code = codeOf(cause)
  const otherwise = 'or choose another with --data or SIGNALBOX_DATA_DIR'
  // The root of a container, as often as not: whoever owns it, nothing can be written there.
  if (code === 'EROFS') {
    const advice = `its file system is mounted read-only; mount one that can be written there, ${otherwise}`
    return new GatewayError('invalid_request', `${file} ${what} (EROFS): ${advice}`, { cause })
  }
  const uid = process.getuid?.()
  const user = uid === undefined ? 'the user this process runs as' : `user id ${uid}, which this process runs as`
  return new GatewayError(
    'invalid_request',
    `${file} ${what}${code === undefined ? '' : ` (${code})`}: the data directory and everything in it must belong to ${user}` +
      `${uid === undefined ? '' : ` (chown -R ${uid} ${directory})`}, ${otherwise}`,
    { cause },
  )
}

async function readSecretKey(file: string): Promise<Buffer | undefined> {
  try {
    const { mode } = await stat(file)
    if ((mode & OTHERS) !== 0) await chmod(file, OWNER_ONLY)
    return parseSecretKey(new Secret(await readFile(file, 'utf8')), file)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    if (error instanceof GatewayError) throw error
    if (NOT_WRITABLE.has(codeOf(error) ?? '')) throw notWritable(dirname(file), file, error, 'cannot be read')
    throw unusable(file, 'cannot be read, or not be kept from other users (mode 0600)', error)
  }
}

/** Whether `key` is in the file now; false where there was one already, which stays. */
const placeKey = (file: string, key: Secret): Promise<boolean> =>
  withDraft(file, key, (draft) =>
    link(draft, file).then(
      () => true,
      (error: unknown) => {
        if (codeOf(error) === 'EEXIST') return false
        throw error
      },
    ),
  )

/**
 * Written whole under another name, which `place` makes the file's: nobody ever reads half a key, of several processes one wins, and the disk has
 * it before the database holds anything that only this key opens.
 */
async function withDraft<T>(file: string, key: Secret, place: (draft: string) => Promise<T>): Promise<T> {
  const draft = `${file}.${randomId(8)}`
  try {
    await writeDurably(draft, `${key.reveal()}\n`)
    const placed = await place(draft)
    await syncDirectory(dirname(file))
    return placed
  } finally {
    await rm(draft, { force: true })
  }
}

async function createSecretKey(file: string): Promise<{ readonly key: Buffer; readonly won: boolean }> {
  try {
    const won = await placeKey(file, generateSecretKey())
    const key = await readSecretKey(file)
    if (!key) throw new GatewayError('invalid_request', `${file} disappeared while it was made`)
    return { key, won }
  } catch (error) {
    if (error instanceof GatewayError) throw error
    throw unusable(file, 'cannot be written', error)
  }
}

/**
 * A key on its way to becoming the key file's: written beside it before the database changes, moved over it afterwards. A crash in between
 * leaves both keys on disk, and the next rotation finishes the move.
 */
export interface StagedKey {
  readonly key: Buffer
  /** The key file from now on. */
  adopt(): Promise<void>
  discard(): Promise<void>
}

const stagedFile = (directory: string): string => join(directory, `${SECRET_KEY_FILE}.next`)

export async function stageSecretKey(directory: string, key: Secret): Promise<StagedKey> {
  const file = stagedFile(directory)
  const placed = await placeKey(file, key).catch((error: unknown) => {
    throw unusable(file, 'cannot be written', error)
  })
  if (!placed) throw new GatewayError('conflict', `${file} is there: another rotation is under way; try again when it has ended`)
  return toStaged(directory, parseSecretKey(key, file))
}

/** What an interrupted rotation left behind. */
export async function findStagedKey(directory: string): Promise<StagedKey | undefined> {
  const key = await readSecretKey(stagedFile(directory))
  return key && toStaged(directory, key)
}

function toStaged(directory: string, key: Buffer): StagedKey {
  return {
    key,
    async adopt() {
      const file = join(directory, SECRET_KEY_FILE)
      // An administrator may rotate as root, but the gateway runs as another user and has to read the key. Without the right to change the owner the
      // file is still written.
      const owner = await stat(file).catch(() => undefined)
      const moveFrom = async (draft: string): Promise<void> => {
        if (owner !== undefined && owner.uid !== process.getuid?.()) await chown(draft, owner.uid, owner.gid).catch(() => undefined)
        await rename(draft, file)
      }
      // The staged key may by now belong to another rotation, which saw that this one's is not in use and removed it.
      const staged = await readSecretKey(stagedFile(directory)).catch(() => undefined)
      if (!staged?.equals(key)) return withDraft(file, new Secret(key.toString('base64')), moveFrom)
      await moveFrom(stagedFile(directory))
      await syncDirectory(directory)
    },
    discard: () => rm(stagedFile(directory), { force: true }),
  }
}

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined

function unusable(path: string, what: string, cause: unknown): GatewayError {
  const reason = codeOf(cause)
  return new GatewayError(
    'invalid_request',
    `${path} ${what}${reason === undefined ? '' : ` (${reason})`}; choose another data directory with --data or SIGNALBOX_DATA_DIR`,
    { cause },
  )
}
