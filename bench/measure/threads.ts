import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'

/** Pins threads of a process to cores: the main thread, in which Node runs the program, and all others, including threads that those start later. */
export function placeThreads(pid: number, cores: { readonly first: number; readonly others: number }): void {
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    const core = Number(task) === pid ? cores.first : cores.others
    // It does not matter if a thread has ended meanwhile.
    spawnSync('taskset', ['-c', '-p', String(core), task])
  }
}

/** Lets processes with all their threads run on these cores, in the list format of taskset. */
export function placeProcesses(pids: readonly number[], cores: string): void {
  for (const pid of pids) spawnSync('taskset', ['-a', '-c', '-p', cores, String(pid)])
}
