import { createContext, Script, type Context } from 'node:vm'

/** A script starts the work, because only the run of a script can have a time limit. */
const START = new Script('work()')
let stage: Context | undefined

/**
 * The result of `work` if it ends within `ms`, otherwise undefined. Work that takes longer is terminated at an arbitrary point, so it must not hold
 * anything that other code uses. For third-party code whose running time cannot be predicted from its input. Costs a thread for as long as the work runs.
 */
export function withinTime<T>(ms: number, work: () => T): T | undefined {
  stage ??= createContext({})
  stage['work'] = work
  try {
    return START.runInContext(stage, { timeout: ms }) as T
  } catch (error) {
    if (isTimeout(error)) return undefined
    throw error
  } finally {
    delete stage['work']
  }
}

/** The error belongs to the script's own context, whose Error class is not ours, so `instanceof` would fail. */
const isTimeout = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
