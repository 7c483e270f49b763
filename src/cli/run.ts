import { isGatewayError } from '../core/error.ts'
import { waitForAddresses } from '../lib/address-patience.ts'
import { shareLookups } from '../lib/lookup.ts'
import { VERSION } from '../version.ts'
import { createProgram, type Commands } from './program.ts'
import { reasonOf } from './reason.ts'

/** Commands load what they need when they run: `serve` must not pay for the others. */
const COMMANDS: Commands = {
  serve: async (overrides) => (await import('./serve.ts')).serve(overrides),
  check: async ({ schema, ...options }) =>
    schema === true ? (await import('./schema.ts')).printSchema() : (await import('./check.ts')).check(options),
  diff: async (file, overrides) => (await import('./diff.ts')).diff(file, overrides),
  importConfig: async (format, file, options) => {
    process.exitCode = await (await import('./import.ts')).importConfig(format, file, options, process.env)
  },
  doctor: async (overrides) => (await import('./check.ts')).doctor(overrides),
  migrate: async ({ fromSqlite, ...overrides }) =>
    fromSqlite === true ? (await import('./copy-sqlite.ts')).copyFromSqlite(overrides) : (await import('./check.ts')).migrate(overrides),
  explain: async (options, overrides) => (await import('./explain.ts')).explain(options, overrides),
  createKey: async (options, overrides) => (await import('./keys.ts')).createKey(options, overrides),
  listKeys: async (options, overrides) => (await import('./keys.ts')).listKeys(options, overrides),
  updateKey: async (key, options, overrides) => (await import('./keys.ts')).updateKey(key, options, overrides),
  rotateKey: async (key, options, overrides) => (await import('./keys.ts')).rotateKey(key, options, overrides),
  endGrace: async (key, overrides) => (await import('./keys.ts')).endGrace(key, overrides),
  revokeKey: async (key, overrides) => (await import('./keys.ts')).revokeKey(key, overrides),
  rotateSecrets: async (overrides) => (await import('./secrets.ts')).rotate(overrides),
  reconcile: async (options, overrides) => (await import('./reconcile.ts')).reconcile(options, overrides),
  send: async (prompt, options) => {
    const { send } = await import('./send.ts')
    process.exitCode = await send(prompt, options, process.stdout, process.stderr)
  },
}

/** Runs a command line; a failure the operator can mend is one sentence, anything else shows its stack. */
export async function run(argv: readonly string[]): Promise<void> {
  process.stdout.on('error', endWithoutOutput)
  waitForAddresses()
  shareLookups()
  try {
    await createProgram(COMMANDS, VERSION).parseAsync([...argv])
  } catch (error) {
    process.stderr.write(`${sentenceOf(error)}\n`)
    process.exitCode = 1
  }
}

/**
 * Readers such as `| head` may close the pipe early, which is fine. A full disk is not: output that is shown only once (a key) would be lost. What
 * fails because of it says so before the end.
 */
function endWithoutOutput({ code, message }: NodeJS.ErrnoException): void {
  if (code !== 'EPIPE') {
    process.stderr.write(`Standard output cannot be written, and what was to be shown there is lost (${code ?? message}).\n`)
    process.exitCode = 1
  }
  setImmediate(() => process.exit())
}

function sentenceOf(error: unknown): string {
  if (!isGatewayError(error) || error.errorType === 'server') return error instanceof Error ? (error.stack ?? error.message) : String(error)
  // Callers are told to try again later; an operator at the terminal gets the cause instead.
  return error.errorType === 'provider_overloaded' && error.cause !== undefined ? `${error.message} (${reasonOf(error)})` : error.message
}
