// Where the bundle is, and whether it is of the sources beside it. Shared by the entry and scripts/build.ts; JavaScript for the reason the
// entry gives.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const SOURCES = join(ROOT, 'src')
const CONSOLE = join(ROOT, 'console')
/** `current.json` in it names the fingerprint of the sources and the folder that was made of them. */
export const BUNDLES = join(ROOT, 'dist')

/**
 * Every file under a folder that is no test. By hand: Node's own recursive listing takes eight times as long, and every start waits for it.
 * @param {string} folder
 * @param {RegExp} kind
 * @returns {Generator<string>}
 */
function* sourceFiles(folder, kind) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) yield* sourceFiles(path, kind)
    else if (kind.test(path) && !path.endsWith('.test.ts')) yield path
  }
}

/** Changes with every edit of the sources or the lockfile; undefined where there are no sources, as in an image. */
export const fingerprint = () => fingerprintOf(SOURCES, /\.ts$/)
/** The same of the web console. */
export const consoleFingerprint = () => fingerprintOf(CONSOLE, /./)

/**
 * @param {string} folder
 * @param {RegExp} kind
 */
function fingerprintOf(folder, kind) {
  if (statSync(folder, { throwIfNoEntry: false }) === undefined) return undefined
  let files = 0
  let bytes = 0
  let newest = 0
  for (const file of [join(ROOT, 'package-lock.json'), ...sourceFiles(folder, kind)]) {
    const { size, mtimeMs } = statSync(file, { throwIfNoEntry: false }) ?? { size: 0, mtimeMs: 0 }
    files++
    bytes += size
    newest = Math.max(newest, mtimeMs)
  }
  return `${files} files, ${bytes} bytes, ${newest}`
}

/**
 * What was built last, of a kind. Throws where nothing was.
 * @param {'current' | 'console'} kind
 */
export const lastBuild = (kind, dist = BUNDLES) =>
  /** @type {{ sources: string, folder: string }} */ (JSON.parse(readFileSync(join(dist, `${kind}.json`), 'utf8')))

/** The folder of the bundle, or undefined: there is none, or the sources have changed since it was made. */
export function currentBundle() {
  try {
    const { sources, folder } = lastBuild('current')
    const now = fingerprint()
    return now === undefined || now === sources ? join(BUNDLES, folder) : undefined
  } catch {
    return undefined
  }
}

/** Whether what is served is the console of these sources. Only who builds asks: whoever serves takes what there is. */
export function isConsoleCurrent() {
  try {
    return lastBuild('console').sources === consoleFingerprint()
  } catch {
    return false
  }
}
