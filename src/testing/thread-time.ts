/** CPU time of this thread in milliseconds. For limits on pure computation: wall-clock time would depend on other load on the machine. */
export function threadTime(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
