import { hostname } from 'node:os'
import type { DurableOutbox } from '../core/outbox.ts'

/**
 * Ends leases nobody holds any more: this process's own, from a thread that died, and with an embedded database those of processes of this
 * machine that are gone. Those of other machines end by themselves.
 */
export async function releaseGone(outbox: DurableOutbox, self: string, embedded: boolean): Promise<void> {
  for (const owner of await outbox.owners()) {
    const [host, pid] = owner.split('/')
    const gone = embedded && host === hostname() && !isAlive(Number(pid))
    if (owner === self || gone) await outbox.releaseAll(owner)
  }
}

function isAlive(pid: number): boolean {
  // Our own number under another name was somebody's who died before us.
  if (!Number.isInteger(pid) || pid === process.pid) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
