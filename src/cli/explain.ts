import { readFile } from 'node:fs/promises'
import { buildCatalog, type BuiltCatalog } from '../catalog/build.ts'
import { withLines } from '../config/lines.ts'
import { loadConfig } from '../config/load.ts'
import type { Config } from '../core/config.ts'
import type { Endpoint } from '../core/endpoint.ts'
import { GatewayError } from '../core/error.ts'
import type { ModelRequest } from '../core/request.ts'
import { dialects } from '../dialects/index.ts'
import { decodeResponsesRequest } from '../doors/responses/decode-request.ts'
import { withChoice } from '../wiring/choosing.ts'
import type { Owner } from '../core/call.ts'
import { DEFAULT_WORKSPACE_ID } from '../core/store.ts'
import { isJsonObject, JsonError, parseJson } from '../lib/json.ts'
import { openPlugins, type Plugins } from '../wiring/plugins.ts'
import { PROVIDERS } from '../providers/index.ts'
import { explainPlan, type RouteExplanation } from '../router/explain.ts'
import { planRoute } from '../router/plan.ts'
import type { Overrides } from './overrides.ts'
import type { ExplainOptions } from './program.ts'
import { loadOptions } from './serve.ts'

const line = (text: string): void => void process.stdout.write(`${text}\n`)

/** `signalbox explain`: what the configuration would do with a request, and why. Calls nobody; knows nothing of a running gateway's health. */
export async function explain(options: ExplainOptions, overrides: Overrides): Promise<void> {
  const config = await loadConfig(loadOptions(overrides))
  const catalog = await withLines(config, () => buildCatalog(config, PROVIDERS, dialects, process.env))
  const request = await requestOf(options)
  const plugins = await withLines(config, () => openPlugins({ config, env: process.env, catalog: () => catalog }))
  let explanation: RouteExplanation
  try {
    explanation = await explanationOf(request, catalog, config, plugins)
  } finally {
    await plugins.close()
  }
  if (options.json) line(JSON.stringify(explanation, undefined, 2))
  else print(explanation)
  if (explanation.error !== null) process.exitCode = 1
}

async function requestOf({ model, file }: ExplainOptions): Promise<ModelRequest> {
  if (file === undefined) {
    if (model === undefined) throw new GatewayError('invalid_request', 'explain needs --model <model> or --file <body.json>')
    return decodeResponsesRequest({ model, input: 'hello' })
  }
  const body = await bodyOf(file)
  // A body that is not an object goes to the decoder as it is, which says what it is.
  return decodeResponsesRequest(model === undefined || !isJsonObject(body) ? body : { ...body, model })
}

/** Throws `invalid_request`, one sentence with the name of the file. */
async function bodyOf(file: string): Promise<unknown> {
  const name = file === '-' ? 'standard input' : file
  try {
    return parseJson(file === '-' ? await readInput() : await readFile(file))
  } catch (error) {
    if (error instanceof JsonError) throw new GatewayError('invalid_request', `${name} is not valid JSON: ${error.message}`)
    const { code, message } = error as NodeJS.ErrnoException
    throw new GatewayError('invalid_request', `${name} cannot be read (${code ?? message}); expected a file with a request body as JSON`, {
      cause: error,
    })
  }
}

async function readInput(): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

/** The command line has no key, so the plan is made for an owner without one. */
const NOBODY: Owner = { workspaceId: DEFAULT_WORKSPACE_ID, keyHash: '', keyName: '', keyLabel: '' }

/** The plan of a request under this configuration, as a gateway without any history would make it. */
async function explanationOf(requested: ModelRequest, catalog: BuiltCatalog, config: Config, plugins: Plugins): Promise<RouteExplanation> {
  const { model } = config.defaults
  const defaults = model === undefined ? {} : { model }
  const choice = await plugins.choose(requested, { owner: NOBODY, defaults })
  const { request, strategy } = choice
  const plan = planRoute({
    request,
    catalog,
    random: () => 0,
    now: Date.now(),
    adaptation: plugins.reach(requested),
    defaults,
    ...(strategy === undefined ? {} : { strategy }),
  })
  return withChoice(explainPlan(plan, request), requested, choice)
}

function print(explanation: RouteExplanation): void {
  line(`${explanation.requested}: ${explanation.strategy}, ordered by ${explanation.order}`)
  for (const attempt of explanation.attempts) {
    const share = attempt.score.share === null ? '' : `, ${Math.round(attempt.score.share * 100)} % of first tries`
    const dropped = attempt.dropped_parameters.length === 0 ? '' : `, drops ${attempt.dropped_parameters.join(', ')}`
    const notes = attempt.notes.length === 0 ? '' : `, ${attempt.notes.join(', ')}`
    line(`  ${attempt.position}. ${attempt.tag} (${attempt.model} as ${attempt.upstream_model}${share}${dropped}${notes})`)
  }
  for (const rejected of explanation.rejected) line(`  -  ${rejected.tag} (${rejected.model}): ${rejected.reason}`)
  for (const [name, value] of Object.entries(explanation.params)) line(`  ${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
  if (explanation.error !== null) line(`  ${explanation.error.code} ${explanation.error.error_type}: ${explanation.error.message}`)
}

/** An endpoint of the configuration that no request can ever reach, and why. */
export interface Unreachable {
  readonly model: string
  readonly tag: string
  readonly reason: string
}

/**
 * Proves for every endpoint of the configured models that some call can reach it, first or as a fallback. The call asks for its variant, its service
 * tier and its kind of output, and excludes all other endpoints. Only plans are made; nobody is called.
 */
export function findUnreachable(catalog: BuiltCatalog, config: Config): readonly Unreachable[] {
  const found: Unreachable[] = []
  const now = Date.now()
  const configured = config.models.map(({ slug }) => slug)
  for (const { slug, endpoints } of catalog.models()) {
    // Variants are models of their own in the catalog.
    if (!configured.some((one) => slug === one || slug.startsWith(`${one}:`))) continue
    for (const endpoint of endpoints) {
      const reason = whyUnreachable(slug, endpoint, catalog, now)
      if (reason !== undefined) found.push({ model: slug, tag: endpoint.tag, reason })
    }
  }
  for (const slug of configured)
    if (catalog.find(slug) === undefined) found.push({ model: slug, tag: 'every endpoint', reason: 'no provider serves it' })
  return found
}

function whyUnreachable(slug: string, endpoint: Endpoint, catalog: BuiltCatalog, now: number): string | undefined {
  const { variant, tier, tag, provider, outputModalities } = endpoint
  const request: ModelRequest = {
    model: variant === undefined || slug.endsWith(`:${variant}`) ? slug : `${slug}:${variant}`,
    input: [{ type: 'message', role: 'user', content: 'hello' }],
    ...(tier === undefined || tier === 'default' ? {} : { service_tier: tier }),
    ...(outputModalities.has('text') ? {} : { modalities: [...outputModalities] }),
    provider: { only: [tag, provider] },
  }
  const plan = planRoute({ request, catalog, random: () => 0, now })
  if (plan.attempts.some((attempt) => attempt.endpoint.id === endpoint.id)) return undefined
  return plan.rejected.get(endpoint.id) ?? plan.error?.message ?? 'other endpoints of the same provider always go before it'
}
