import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'

/** Places threads of a process on cores: the first, in which Node runs the program, and all others, those started later by them included. */
export function placeThreads(pid: number, cores: { readonly first: number; readonly others: number }): void {
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    const core = Number(task) === pid ? cores.first : cores.others
    // A thread that ended meanwhile needs no place.
    spawnSync('taskset', ['-c', '-p', String(core), task])
  }
}

/** Lets processes, all their threads, run on these cores: a list as taskset reads it. */
export function placeProcesses(pids: readonly number[], cores: string): void {
  for (const pid of pids) spawnSync('taskset', ['-a', '-c', '-p', cores, String(pid)])
}
