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
  /** Callers' own provider keys, sealed, for a start without the database. */
  readonly ownKeysFile: string
  /** Guardrails, for a start without the database. */
  readonly guardrailsFile: string
  /** Presets, with sealed content, for a start without the database. */
  readonly presetsFile: string
  readonly secretKey: Buffer
  /** The source of the secret key; `created` at a first start without one. */
  readonly secretKeySource: 'environment' | 'file' | 'created'
}

export interface DataDirectoryOptions {
  readonly path: string
  /** SIGNALBOX_SECRET_KEY in base64. If it is set, no key file is read or made. */
  readonly secretKey?: Secret
  /** For commands that work on an existing installation: neither the directory nor a key is created. By default both are. */
  readonly existing?: boolean
}

const SECRET_KEY_FILE = 'secret.key'
const OWNER_ONLY = 0o600
const OTHERS = 0o077

/** The path of the embedded database in a data directory; the file need not exist. */
export const databaseFileIn = (path: string): string => join(resolve(path), 'signalbox.db')

/**
 * Opens the data directory, creates it (0700) and the secret key file (0600) if they are missing, and proves that it is writable. Safe when several
 * processes do so at once. Throws GatewayError `invalid_request` with what to set or repair.
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
  const storedKey = await readSecretKey(file)
  if (storedKey) return { ...files, secretKey: storedKey, secretKeySource: 'file' }
  if (existing) throw new GatewayError('not_found', `There is no secret key: SIGNALBOX_SECRET_KEY is not set, and there is no ${file}`)
  const created = await createSecretKey(file)
  return { ...files, secretKey: created.key, secretKeySource: created.won ? 'created' : 'file' }
}

/**
 * Also creates missing parent directories. Node's recursive mkdir loops for ever, in a thread that cannot be stopped, if an existing directory
 * accepts no entries and reports ENOENT (/proc).
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

/** Errors that no retry resolves. Others may pass: a full disk may have space again. */
const NOT_WRITABLE = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOTDIR'])

/** If the database could not be created or keys not be saved, it would look like an outage, and records would be lost for as long as it "lasts". */
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

/** The error for a user without access to `file`, which is the data directory or inside it. It names the user and what to do. */
export function notWritable(directory: string, file: string, cause: unknown, what = 'cannot be written'): GatewayError {
  const code = codeOf(cause)
  const otherwise = 'or choose another with --data or SIGNALBOX_DATA_DIR'
  // This is often the root file system of a container: nothing can be written there, whoever owns it.
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

/** Whether `key` is in the file now. False if there was a key before, which stays. `owner`: a file whose owner it gets. */
const placeKey = (file: string, key: Secret, owner = file): Promise<boolean> =>
  withDraft(file, key, async (draft) => {
    await giveToOwnerOf(owner, draft)
    return link(draft, file).then(
      () => true,
      (error: unknown) => {
        if (codeOf(error) === 'EEXIST') return false
        throw error
      },
    )
  })

/**
 * When an administrator runs a command, the gateway must still be able to read the key as another user. If changing the owner is not permitted, the
 * key is put in place all the same.
 */
async function giveToOwnerOf(file: string, draft: string): Promise<void> {
  const owner = await stat(file).catch(() => undefined)
  if (owner !== undefined && owner.uid !== process.getuid?.()) await chown(draft, owner.uid, owner.gid).catch(() => undefined)
}

/**
 * Writes the whole key under another name, which `place` then turns into the file's. Nobody ever reads half a key, one of several processes wins, and
 * the key is on disk before the database contains anything that only it can open.
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

/**
 * Removes the key file that `openDataDirectory` has just created, if the database belongs to another key. It would look like the right one to whoever
 * restores the installation, and to the next start.
 */
export async function discardCreatedKey({ path, secretKeySource }: Pick<DataDirectory, 'path' | 'secretKeySource'>): Promise<void> {
  if (secretKeySource === 'created') await rm(join(path, SECRET_KEY_FILE), { force: true })
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
 * A key that is about to replace the key file: it is written next to the file before the database changes, and moved over it afterwards. A crash in
 * between leaves both keys on disk, and the next rotation finishes the move.
 */
export interface StagedKey {
  readonly key: Buffer
  /** Makes it the key file. */
  adopt(): Promise<void>
  discard(): Promise<void>
}

const stagedFile = (directory: string): string => join(directory, `${SECRET_KEY_FILE}.next`)

export async function stageSecretKey(directory: string, key: Secret): Promise<StagedKey> {
  const file = stagedFile(directory)
  const placed = await placeKey(file, key, join(directory, SECRET_KEY_FILE)).catch((error: unknown) => {
    throw unusable(file, 'cannot be written', error)
  })
  if (!placed) throw new GatewayError('conflict', `${file} is there: another rotation is under way; try again when it has ended`)
  return toStaged(directory, parseSecretKey(key, file))
}

/** The key that an interrupted rotation left behind. */
export async function findStagedKey(directory: string): Promise<StagedKey | undefined> {
  const key = await readSecretKey(stagedFile(directory))
  return key && toStaged(directory, key)
}

function toStaged(directory: string, key: Buffer): StagedKey {
  return {
    key,
    async adopt() {
      const file = join(directory, SECRET_KEY_FILE)
      const moveFrom = async (draft: string): Promise<void> => {
        await giveToOwnerOf(file, draft)
        await rename(draft, file)
      }
      // The staged file may meanwhile contain the key of another rotation, which saw that this key was not in use yet and discarded it.
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

/** What to do besides choosing another directory. */
const REMEDIES: ReadonlyMap<string, string> = new Map([
  ['ENOSPC', ': its disk is full; make room there, or'],
  ['EDQUOT', ': the disk quota is used up; make room there, or'],
  ['EEXIST', ': it is a file; move it away, or'],
  ['ENOTDIR', ': a part of its path is a file; move that away, or'],
])

function unusable(path: string, what: string, cause: unknown): GatewayError {
  const reason = codeOf(cause)
  const remedy = REMEDIES.get(reason ?? '') ?? ';'
  return new GatewayError(
    'invalid_request',
    `${path} ${what}${reason === undefined ? '' : ` (${reason})`}${remedy} choose another data directory with --data or SIGNALBOX_DATA_DIR`,
    { cause },
  )
}
