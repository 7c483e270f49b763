/**
 * Records one exchange with a real vendor as a fixture, without anything that leads to an account.
 *
 *   npm run record -- --model acme/small --name greeting "Say hello."
 *   npm run record -- --model acme/small --name two-tools --request request.json [--json] [--provider acme/turbo] [--out FOLDER] [--config FILE]
 *
 * `--request` is a body of POST /api/v1/responses. Another call with the same name adds a step: the results of tools, the next question.
 * `SIGNALBOX_FIXTURES` can name the folder (default `./recordings`), so that the replay suites read it.
 */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { buildCatalog } from '../src/catalog/build.ts'
import { loadConfig } from '../src/config/load.ts'
import type { Config } from '../src/core/config.ts'
import type { Endpoint } from '../src/core/endpoint.ts'
import { dialects } from '../src/dialects/index.ts'
import { decodeResponsesRequest } from '../src/doors/responses/decode-request.ts'
import { PROVIDERS } from '../src/providers/index.ts'
import { FORMATS } from '../src/testing/recordings.ts'
import { exchange } from './record/exchange.ts'
import { featuresOf } from './record/features.ts'
import { addStep } from './record/scenario.ts'
import { createScrubber, type Canaries } from './record/scrub.ts'

const LIMIT_MS = 10 * 60_000

export interface RecordOptions {
  readonly config: Config
  readonly env: { readonly [name: string]: string | undefined }
  readonly model: string
  /** Provider or tag, if several serve the model. */
  readonly provider?: string
  /** A body of POST /api/v1/responses. */
  readonly body: { readonly [field: string]: unknown }
  readonly stream: boolean
  readonly name: string
  readonly folder: string
}

/** The written files, and the features found in the answer. */
export interface Recorded {
  readonly request: string
  readonly response: string
  readonly status: number
  readonly features: readonly string[]
}

export async function record(options: RecordOptions): Promise<Recorded> {
  if (!/^[a-z0-9][a-z0-9._-]*$/i.test(options.name)) throw new Error(`--name: ${JSON.stringify(options.name)} is no name for a folder`)
  const endpoint = await findEndpoint(options)
  const { dialect } = endpoint.connection
  const format = FORMATS[dialect.name]
  if (format === undefined) throw new Error(`answers in the dialect ${dialect.name} cannot be replayed yet`)
  const request = decodeResponsesRequest({ ...options.body, model: options.model })
  const { target, request: sent, status, headers, body } = await exchange(endpoint, request, options.stream, LIMIT_MS)
  const contentType = String(headers['content-type'] ?? (options.stream ? 'text/event-stream' : 'application/json'))
  const scrubber = createScrubber(canariesOf(options, endpoint))
  const response = scrubber.body(body, contentType)
  const question = scrubber.text(sent.body)
  const url = scrubber.text(isPublic(endpoint) ? sent.url : `https://${endpoint.provider}.invalid${sent.path}`)
  const kept = scrubber.headers(headers)
  for (const [what, bytes] of Object.entries({ request: question, response, url, headers: JSON.stringify(kept) })) scrubber.verify(what, bytes)
  const features = featuresOf(dialect, request, target, { status, contentType, body: response })
  const files = addStep(options.folder, {
    dialect: format,
    provider: endpoint.provider,
    name: options.name,
    stream: options.stream,
    status,
    url,
    features,
    models: [endpoint.upstreamModel],
    response_headers: kept,
    request: question,
    response,
    contentType,
  })
  return { ...files, status, features }
}

async function findEndpoint({ config, env, model, provider }: RecordOptions): Promise<Endpoint> {
  const catalog = await buildCatalog(config, PROVIDERS, dialects, env)
  const endpoints = catalog.find(model)?.endpoints ?? []
  const found = endpoints.find((endpoint) => provider === undefined || endpoint.tag === provider || endpoint.provider === provider)
  if (found !== undefined) return found
  const serving = endpoints.map(({ tag }) => tag).join(', ')
  throw new Error(endpoints.length === 0 ? `--model: no endpoint serves ${model}` : `--provider: ${provider} does not serve ${model}; ${serving} do`)
}

/** Vendors' own addresses are public; those of resources, accounts and the operator's servers are not. */
function isPublic({ provider, connection }: Endpoint): boolean {
  return PROVIDERS.find(({ slug }) => slug === provider)?.baseUrl === connection.baseUrl
}

/** All keys and names of accounts in the configuration. */
function canariesOf({ config, name }: RecordOptions, { provider, connection }: Endpoint): Canaries {
  const own = config.providers.filter(({ slug }) => slug === provider)
  // The region of a resource is no secret, and its name may be any word.
  const isPlace = (setting: string): boolean => /region|location/i.test(setting)
  const texts = (value: unknown): string[] => {
    if (typeof value === 'string') return [value]
    if (typeof value !== 'object' || value === null) return []
    return Object.entries(value).flatMap(([setting, inner]) => (isPlace(setting) ? [] : texts(inner)))
  }
  const headers = Object.entries(connection.headers ?? {}).flatMap(([header, value]) =>
    /organi|project|account|user|tenant/i.test(header) ? [value] : [],
  )
  return {
    secrets: [
      ...connection.credentials.map(({ secret }) => secret.reveal()),
      ...own.flatMap((entry) => (entry.apiKeys ?? []).map((secret) => secret.reveal())),
      ...own.flatMap((entry) => Object.values(entry.headers)),
    ],
    names: [...headers, ...own.flatMap((entry) => [...texts(entry.settings), ...(entry.organization === undefined ? [] : [entry.organization])])],
    scenario: name,
  }
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      model: { type: 'string' },
      provider: { type: 'string' },
      name: { type: 'string' },
      request: { type: 'string' },
      json: { type: 'boolean', default: false },
      out: { type: 'string', default: 'recordings' },
      config: { type: 'string' },
    },
  })
  const { model, name, request, provider, config: file } = values
  const prompt = positionals.join(' ')
  if (model === undefined || name === undefined || (request === undefined) === (prompt === '')) {
    console.error(
      'usage: npm run record -- --model author/slug --name scenario (--request FILE | "prompt") [--json] [--provider TAG] [--out FOLDER] [--config FILE]',
    )
    process.exitCode = 2
    return
  }
  const body = request === undefined ? { input: prompt } : (JSON.parse(readFileSync(request, 'utf8')) as { readonly [field: string]: unknown })
  const config = await loadConfig({ env: process.env, ...(file === undefined ? {} : { file }) })
  const folder = resolve(values.out)
  const recorded = await record({
    config,
    env: process.env,
    model,
    body,
    name,
    folder,
    stream: !values.json,
    ...(provider === undefined ? {} : { provider }),
  })
  console.log(`${recorded.status}  ${folder}/${recorded.response}\n     ${folder}/${recorded.request}\n     ${recorded.features.join(', ')}`)
  console.log('Read both files before you share them: a scrubber knows the shapes of secrets, not what you asked.')
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await main().catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  })
}
