// Which builds in `dist` may be removed. A gateway loads some of its parts only when they are needed, so the builds that running gateways were
// started from stay. JavaScript because the entry imports it.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BUNDLES, lastBuild } from './bundle.js'

/** Builds of a kind that stay in any case: the last one, and the one before, which a page that is open may still load parts of. */
const KEPT = 2

/** One file per running gateway, named after its process id; it lists the folders the gateway uses. */
const marksIn = (/** @type {string} */ dist) => join(dist, 'in-use')

/** Called by a gateway that starts: builds leave its folders alone until it ends. Does nothing where `dist` cannot be written. */
export function keepBuilds(dist = BUNDLES) {
  const mark = join(marksIn(dist), String(process.pid))
  try {
    mkdirSync(marksIn(dist), { recursive: true })
    writeFileSync(mark, foldersOf(dist).join('\n'))
  } catch {
    return
  }
  process.once('exit', () => rmSync(mark, { force: true }))
}

/** @param {string} dist */
function foldersOf(dist) {
  return /** @type {const} */ (['current', 'console']).flatMap((kind) => {
    try {
      return [lastBuild(kind, dist).folder]
    } catch {
      // It was not built.
      return []
    }
  })
}

/**
 * Removes what no running gateway uses, except the newest.
 * @param {readonly string[]} newestFirst names of folders in `dist`, all of one kind of build
 */
export function removeOldBuilds(newestFirst, dist = BUNDLES) {
  const used = buildsInUse(marksIn(dist))
  for (const name of newestFirst.slice(KEPT)) if (!used.has(name)) rmSync(join(dist, name), { recursive: true, force: true })
}

/** @param {string} marks */
function buildsInUse(marks) {
  /** @type {Set<string>} */
  const folders = new Set()
  mkdirSync(marks, { recursive: true })
  for (const pid of readdirSync(marks)) {
    const mark = join(marks, pid)
    // A gateway that was killed could not remove its own.
    if (!isRunning(Number(pid))) rmSync(mark, { force: true })
    else for (const folder of foldersIn(mark)) folders.add(folder)
  }
  return folders
}

/** @param {string} mark */
function foldersIn(mark) {
  try {
    return readFileSync(mark, 'utf8').split('\n')
  } catch {
    // Its gateway has just ended.
    return []
  }
}

/** @param {number} pid */
function isRunning(pid) {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // It runs as somebody else.
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'EPERM'
  }
}
