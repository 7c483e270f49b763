import { readFileSync } from 'node:fs'

/** The limit of open files and sockets of this process. Undefined if the system does not tell (only Linux does so cheaply). */
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
