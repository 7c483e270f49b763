import { GatewayError } from './error.ts'

/** One problem in the configuration. */
export interface ConfigProblem {
  /** `providers[0].timeouts.connect`, `SIGNALBOX_PORT`, `--port`. */
  readonly path: string
  /** What is there and what is expected; never contains a secret. */
  readonly message: string
  /** Line in the file, if known. */
  readonly line?: number
}

/** The most problems that are shown. A mistake repeated in every entry of a long list is one mistake, and logs drop lines of a megabyte. */
const MAX_SHOWN = 100

/** All problems of a configuration at once. The message is written for the operator's terminal. */
export class ConfigError extends GatewayError {
  readonly problems: readonly ConfigProblem[]
  readonly file: string | undefined

  constructor(problems: readonly ConfigProblem[], file?: string, cause?: unknown) {
    super('invalid_request', describe(problems, file), { path: problems[0]?.path, cause })
    this.name = 'ConfigError'
    this.problems = problems
    this.file = file
  }
}

function describe(problems: readonly ConfigProblem[], file: string | undefined): string {
  const lines = problems.slice(0, MAX_SHOWN).map((problem) => {
    const place = problem.line === undefined ? '' : ` (line ${problem.line})`
    return `  ${problem.path}${place}: ${problem.message}`
  })
  if (problems.length > MAX_SHOWN) lines.push(`  and ${problems.length - MAX_SHOWN} more`)
  const what = problems.length === 1 ? '1 problem' : `${problems.length} problems`
  return `${what} in the configuration${file === undefined ? '' : ` (${file})`}:\n${lines.join('\n')}`
}
