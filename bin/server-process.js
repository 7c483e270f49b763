// What a server wants of V8 and of the C library, and both read only when a process begins.

const REDUCER = '--gc-memory-reducer-start-delay-ms'
/**
 * After eight idle seconds V8 gives back what it can, compiled code and the shapes it was compiled for included: whoever calls then waits five
 * times as long, and it is a quarter of a minute until the process is what it was. A gateway is idle for eight seconds all the time.
 */
export const V8_OPTIONS = [`${REDUCER}=300000`]

/**
 * glibc gives every thread a heap of its own, up to eight for each processor, and hardly ever gives one back: what was freed in one is of no use
 * to the others. Here there is one for all, and its end is given back when it is larger than this.
 */
export const ALLOCATOR = { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '262144' }

/**
 * Lets this process begin again with these settings: the same process, id, standard streams and environment, some forty milliseconds later.
 * What the operator has set stays as it is. Does nothing where that was done, nor in a child with a channel to its parent, which would be lost.
 */
export function becomeServer() {
  const { execArgv, execPath, argv, env, platform } = process
  if (platform !== 'linux' || process.execve === undefined || process.channel != null) return
  if (execArgv.some((option) => option.startsWith(REDUCER))) return
  try {
    process.execve(execPath, [execPath, ...V8_OPTIONS, ...execArgv, ...argv.slice(1)], { ...ALLOCATOR, ...env })
  } catch {
    // Not allowed here (`--permission`): it works all the same.
  }
}
