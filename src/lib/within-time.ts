import { createContext, Script, type Context } from 'node:vm'

/** Work is started by a script, as only scripts can be stopped from outside. */
const START = new Script('work()')
let stage: Context | undefined

/**
 * The result of work that ends within `ms`, or undefined: it is terminated where it is, so it must hold nothing that others use. For third-party code
 * whose running time cannot be predicted from its input; costs a thread for as long as the work runs.
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

/** It comes from the script's own world, whose Error is not ours. */
const isTimeout = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
