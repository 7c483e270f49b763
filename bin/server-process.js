// What a server wants of V8, of the C library and of libuv, which read it only when a process begins.
import { accessSync, constants, readFileSync, writeSync } from 'node:fs'
import { basename, isAbsolute } from 'node:path'

const REDUCER = '--gc-memory-reducer-start-delay-ms'
/**
 * After eight idle seconds V8 gives back what it can, compiled code and the shapes it was compiled for included: whoever calls then waits five
 * times as long, and it is a quarter of a minute until the process is what it was. A gateway is idle for eight seconds all the time.
 */
export const V8_OPTIONS = [`${REDUCER}=300000`]

/**
 * glibc gives every thread a heap of its own, up to eight for each processor, and hardly ever gives one back: what was freed in one is of no use
 * to the others. Here there is one for all, and its end is given back when it is larger than this. That also holds the size from which a block is
 * the kernel's, and not of that heap, at 128 KB (mallopt(3)): what is larger costs page faults each time, and is given back each time.
 */
export const ALLOCATOR = { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '262144' }

/**
 * libuv reads it with its first piece of work. Half of these threads look names up (`src/lib/lookup.ts`), each for as long as a name server says
 * nothing: with libuv's own four, two names whose servers are silent keep every provider from being found.
 */
export const THREADS = { UV_THREADPOOL_SIZE: '16' }

/**
 * Lets this process begin again with these settings: the same process, id, standard streams and environment, some forty milliseconds later.
 * What the operator has set stays as it is. Does nothing where that was done or where it could not work; `SIGNALBOX_BEGIN_AGAIN=never` is
 * for whatever is not foreseen here, as Node ends a process that the kernel does not let begin again.
 */
export function becomeServer() {
  const { execArgv, execPath, argv, env } = process
  if (env.SIGNALBOX_BEGIN_AGAIN === 'never' || execArgv.some((option) => option.startsWith(REDUCER)) || !mayBeginAgain()) return
  const note = fewThreads()
  if (note !== undefined) writeSync(2, note)
  process.execve?.(execPath, [execPath, ...V8_OPTIONS, ...execArgv, ...argv.slice(1)], { ...ALLOCATOR, ...THREADS, ...env })
}

/** Those of libuv above, of V8, of Node and of the delivery of records. */
const NEEDED_THREADS = 28

/**
 * What to tell the operator where the machine may not give a server its threads; undefined where it will. libuv ends the process without a word for one
 * that it does not get, so this is said before.
 * @param {(file: string) => string} read
 */
export function fewThreads(read = (file) => readFileSync(file, 'utf8'), uid = process.getuid?.()) {
  /** @param {string} file @param {RegExp} pattern */
  const numberIn = (file, pattern) => {
    try {
      const found = pattern.exec(read(file))?.[1]
      return found === undefined ? undefined : Number(found)
    } catch {
      return undefined
    }
  }
  // The kernel does not hold root to the limit per user.
  const perUser = uid === 0 ? undefined : numberIn('/proc/self/limits', /^Max processes +(\d+)/m)
  const most = numberIn('/sys/fs/cgroup/pids.max', /^(\d+)/)
  // This process is one of them, and makes room for the one that follows.
  const others = (numberIn('/sys/fs/cgroup/pids.current', /^(\d+)/) ?? 0) - (numberIn('/proc/self/status', /^Threads:\s+(\d+)/m) ?? 0)
  const left = Math.min(perUser ?? Infinity, most === undefined ? Infinity : most - Math.max(0, others))
  if (left >= NEEDED_THREADS) return undefined
  const limit = left === perUser ? 'the limit of processes (ulimit -u)' : 'the limit of processes of its container or service (pids.max, TasksMax)'
  return `Signalbox needs ${NEEDED_THREADS} threads, and ${limit} leaves it ${left}. If it ends without a word now, that is why: raise the limit.\n`
}

function mayBeginAgain() {
  const { execArgv, execPath, env, platform, permission, versions } = process
  // A Node whose V8 does not know the option would not start.
  if (!versions.node.startsWith('24.')) return false
  if (platform !== 'linux' || (permission !== undefined && !permission.has('child'))) return false
  // A channel to the parent would be lost, and so would a debugger.
  if (process.channel != null || [...execArgv, env.NODE_OPTIONS ?? ''].some((options) => options.includes('--inspect'))) return false
  // Node has replaced what is not UTF-8 in these.
  if (Object.values(env).some((value) => value?.includes('\uFFFD'))) return false
  // Without /proc it is a name to look for; where the loader was told to load Node it is the loader.
  if (!isAbsolute(execPath) || !basename(execPath).startsWith('node')) return false
  try {
    accessSync(execPath, constants.X_OK)
    return true
  } catch {
    return false
  }
}
