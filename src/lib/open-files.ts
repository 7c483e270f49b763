import { readFileSync } from 'node:fs'

/** How many files and sockets the process may have open; undefined where the system does not say (only Linux does so cheaply). */
export function openFilesLimit(path = '/proc/self/limits'): number | undefined {
  let limits: string
  try {
    limits = readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
  const soft = /^Max open files\s+(\d+)/m.exec(limits)?.[1]
  return soft === undefined ? undefined : Number(soft)
}
