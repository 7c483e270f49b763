import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { COLLECTOR_PATH, SCENES, upstreamModel } from '../mock/script.ts'
import { freePort, startProgram, type BenchContext, type RunningTarget, type Target } from './target.ts'

const KEY = `sk-sb-v1-${'bench'.repeat(8)}`

/** With everything that an operator would use: authentication, validation, routing, usage, cost, records in the embedded database. */
const config = (upstreamPort: number): object => ({
  providers: [
    { slug: 'bench', name: 'Bench', dialect: 'openai-chat', base_url: `http://127.0.0.1:${upstreamPort}/v1`, api_keys: ['bench-upstream-key'] },
  ],
  models: SCENES.map((scene) => ({
    slug: `bench/${scene}`,
    context_length: 256_000,
    endpoints: [
      { provider: 'bench', upstream_model: upstreamModel(scene), pricing: { input: 1, output: 2, cache_read: 0.1 }, max_output_tokens: 8192 },
    ],
  })),
})

/** What `npm start` runs; older checkouts have `src/main.ts` instead. */
const mainOf = (root: string): string => [join(root, 'bin/signalbox.js'), join(root, 'src/main.ts')].find((file) => existsSync(file)) ?? ''

const MANAGEMENT_KEY = `sk-sb-mgmt-v1-${'bench'.repeat(8)}`

interface Variant {
  readonly name: string
  readonly title: string
  /** Another checkout of the sources; default: this one. */
  readonly root?: string
  /** Configures the gateway over the management API before the first call. Returns a function that counts waiting deliveries. */
  readonly prepare?: (origin: string, context: BenchContext) => Promise<() => Promise<number>>
  /** The front door; default: Responses. */
  readonly door?: Pick<Target, 'format' | 'path'>
}

const RESPONSES = { format: 'responses', path: '/api/v1/responses' } as const

async function start({ name, root, prepare }: Variant, context: BenchContext, options: readonly string[]): Promise<RunningTarget> {
  const port = await freePort()
  const directory = join(context.temp, `${name}-${port}`)
  mkdirSync(directory, { recursive: true })
  const file = join(directory, 'signalbox.json')
  writeFileSync(file, JSON.stringify(config(context.upstreamPort)))
  const args = [mainOf(root ?? context.root), 'serve', '--config', file, '--port', String(port), '--data', join(directory, 'data'), ...options]
  // Only these variables: a key or a database in the caller's own environment would change what is measured.
  const env = {
    PATH: process.env['PATH'],
    HOME: directory,
    SIGNALBOX_API_KEY: KEY,
    SIGNALBOX_MANAGEMENT_KEY: MANAGEMENT_KEY,
    SIGNALBOX_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
  }
  const running = await startProgram(context, port, '/readyz', process.execPath, args, env)
  try {
    const pending = await prepare?.(`http://127.0.0.1:${port}`, context)
    return pending === undefined ? running : { ...running, pending }
  } catch (error) {
    await running.stop()
    throw error
  }
}

/** One way of running Signalbox. */
export function signalboxTarget(variant: Variant): Target {
  const { name, title, root, door = RESPONSES } = variant
  return {
    name,
    title,
    ...door,
    model: (scene) => `bench/${scene}`,
    headers: () => ({ authorization: `Bearer ${KEY}` }),
    unavailable: (context) => (mainOf(root ?? context.root) === '' ? 'bin/signalbox.js is not there' : undefined),
    start: (context) => start(variant, context, []),
    // Measuring it for the plain variant is enough.
    ...(variant.prepare === undefined
      ? { startWorkers: (context, workers) => start(variant, { ...context, core: undefined }, ['--workers', String(workers)]) }
      : {}),
  }
}

export const signalbox = signalboxTarget({ name: 'signalbox', title: 'Signalbox, everything on' })

/** The same for callers of the format in which peers are called. */
export const signalboxChat: Target = {
  ...signalboxTarget({ name: 'signalbox-chat', title: 'Signalbox, chat completions', door: { format: 'chat', path: '/api/v1/chat/completions' } }),
  onRequest: true,
}

/** The `data` of an answer of the management API. */
async function manage(origin: string, path: string, body?: object): Promise<{ readonly [name: string]: unknown }> {
  const response = await fetch(`${origin}/api/v1/observability/destinations${path}`, {
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    headers: { authorization: `Bearer ${MANAGEMENT_KEY}`, 'content-type': 'application/json' },
    signal: AbortSignal.timeout(10_000),
  })
  if (!response.ok) throw new Error(`${path === '' ? 'the destination' : path} was refused: ${response.status} ${await response.text()}`)
  return ((await response.json()) as { data: { [name: string]: unknown } }).data
}

/** The same with every call forwarded to a collector. */
export const signalboxForwarding = signalboxTarget({
  name: 'signalbox-otlp',
  title: 'Signalbox, one destination',
  async prepare(origin, { upstreamPort }) {
    const collector = `http://127.0.0.1:${upstreamPort}${COLLECTOR_PATH}`
    const { id } = await manage(origin, '', { type: 'otel-collector', name: 'bench', config: { endpoint: collector }, sampling_rate: 1 })
    return async () => {
      const { queued, dead, last_error: error } = await manage(origin, `/${String(id)}/status`)
      // Deliveries that were given up are not completed work: without this check, half of the work could silently be missing.
      if (Number(dead) > 0) throw new Error(`${String(dead)} deliveries were given up: ${String(error)}`)
      return Number(queued)
    }
  },
})
