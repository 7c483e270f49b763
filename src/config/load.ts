import { isUtf8 } from 'node:buffer'
import { readFile, stat } from 'node:fs/promises'
import { isAbsolute, join, resolve } from 'node:path'
import { ConfigError, type ConfigProblem } from '../core/config-error.ts'
import type { Config, FixedKeys } from '../core/config.ts'
import { defined } from '../lib/defined.ts'
import { Secret } from '../lib/secret.ts'
import { explainIssues } from './explain.ts'
import { located } from './lines.ts'
import { configSchema, type ConfigFile } from './schema.ts'
import { EMPTY, parseSource, type Source } from './source.ts'
import { isMapping, substituteEnv, type Env } from './substitute.ts'
import { toConfig } from './to-config.ts'

const DEFAULT_FILES = ['signalbox.yaml', 'signalbox.yml', 'signalbox.json']

/** Settings of the command line, which win over the environment, which wins over the file. */
export interface ConfigOverrides {
  readonly host?: string
  readonly port?: number | string
  readonly dataDir?: string
  readonly role?: string
  readonly workers?: number | string
}

export interface LoadOptions {
  /** `--config`; default: SIGNALBOX_CONFIG, then `signalbox.yaml`, `.yml` or `.json` in `cwd` when present. */
  readonly file?: string
  readonly env?: Env
  readonly overrides?: ConfigOverrides
  /** Default: the process's. */
  readonly cwd?: string
  /** Read only these sections, for commands that need no others: variables used elsewhere need not be set. Default: all. */
  readonly sections?: readonly string[]
  /** What was read before. Default: the file is read now. */
  readonly read?: ConfigRead
  /** Report a file that is empty as a problem, instead of using every default. */
  readonly mustSaySomething?: boolean
}

/** Settings that the environment and the command line can give, and their places in the file. */
export const OVERRIDES = [
  { path: ['server', 'host'], variable: 'SIGNALBOX_HOST', flag: '--host', option: 'host' },
  { path: ['server', 'port'], variable: 'SIGNALBOX_PORT', flag: '--port', option: 'port' },
  { path: ['server', 'role'], variable: 'SIGNALBOX_ROLE', flag: '--role', option: 'role' },
  { path: ['server', 'workers'], variable: 'SIGNALBOX_WORKERS', flag: '--workers', option: 'workers' },
  { path: ['storage', 'data_dir'], variable: 'SIGNALBOX_DATA_DIR', flag: '--data', option: 'dataDir' },
  { path: ['storage', 'url'], variable: 'SIGNALBOX_DATABASE_URL' },
  { path: ['storage', 'redis_url'], variable: 'SIGNALBOX_REDIS_URL' },
] as const

/**
 * Reads file, environment and command line into one configuration. Throws ConfigError with every problem found: its path, its value (secrets hidden)
 * and what is expected.
 */
export async function loadConfig(options: LoadOptions = {}): Promise<Config> {
  const { data, keys, file, text } = await readDocument(options)
  const config = toConfig(data, keys, file)
  return { ...config, dataDir: resolve(options.cwd ?? process.cwd(), config.dataDir), ...(text === undefined ? {} : { text: new Secret(text) }) }
}

/** A configuration as written and as parsed. */
export interface ConfigDocument {
  /** The file with the overrides of environment and command line; references to variables are not replaced. */
  readonly raw: unknown
  /** The same with variables replaced and defaults filled in. */
  readonly data: ConfigFile
}

/** Reads and throws as `loadConfig` does. */
export async function readDocument(options: LoadOptions = {}): Promise<ConfigDocument & ConfigRead & { readonly keys: FixedKeys }> {
  const env = options.env ?? process.env
  const { file, text } = options.read ?? (await readConfigFile(options))
  const source = file === undefined || text === undefined ? EMPTY : sourceOf(text, file, options.mustSaySomething === true)
  const problems: ConfigProblem[] = []
  const origins = new Map<string, string>()
  const raw = applyOverrides(onlySections(source.tree, options.sections), env, options.overrides ?? {}, origins)
  const result = configSchema.safeParse(substituteEnv(raw, env, problems))
  const keys = readKeys(env, problems)
  const missing = new Set(problems.map((problem) => problem.path))
  if (!result.success) {
    const explained = explainIssues(result.error.issues, { raw, origins, lineOf: source.lineOf })
    problems.push(...explained.filter((problem) => !missing.has(problem.path)))
  }
  if (problems.length > 0 || !result.success) throw new ConfigError(located(problems, source.lineOf), file)
  return { raw, data: result.data, keys, ...defined({ file, text }) }
}

/** The text of a file; empty if there is none. */
export interface ConfigRead {
  readonly file?: string
  readonly text?: string
}

/** What a configuration was read from. */
export const readOf = ({ file, text }: Pick<Config, 'file' | 'text'>): ConfigRead => defined({ file, text: text?.reveal() })

/** What `loadConfig` reads with these options. Throws ConfigError for a file that exists and cannot be read: ignoring it would put every default in force. */
export async function readConfigFile(options: LoadOptions): Promise<ConfigRead> {
  const file = await configFileAt(options)
  return file === undefined ? {} : readAt(file)
}

/** The path it is read from; undefined if nothing was named and there is no file. */
export async function configFileAt(options: LoadOptions): Promise<string | undefined> {
  const named = options.file ?? nonEmpty((options.env ?? process.env)['SIGNALBOX_CONFIG'])
  if (named !== undefined) return isAbsolute(named) ? named : join(options.cwd ?? process.cwd(), named)
  for (const file of configFileCandidates(options)) {
    // A directory that this user may not enter counts as one without the file.
    const isThere = await stat(file).then(
      () => true,
      () => false,
    )
    if (isThere) return file
  }
  return undefined
}

async function readAt(file: string): Promise<ConfigRead> {
  let bytes: Buffer
  try {
    bytes = await readFile(file)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const why = `${JSON.stringify(file)} cannot be read (${code ?? message}); expected the path of a YAML or JSON file`
    throw new ConfigError([{ path: 'file', message: why }], file, error)
  }
  // Replacement characters would change its meaning: a name nobody uses, a pattern that matches nothing.
  if (!isUtf8(bytes)) throw new ConfigError([{ path: 'file', message: `${JSON.stringify(file)} is not UTF-8; expected a file saved as UTF-8` }], file)
  return { file, text: bytes.toString('utf8') }
}

/** Where a configuration file is looked for. */
export function configFileCandidates({ cwd = process.cwd() }: LoadOptions = {}): readonly string[] {
  return DEFAULT_FILES.map((name) => join(cwd, name))
}

function onlySections(tree: unknown, sections: readonly string[] | undefined): unknown {
  if (sections === undefined || !isMapping(tree)) return tree
  return Object.fromEntries(Object.entries(tree).filter(([name]) => sections.includes(name)))
}

function sourceOf(text: string, file: string, mustSaySomething: boolean): Source {
  const source = parseSource(text, file)
  if (mustSaySomething && (source.tree === null || source.tree === undefined))
    throw new ConfigError([{ path: 'document', message: 'empty; expected the configuration, or {} for nothing but defaults' }], file)
  return { ...source, tree: source.tree ?? {} }
}

function applyOverrides(tree: unknown, env: Env, overrides: ConfigOverrides, origins: Map<string, string>): unknown {
  if (!isMapping(tree)) return tree
  let result = tree
  for (const entry of OVERRIDES) {
    const option = 'option' in entry ? overrides[entry.option] : undefined
    const value = option ?? nonEmpty(env[entry.variable])
    if (value === undefined) continue
    const [outer, inner] = entry.path
    const around = result[outer] ?? {}
    if (!isMapping(around)) continue
    origins.set(`${outer}.${inner}`, option !== undefined && 'flag' in entry ? entry.flag : entry.variable)
    // A storage URL in the environment decides the engine, whatever the file says.
    const implied = inner === 'url' ? { database: 'postgres' } : inner === 'redis_url' ? { shared: 'redis' } : {}
    result = { ...result, [outer]: { ...around, ...implied, [inner]: value } }
  }
  return result
}

function readKeys(env: Env, problems: ConfigProblem[]): FixedKeys {
  const apiKey = nonEmpty(env['SIGNALBOX_API_KEY'])
  const managementKey = nonEmpty(env['SIGNALBOX_MANAGEMENT_KEY'])
  const secretKey = nonEmpty(env['SIGNALBOX_SECRET_KEY'])
  for (const [path, value] of [
    ['SIGNALBOX_API_KEY', apiKey],
    ['SIGNALBOX_MANAGEMENT_KEY', managementKey],
  ] as const) {
    if (value !== undefined && !/^[\x21-\x7e]+$/.test(value))
      problems.push({ path, message: '[hidden]; expected a key of visible ASCII characters without spaces' })
  }
  if (apiKey !== undefined && apiKey === managementKey) {
    problems.push({ path: 'SIGNALBOX_MANAGEMENT_KEY', message: '[hidden]; expected another key than SIGNALBOX_API_KEY, because a key has one kind' })
  }
  if (secretKey !== undefined && !isSecretKey(secretKey)) {
    problems.push({ path: 'SIGNALBOX_SECRET_KEY', message: '[hidden]; expected 32 bytes in base64, such as the output of: openssl rand -base64 32' })
  }
  return {
    ...(apiKey === undefined ? {} : { apiKey: new Secret(apiKey) }),
    ...(managementKey === undefined ? {} : { managementKey: new Secret(managementKey) }),
    ...(secretKey === undefined ? {} : { secretKey: new Secret(secretKey) }),
  }
}

/** 43 digits of six bits are 32 bytes, with or without their padding. */
const isSecretKey = (value: string): boolean => /^[A-Za-z0-9+/_-]{43}=?$/.test(value)

function nonEmpty(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === '' ? undefined : value.trim()
}
