/**
 * Milliseconds of processor time this thread has used. For limits on pure computation: on a machine with neighbours the clock on the wall says
 * what they did.
 */
export function threadTime(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
