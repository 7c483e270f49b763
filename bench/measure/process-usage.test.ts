import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { cpuSeconds, processTree, residentKb } from './process-usage.ts'

describe.skipIf(process.platform !== 'linux')('process usage', () => {
  it('measures the processor time and the memory of a process', () => {
    const before = cpuSeconds([process.pid])
    const spent = process.cpuUsage()
    // CPU time instead of wall-clock time, because other processes may use the CPU.
    while (process.cpuUsage(spent).user < 120_000);
    expect(cpuSeconds([process.pid]) - before).toBeGreaterThanOrEqual(0.05)
    expect(residentKb([process.pid])).toBeGreaterThan(10_000)
  })

  it('includes child processes, and counts nothing for a process that has ended', async () => {
    const child = spawn('sleep', ['30'])
    expect(processTree(process.pid)).toContain(child.pid)
    child.kill()
    await once(child, 'exit')
    expect(cpuSeconds([child.pid!]) + residentKb([child.pid!])).toBe(0)
  })
})
