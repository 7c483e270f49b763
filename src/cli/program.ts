import { Command, InvalidArgumentError, Option } from 'commander'
import type { Overrides } from './overrides.ts'

/** What each command does; main wires the real ones in, tests their own. */
export interface Commands {
  serve(overrides: Overrides): Promise<void>
  check(options: CheckOptions & Overrides): Promise<void>
  diff(file: string, overrides: Overrides): Promise<void>
  importConfig(format: string, file: string, options: ImportOptions): Promise<void>
  doctor(options: DoctorOptions & Overrides): Promise<void>
  migrate(options: MigrateOptions & Overrides): Promise<void>
  explain(options: ExplainOptions, overrides: Overrides): Promise<void>
  send(prompt: string, options: SendOptions): Promise<void>
  createKey(options: CreateKeyOptions, overrides: Overrides): Promise<void>
  listKeys(options: ListKeysOptions, overrides: Overrides): Promise<void>
  updateKey(key: string, options: UpdateKeyOptions, overrides: Overrides): Promise<void>
  rotateKey(key: string, options: RotateKeyOptions, overrides: Overrides): Promise<void>
  endGrace(key: string, overrides: Overrides): Promise<void>
  revokeKey(key: string, overrides: Overrides): Promise<void>
  rotateSecrets(overrides: Overrides): Promise<void>
  reconcile(options: ReconcileOptions, overrides: Overrides): Promise<void>
}

export interface CheckOptions {
  /** Every known provider with what switches it on. */
  readonly providers?: boolean
  /** Prints the JSON Schema of the file and looks at nothing. */
  readonly schema?: boolean
}

export interface DoctorOptions {
  /** Also asks each provider whether it accepts its credentials. */
  readonly keys?: boolean
}

export interface MigrateOptions {
  /** Copies the embedded database into an empty PostgreSQL database. */
  readonly fromSqlite?: boolean
}

export interface ImportOptions {
  /** A new file; default: standard output. */
  readonly output?: string
}

export interface SendOptions {
  readonly url?: string
  readonly key?: string
  readonly model: string
  readonly stream: boolean
}

export interface ExplainOptions {
  readonly model?: string
  /** A request body; `-` reads standard input. */
  readonly file?: string
  readonly json: boolean
}

export interface ReconcileOptions {
  /** `2026-11`. */
  readonly month?: string
  /** Days, the last one included. */
  readonly from?: string
  readonly to?: string
  /** `provider=USD`. */
  readonly invoice?: readonly string[]
  readonly json: boolean
}

export interface CreateKeyOptions {
  readonly name: string
  readonly management: boolean
  readonly workspace?: string
  readonly expires?: string
}

export interface ListKeysOptions {
  /** `90d`: only keys that were not used for so long. */
  readonly unusedFor?: string
}

export interface UpdateKeyOptions {
  readonly name?: string
  readonly disable?: boolean
  readonly enable?: boolean
  /** USD, or `none`. */
  readonly limit?: string
  /** `daily`, `weekly`, `monthly` or `never`. */
  readonly reset?: string
  /** A date, or `never`. */
  readonly expires?: string
}

export interface RotateKeyOptions {
  /** `24h`: how long earlier secrets still work. */
  readonly grace: string
}

function port(value: string): number {
  // `Number('')` is 0: an unset variable would choose a port nobody asked for.
  const number = value.trim() === '' ? Number.NaN : Number(value)
  if (!Number.isInteger(number) || number < 0 || number > 65_535) throw new InvalidArgumentError('a whole number from 0 to 65535 is expected')
  return number
}

/** The options of every command that reads the configuration. */
function configured(command: Command): Command {
  return command
    .option('--config <file>', 'configuration file (SIGNALBOX_CONFIG; default: ./signalbox.yaml when it exists)')
    .option('--data <dir>', 'data directory (SIGNALBOX_DATA_DIR; default ./data)')
}

export function createProgram(commands: Commands, version: string): Command {
  const program = new Command('signalbox').description('A self-hosted gateway for language models: one API over every provider.').version(version)

  configured(program.command('serve').description('start the gateway'))
    .option('--port <number>', 'port to listen on (SIGNALBOX_PORT; default 8787)', port)
    .option('--host <address>', 'address to listen on (SIGNALBOX_HOST; default 127.0.0.1)')
    .option('--role <role>', 'all, gateway (serves and records) or worker (delivers and cleans up) (SIGNALBOX_ROLE; default all)')
    .option('--workers <number>', 'processes that share the port, auto for one per core (SIGNALBOX_WORKERS; default 1)')
    .action((options: Overrides) => commands.serve(options))
  configured(program.command('check').description('validate the configuration and show what it would serve'))
    .option('--providers', 'list every known provider, whether it is on, and what switches it on', false)
    .option('--schema', 'print the JSON Schema of the configuration file instead, for editors', false)
    .action((options: CheckOptions & Overrides) => commands.check(options))
  configured(
    program
      .command('diff')
      .description('show what another configuration file would change, and which changes need a restart; secrets stay hidden')
      .argument('<file>', 'the other file'),
  ).action((file: string, options: Overrides) => commands.diff(file, options))
  program
    .command('import')
    .description('convert another gateway’s configuration to this one’s; lists on standard error what you have to do by hand')
    .argument('<format>', 'the other gateway: litellm, bifrost or portkey')
    .argument('<file>', 'its configuration; - reads standard input')
    .option('--output <file>', 'write to a new file; an existing one is never overwritten')
    .action((format: string, file: string, options: ImportOptions) => commands.importConfig(format, file, options))
  configured(program.command('doctor').description('show the resolved configuration, the database and which providers answer'))
    .option('--keys', 'also ask each provider for its list of models with each of its keys, which costs nothing', false)
    .action((options: DoctorOptions & Overrides) => commands.doctor(options))
  configured(program.command('migrate').description('bring the database up to date and stop'))
    .option('--from-sqlite', 'copy the embedded database of the data directory into the configured PostgreSQL database, which must be empty', false)
    .action((options: MigrateOptions & Overrides) => commands.migrate(options))
  configured(program.command('reconcile').description('show what the records say each provider is owed, and compare it with an invoice'))
    .option('--month <month>', 'such as 2026-11, in UTC (default: this month)')
    .option('--from <day>', 'first day of the period, instead of a month')
    .option('--to <day>', 'its last day (default: today)')
    .option('--invoice <provider=usd...>', 'what a provider has charged, such as openai=123.45')
    .option('--json', 'print all figures as JSON', false)
    .action((options: ReconcileOptions & Overrides) => commands.reconcile(options, options))
  configured(program.command('explain').description('show which endpoints a request would try, and why not the others, without calling them'))
    .option('--model <model>', 'model to ask for')
    .option('--file <file>', 'a request body as JSON; - reads standard input')
    .option('--json', 'print the whole plan as JSON', false)
    .action((options: ExplainOptions & Overrides) => commands.explain(options, options))
  program
    .command('send')
    .description('send one prompt to a running gateway and print the answer as it streams')
    .argument('<prompt>')
    .option('--url <url>', 'where the gateway listens (SIGNALBOX_URL; default: this machine, SIGNALBOX_PORT or 8787)')
    .option('--key <key>', 'inference key (SIGNALBOX_API_KEY)')
    .option('--model <model>', 'model to ask', 'demo/echo')
    .option('--no-stream', 'wait for the whole answer')
    .action((prompt: string, options: SendOptions) => commands.send(prompt, options))

  const keys = program.command('keys').description('create, list, change, rotate and revoke API keys')
  configured(keys.command('create').description('create a key and print it once'))
    .requiredOption('--name <name>', 'what the key is for')
    .option('--management', 'create a management key instead of an inference key', false)
    .option('--workspace <workspace>', 'id or slug of a workspace (default: the default workspace)')
    .option('--expires <date>', 'ISO 8601 date or time from which the key is refused, in UTC unless it names a zone')
    .action((options: CreateKeyOptions & Overrides) => commands.createKey(options, options))
  configured(keys.command('list').description('list keys and when they were last used; the keys themselves are never stored'))
    .option('--unused-for <duration>', 'only keys that exist and were not used for so long, such as 90d, without revoked ones')
    .action((options: ListKeysOptions & Overrides) => commands.listKeys(options, options))
  configured(keys.command('update').description('change a key; what is not named stays').argument('<key>', 'hash, label or name'))
    .option('--name <name>', 'another name')
    .addOption(new Option('--disable', 'refuse its calls until it is enabled').conflicts('enable'))
    .option('--enable', 'accept its calls again')
    .option('--limit <usd>', 'what it may spend, in USD; none: no limit of its own')
    .addOption(new Option('--reset <period>', 'when that starts anew (UTC)').choices(['daily', 'weekly', 'monthly', 'never']))
    .option('--expires <date>', 'ISO 8601 date or time from which the key is refused, in UTC unless it names a zone; never: not at all')
    .action((key: string, options: UpdateKeyOptions & Overrides) => commands.updateKey(key, options, options))
  configured(
    keys
      .command('rotate')
      .description('give a key a new secret and print it once; its id, limits and history stay')
      .argument('<key>', 'hash, label or name'),
  )
    .option('--grace <duration>', 'how long earlier secrets still work, up to 90d; 0 ends them at once', '24h')
    .action((key: string, options: RotateKeyOptions & Overrides) => commands.rotateKey(key, options, options))
  configured(
    keys.command('end-grace').description('end all secrets of a rotated key but the newest').argument('<key>', 'hash, label or name'),
  ).action((key: string, options: Overrides) => commands.endGrace(key, options))
  configured(keys.command('revoke').description('revoke a key at once').argument('<key>', 'hash, label or name')).action(
    (key: string, options: Overrides) => commands.revokeKey(key, options),
  )
  const secrets = program.command('secrets').description('change the key that encrypts stored secrets')
  configured(
    secrets
      .command('rotate')
      .description('encrypt stored secrets with a new key: SIGNALBOX_NEW_SECRET_KEY, or a generated one; stop the gateways first'),
  ).action((options: Overrides) => commands.rotateSecrets(options))
  return program
}
