import { hostname } from 'node:os'
import type { DurableOutbox } from '../core/outbox.ts'

/**
 * Releases leases that nobody holds any more: those of this process, from a thread that died, and with an embedded database those of dead processes
 * on this machine. Those of other machines expire.
 */
export async function releaseGone(outbox: DurableOutbox, self: string, embedded: boolean): Promise<void> {
  for (const owner of await outbox.owners()) {
    const [host, pid] = owner.split('/')
    const hasEnded = embedded && host === hostname() && !isAlive(Number(pid))
    if (owner === self || hasEnded) await outbox.releaseAll(owner)
  }
}

function isAlive(pid: number): boolean {
  // Our process id under another name belonged to a process that is gone.
  if (!Number.isInteger(pid) || pid === process.pid) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
