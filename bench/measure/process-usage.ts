import { readdirSync, readFileSync } from 'node:fs'

/** Clock ticks per second of /proc/PID/stat: 100 on every Linux the kernel's ABI knows (USER_HZ). */
const TICKS_PER_SECOND = 100

/** Fields of /proc/PID/stat after the command's name, which may contain spaces and brackets. */
function stat(pid: number): readonly string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch {
    return undefined
  }
}

/** The process and all its descendants. */
export function processTree(root: number): readonly number[] {
  const children = new Map<number, number[]>()
  for (const entry of readdirSync('/proc')) {
    const pid = Number(entry)
    if (!Number.isInteger(pid)) continue
    const parent = Number(stat(pid)?.[1])
    if (Number.isInteger(parent)) children.set(parent, [...(children.get(parent) ?? []), pid])
  }
  const tree = [root]
  for (let i = 0; i < tree.length; i++) tree.push(...(children.get(tree[i]!) ?? []))
  return tree
}

/** Total user and system time of the processes, all threads, in seconds, with a resolution of 10 ms. */
export function cpuSeconds(pids: readonly number[]): number {
  let ticks = 0
  for (const pid of pids) {
    const fields = stat(pid)
    if (fields !== undefined) ticks += Number(fields[11]) + Number(fields[12])
  }
  return ticks / TICKS_PER_SECOND
}

/** Resident memory of the processes, in KB. */
export function residentKb(pids: readonly number[]): number {
  let sum = 0
  for (const pid of pids) {
    try {
      sum += Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)
    } catch {
      // The process has ended since the tree was read, and holds no memory.
    }
  }
  return sum
}
