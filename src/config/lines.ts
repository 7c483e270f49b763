import type { Config } from '../core/config.ts'
import { ConfigError, type ConfigProblem } from '../core/config-error.ts'
import { parseSource, type Source } from './source.ts'

/** Adds line numbers to the problems that are in the file. */
export function located(problems: readonly ConfigProblem[], lineOf: Source['lineOf']): readonly ConfigProblem[] {
  return problems.map((problem) => {
    const line = problem.line ?? lineOf(pathOf(problem.path))
    return line === undefined ? problem : { ...problem, line }
  })
}

/** The steps of a path such as `providers[0].timeouts.connect`. */
const pathOf = (path: string): readonly PropertyKey[] =>
  [...path.matchAll(/\[(\d+)\]|[^.[\]]+/g)].map(([name, index]) => (index === undefined ? name : Number(index)))

/** Runs work that may find problems in a configuration that was read already, and adds the lines of its file to them. */
export async function withLines<T>({ file, text }: Pick<Config, 'file' | 'text'>, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ConfigError) || file === undefined || text === undefined) throw error
    throw new ConfigError(located(error.problems, parseSource(text.reveal(), file).lineOf), file)
  }
}
