import { constants, mkdir, open, realpath, rename, rm, stat, type FileHandle } from 'node:fs/promises'
import { basename, dirname, join, sep } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { z } from 'zod'
import type { Destination, DestinationContext, OutgoingRequest, OutgoingResponse } from '../core/destination.ts'
import { toGenerationEvent } from './shared/generation-event.ts'
import { destinationSettings, HEADER_SECRETS } from './shared/settings.ts'

const settings = destinationSettings({
  path: z
    .string()
    .max(200)
    .regex(/^[A-Za-z0-9_-][A-Za-z0-9._-]*(\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/, 'a relative path of letters, digits, dot, dash and underscore')
    .default('generations.ndjson')
    .describe("File below the workspace's folder in the operator's directory, one JSON object per line."),
  rotateBytes: z
    .number()
    .int()
    .min(1_000_000)
    .max(10_000_000_000)
    .default(100_000_000)
    .describe('Size at which the file is renamed to `<path>.1`, replacing the previous one, and a new file begins.'),
})
type FileSettings = z.output<typeof settings>

/** The file itself must not be a link either. */
const APPEND = constants.O_APPEND | constants.O_CREAT | constants.O_RDWR | constants.O_NOFOLLOW
const ALONE = constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY
const ROTATE_HEADER = 'x-rotate-bytes'
const LINE_END = Buffer.from('\n')
/** Renaming is instant, so a lock file of this age belongs to a process that was killed. */
const STALE_MS = 60_000
/** A partial line that has not grown for this long was left behind. One that grows is checked again, up to this number of times. */
const HALF_LINE_MS = 20
const HALF_LINE_LOOKS = 50

/** Lines in a file, for people who just want to look. Needs a directory that the operator provides. */
export const file: Destination<FileSettings> = {
  type: 'file',
  name: 'File',
  settings,
  secrets: [HEADER_SECRETS],
  limits: { records: 500, bytes: 8_000_000, concurrency: 1 },
  encode: (batch, options) => [appendRequest(options, batch.map((record) => `${JSON.stringify(toGenerationEvent(record))}\n`).join(''))],
  probe: (options) => [{ name: 'open the file', request: appendRequest(options, '') }],
  transport: append,
}

function appendRequest({ path, rotateBytes }: FileSettings, body: string): OutgoingRequest {
  return { method: 'POST', url: `file:///${path}`, headers: { [ROTATE_HEADER]: String(rotateBytes) }, body }
}

async function append(request: OutgoingRequest, context: DestinationContext): Promise<OutgoingResponse> {
  if (context.directory === undefined) return answer(403, 'files are switched off: the operator has not named a directory for them')
  const path = join(context.directory, new URL(request.url).pathname)
  await mkdir(dirname(path), { recursive: true })
  // A link below the directory may lead anywhere, and the schema cannot see this.
  const root = await realpath(context.directory)
  const folder = await realpath(dirname(path))
  if (folder !== root && !folder.startsWith(root + sep)) return answer(403, 'the path leaves the directory for files')
  await rotate(path, Number(request.headers[ROTATE_HEADER]), context.now)
  const handle = await open(path, APPEND, 0o600).catch((error: unknown) => {
    if (isCode(error, 'ELOOP')) return undefined
    throw error
  })
  if (handle === undefined) return answer(403, 'the path is a link')
  try {
    await appendWhole(handle, Buffer.from(request.body ?? ''))
  } finally {
    await handle.close()
  }
  return answer(200, '')
}

/**
 * Several processes may find the file full at the same time. A second rotation would rename the file that was just begun, and overwrite the one that was
 * full.
 */
async function rotate(path: string, limit: number, now: number): Promise<void> {
  if (!(await isFull(path, limit))) return
  // Names of owners' files never begin with a dot.
  const sign = join(dirname(path), `.${basename(path)}.rotating`)
  if (!(await takeSign(sign, now))) return
  try {
    if (await isFull(path, limit)) await rename(path, `${path}.1`)
  } finally {
    await rm(sign, { force: true })
  }
}

const isFull = (path: string, limit: number): Promise<boolean> =>
  stat(path).then(
    ({ size }) => size > 0 && size >= limit,
    () => false,
  )

/** Takes the lock file; false if another process has it. A lock file that was left behind is removed, so that the next attempt can take it. */
async function takeSign(sign: string, now: number): Promise<boolean> {
  try {
    await (await open(sign, ALONE, 0o600)).close()
    return true
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error
  }
  const since = await stat(sign).then(
    ({ mtimeMs }) => mtimeMs,
    () => now,
  )
  // The difference is absolute in case the clock was set back: until the clock had caught up, the file would grow without limit.
  if (Math.abs(now - since) > STALE_MS) await rm(sign, { force: true })
  return false
}

/** Appends in one write, because other processes append to the file as well, and their lines must not come between these. */
async function appendWhole(handle: FileHandle, bytes: Buffer): Promise<void> {
  if (bytes.length === 0) return
  const { size, endsInLine } = await findEnd(handle)
  const toWrite = endsInLine ? bytes : Buffer.concat([LINE_END, bytes])
  const { bytesWritten } = await handle.write(toWrite)
  if (bytesWritten === toWrite.length) return
  // A partial line would spoil the next one as well.
  if ((await handle.stat()).size === size + bytesWritten) await handle.truncate(size)
  throw new Error('there is no room for the file')
}

/**
 * Finds the end of the file. A process that was killed while writing, or a power failure, leaves a partial line, and the next line must not be appended to
 * it. A line that another process is just writing looks the same; then an empty line follows it.
 */
async function findEnd(handle: FileHandle): Promise<{ readonly size: number; readonly endsInLine: boolean }> {
  let { size } = await handle.stat()
  for (let looks = 0; looks < HALF_LINE_LOOKS; looks++) {
    if (await isLineEnd(handle, size)) return { size, endsInLine: true }
    await setTimeout(HALF_LINE_MS)
    const before = size
    ;({ size } = await handle.stat())
    if (size === before) break
  }
  return { size, endsInLine: false }
}

async function isLineEnd(handle: FileHandle, size: number): Promise<boolean> {
  if (size === 0) return true
  const { bytesRead, buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1)
  return bytesRead === 0 || buffer.equals(LINE_END)
}

const isCode = (error: unknown, code: string): boolean => error instanceof Error && 'code' in error && error.code === code

const answer = (status: number, text: string): OutgoingResponse => ({ status, headers: {}, body: Buffer.from(text) })
