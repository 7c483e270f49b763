import { isUtf8 } from 'node:buffer'
import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { stringify } from 'yaml'
import { buildCatalog } from '../catalog/build.ts'
import { canonicalName } from '../catalog/canonical-slug.ts'
import { makesVectors } from '../catalog/data/model-traits.ts'
import { loadPriceBook } from '../catalog/price-book.ts'
import { loadConfig } from '../config/load.ts'
import { parseSource } from '../config/source.ts'
import { ConfigError } from '../core/config-error.ts'
import { GatewayError } from '../core/error.ts'
import type { Pricing } from '../core/pricing.ts'
import { dialects } from '../dialects/index.ts'
import { IMPORTERS } from '../importers/index.ts'
import type { FileDraft, ImportContext, Importer, ProviderDraft } from '../importers/shared/importer.ts'
import { gathered, type Note, type NoteKind } from '../importers/shared/notes.ts'
import { isReference, isSecretName } from '../importers/shared/references.ts'
import { defined } from '../lib/defined.ts'
import { writeDurably } from '../lib/durable-file.ts'
import { PROVIDERS } from '../providers/index.ts'
import type { ImportOptions } from './program.ts'

type Env = { readonly [name: string]: string | undefined }

/**
 * `signalbox import`: the configuration of another gateway as ours, on standard output or in a new file, and on standard error what is not carried.
 * Throws GatewayError for a source that cannot be read. Returns the exit code: 1 where callers may ask for something that nobody serves now.
 */
export async function importConfig(format: string, file: string, { output }: ImportOptions, env: Env): Promise<number> {
  const importer = IMPORTERS.find(({ name }) => name === format)
  if (importer === undefined)
    throw new GatewayError(
      'invalid_request',
      `${JSON.stringify(format)} is not a known format; expected one of: ${IMPORTERS.map(({ name }) => name).join(', ')}`,
    )
  const imported = importer.read(await treeOf(importer, file), await contextOf(Date.now()))
  const text = written(imported.file, importer, file)
  const variables = variablesOf(text)
  const problems = await problemsOf(imported.file, text, env)
  const shown = output === undefined && process.stdout.isTTY ? withoutSecrets(imported.file) : { file: imported.file, hidden: 0 }
  if (output === undefined) process.stdout.write(shown.hidden === 0 ? text : written(shown.file, importer, file))
  else await writeNew(output, text)
  const lines = [...reportOf(imported.notes), ...missingOf(variables, env), ...problems]
  if (shown.hidden > 0) lines.push(`Kept off the terminal: ${shown.hidden} in plain text (${HIDDEN}); --output FILE writes what loads`)
  if (output !== undefined) lines.unshift(`Wrote ${output}. To see what it serves, run: signalbox check --config ${output}`)
  if (lines.length > 0) process.stderr.write(`${lines.join('\n')}\n`)
  return problems.length > 0 || imported.notes.some(({ kind }) => kind === 'lost') ? 1 : 0
}

/** What a file says, and those it includes: they stand beside it, or where the command is run when it comes from standard input. */
async function treeOf({ included }: Importer, file: string): Promise<unknown> {
  const { tree } = parseSource(await readSource(file), file)
  if (included === undefined) return tree
  const folder = file === '-' ? '.' : dirname(file)
  const parts: unknown[] = []
  for (const name of included.filesOf(tree)) {
    const path = resolve(folder, name)
    parts.push(parseSource(await readSource(path), path).tree)
  }
  return included.join(tree, parts)
}

async function readSource(file: string): Promise<string> {
  let bytes: Buffer
  try {
    bytes = file === '-' ? await buffer(process.stdin) : await readFile(file)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new GatewayError('invalid_request', `${JSON.stringify(file)} cannot be read (${code ?? message})`)
  }
  if (!isUtf8(bytes)) throw new GatewayError('invalid_request', `${JSON.stringify(file)} is not UTF-8`)
  return bytes.toString('utf8')
}

/** What importers know of this gateway. */
export async function contextOf(now: number): Promise<ImportContext> {
  const { naming, find } = await loadPriceBook(now)
  const lists = new Map(PROVIDERS.map(({ slug, priceProvider }) => [slug, priceProvider ?? slug]))
  return {
    vendors: new Map(
      PROVIDERS.map(({ slug, baseUrl, keyless, models }) => [
        slug,
        { ...(baseUrl === undefined ? {} : { baseUrl }), keyless: keyless === true, author: models?.author ?? slug },
      ]),
    ),
    pricesOf(vendor, id) {
      const pricing = find(lists.get(vendor) ?? vendor, id)?.pricing
      return pricing === undefined ? undefined : writtenPrices(pricing)
    },
    modelName: (id, author) => canonicalName(id, author, naming).slug,
    makesVectors,
  }
}

/** Prices that change with the hour or a day have no place in a file. */
function writtenPrices({ tiers, request, ...prices }: Pricing): { readonly [price: string]: unknown } {
  const tokens = (from: Pricing): { readonly [price: string]: number } =>
    defined({
      input: from.input,
      output: from.output,
      cache_read: from.cacheRead,
      cache_write: from.cacheWrite,
      cache_write_1h: from.cacheWrite1h,
      input_audio: from.inputAudio,
      output_image: from.outputImage,
      cache_read_audio: from.cacheReadAudio,
    })
  return {
    ...tokens(prices),
    ...defined({
      request,
      tiers: tiers?.map(({ fromInputTokens, ...own }) => ({ from_input_tokens: fromInputTokens, ...tokens(own) })),
    }),
  }
}

/** Never over a file that is there. */
async function writeNew(path: string, text: string): Promise<void> {
  try {
    // Keys that were written in plain text there are so here.
    await writeDurably(path, text)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const why = code === 'EEXIST' ? 'is there already, and stays as it is' : `cannot be written (${code ?? message})`
    throw new GatewayError('invalid_request', `${JSON.stringify(path)} ${why}`)
  }
}

export function written(file: FileDraft, { title }: Importer, source: string): string {
  const from = source === '-' ? '' : ` (${source.replace(/[\r\n]+/g, ' ')})`
  return `# Made of a configuration of ${title}${from} by signalbox import.\n${stringify(file, { lineWidth: 0, aliasDuplicateObjects: false })}`
}

const HIDDEN = '[hidden]'

/** For a screen: others see it, and it may keep what it showed. References to variables are none. */
export function withoutSecrets(file: FileDraft): { readonly file: FileDraft; readonly hidden: number } {
  let hidden = 0
  const hide = (value: unknown, isSecret: boolean): unknown => {
    if (typeof value === 'string') {
      if (!isSecret || isReference(value)) return value
      hidden += 1
      return HIDDEN
    }
    if (Array.isArray(value)) return value.map((item) => hide(item, isSecret))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, hide(item, isSecret || isSecretName(key))]))
  }
  return { file: { ...file, providers: file.providers.map((provider) => hide(provider, false) as ProviderDraft) }, hidden }
}

const HEADINGS: { readonly [kind in NoteKind]: string } = {
  lost: 'Not converted, although callers may ask for it:',
  do: 'To check or do by hand:',
  fine: 'Left out; you need not do anything:',
}

function reportOf(notes: readonly Note[]): readonly string[] {
  return (['lost', 'do', 'fine'] as const).flatMap((kind) => {
    const some = gathered(notes.filter((note) => note.kind === kind))
    return some.length === 0 ? [] : [HEADINGS[kind], ...some.map(({ path, message }) => `  ${path}: ${message}`)]
  })
}

const VARIABLE = /(?<!\$)\$\{([A-Za-z_]\w*)(:-)?/g

/** Variables without which it does not load. */
export const variablesOf = (text: string): readonly string[] => [
  ...new Set([...text.matchAll(VARIABLE)].flatMap(([, name = '', fallback]) => (fallback === undefined ? [name] : []))),
]

function missingOf(variables: readonly string[], env: Env): readonly string[] {
  const missing = variables.filter((name) => env[name] === undefined || env[name] === '')
  return missing.length === 0 ? [] : [`Set these variables where the gateway starts; they are not set here: ${missing.join(', ')}`]
}

/** What stands for variables that are not set, by the key under which they are asked for. */
const STAND_INS: { readonly [key: string]: string } = {
  base_url: 'http://stand-in.invalid',
  region: 'us-east-1',
  location: 'us-central1',
  access_key_id: 'AKIASTANDINSTANDIN00',
  first_token: '60',
  total: '60',
  requests_per_minute: '1',
  tokens_per_minute: '1',
  concurrent_requests: '1',
  context_length: '1',
  max_output_tokens: '1',
}

/** Whether `check` takes it, once its variables are set. */
export async function problemsOf(file: FileDraft, text: string, env: Env): Promise<readonly string[]> {
  const stood = { ...Object.fromEntries(standIns(file)), ...Object.fromEntries(Object.entries(env).filter(([, value]) => value !== '')) }
  try {
    const config = await loadConfig({ env: stood, read: { file: 'what was made of it', text } })
    await buildCatalog(config, PROVIDERS, dialects, stood)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return [error.message]
    throw error
  }
}

function standIns(value: unknown, key = ''): readonly (readonly [string, string])[] {
  if (typeof value === 'string') return variablesOf(value).map((name) => [name, STAND_INS[key] ?? 'stand-in'])
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, item]) => standIns(item, Array.isArray(value) ? key : name))
}
