import { z } from 'zod'
import { STREAM_FAILURES } from '../core/call.ts'
import { guardrailFieldsOf, MAX_USD } from '../core/guardrail-schema.ts'
import { modelEntry, providerEntry } from './catalog-sections.ts'
import { address, choice, credit, flag, headerName, host, list, origin, section, size, text, wait, whole } from './fields.ts'
import { pluginsSection } from './plugins-section.ts'
import { overloadSection, retentionSection } from './running.ts'
import { postgresUrl, redisUrl } from './storage-urls.ts'
import { toolsSection } from './tools-section.ts'

/** The one schema of `signalbox.yaml`: validation, defaults, JSON Schema and the reference page come from it. */

const ROLES = ['all', 'gateway', 'worker'] as const

const server = section({
  host: host().prefault('127.0.0.1').describe('Address to listen on. Any other than the loopback needs both keys and the secret key.'),
  port: whole(0, 65_535).prefault(8787).describe('Port to listen on; `0` takes any free one.'),
  body_limit: size().prefault('32MiB').describe('Of one request.'),
  console: flag().prefault(true).describe('Whether the web console is served at `/console/`.'),
  allowed_origins: list(origin())
    .default([])
    .describe(
      'Origins of web pages that may call the API from a browser, such as `https://chat.example.com`; `*` for all ([how](../guides/clients.md#from-a-browser)).',
    ),
  shutdown_grace: wait(0).prefault('30s').describe('How long running answers may finish after a stop signal.'),
  wrong_keys_per_minute: whole(1)
    .nullable()
    .optional()
    .describe('Wrong keys accepted from one address; 100 by default, unlimited on a loopback address, `null` for no limit ([limits](limits.md)).'),
  shutdown_delay: wait(0).prefault('0s').describe('How long a stopping process keeps serving while `/readyz` says it is not ready.'),
  keep_alive_timeout: wait()
    .prefault('65s')
    .describe(
      'How long an idle connection is kept. Must be longer than the load balancer in front keeps its own ([load balancers](../guides/several-processes.md#behind-a-load-balancer)).',
    ),
  role: choice(ROLES).default('all').describe('`gateway` serves and records, `worker` delivers and cleans up.'),
  workers: z
    .union([z.literal('auto'), whole(1, 128)], { error: 'a whole number from 1 to 128, or auto for one per core' })
    .prefault(1)
    .describe('Processes that share the port; `auto`: one per core.'),
})

const storage = section({
  database: choice(['sqlite', 'postgres']).optional().describe('`postgres` when `url` is set, else `sqlite` in the data directory.'),
  url: postgresUrl().optional().describe('Connection string of PostgreSQL.'),
  shared: choice(['memory', 'redis'])
    .optional()
    .describe('Where limits, pins and cooldowns are counted: `redis` when `redis_url` is set, else in each process.'),
  redis_url: redisUrl()
    .optional()
    .describe('Redis or Valkey; with its sentinels ([several processes](../guides/several-processes.md#redis-with-sentinels)).'),
  redis_namespace: text()
    .regex(/^[\w.-]{1,64}$/, 'letters, digits, dots, dashes and underscores')
    .default('signalbox')
    .describe('Prefix of all names in Redis; must differ between installations that share it.'),
  data_dir: text('a directory').default('./data').describe('Embedded database, generated secret key, copies for a start without the database.'),
})
  .refine((value) => value.database !== 'postgres' || value.url !== undefined, {
    path: ['url'],
    error: 'a connection string such as postgres://user:password@host:5432/signalbox, because database is postgres',
  })
  .refine((value) => value.database !== 'sqlite' || value.url === undefined, { path: ['database'], error: 'postgres, because url is set' })
  .refine((value) => value.shared !== 'redis' || value.redis_url !== undefined, {
    path: ['redis_url'],
    error: 'a URL such as redis://host:6379/0, because shared is redis',
  })

const guardrailRule = section({
  name: text().max(200).describe('Unique name of the rule.'),
  workspaces: list(text('the slug or id of a workspace')).min(1).optional().describe('Slugs or ids; without, all.'),
  keys: list(text('the name or hash of a key')).min(1).optional().describe('Names or hashes; without, all.'),
  ...guardrailFieldsOf(flag(), credit(MAX_USD)),
})

export const configSchema = section({
  $schema: z.string().optional().describe('For editors.'),
  server: server.prefault({}),
  providers: list(providerEntry)
    .default([])
    .superRefine(unique('slug'))
    .describe('Known vendors need only their key, or no entry at all if its variable is set.'),
  models: list(modelEntry)
    .default([])
    .superRefine(unique('slug'))
    .describe('Models in addition to those of the vendors’ price data, and more endpoints for those.'),
  catalog: section({ open: flag().prefault(true).describe('`false`: only models of the catalog, no `<provider>/<id>`.') }).prefault({}),
  defaults: section({
    model: text('a model such as acme/small').optional().describe('For calls that name no model.'),
    plugins: list(
      z.looseObject(
        {
          id: text().describe('Which plugin; keys beside these are its settings.'),
          enabled: flag().optional().describe('`false`: off; its settings apply to requests that switch it on. `true` by default.'),
          prevent_overrides: flag().optional().describe('`true`: no request changes it or switches it on or off.'),
        },
        { error: 'a mapping with an id, such as {id: web}' },
      ),
    )
      .default([])
      .superRefine(unique('id', 'plugin'))
      .describe('Plugins of every call ([plugins](../guides/plugins.md#defaults)).'),
    prompt_caching: choice(['5m', '1h'])
      .optional()
      .describe(
        'For conversations whose callers ask for no prompt cache: for how long models that cache only on request are asked to ([prompt caches](../guides/costs.md#prompt-caches)).',
      ),
  }).prefault({}),
  routing: section({
    cooldown: flag().prefault(true).describe('Whether endpoints and keys that failed rest for a while. `false`: no memory between calls.'),
    retries: flag().prefault(true).describe('Whether the same endpoint may be tried a second time.'),
    sticky: flag().prefault(true).describe('Whether a session stays with the endpoint that served it.'),
    session_headers: list(headerName())
      .default(['x-claude-code-session-id', 'session-id', 'session_id', 'x-session-affinity'])
      .describe(
        'Headers that name a session if neither the body nor `x-session-id` does; the first one present counts. Default: those of known clients ([which](../guides/clients.md#sessions)).',
      ),
    stream_failure: choice(STREAM_FAILURES)
      .default('fail')
      .describe(
        'What happens when a stream breaks: it is reported (`fail`), continued by the next endpoint, or was held back until complete (`buffer`).',
      ),
  }).prefault({}),
  responses: section({
    mirror_reasoning: flag()
      .prefault(false)
      .describe('Also sends raw reasoning as a summary, and in Chat Completions as `reasoning_content`, for clients that show nothing else.'),
    error_event: flag()
      .prefault(false)
      .describe(
        'A failing stream sends an `error` event before `response.failed`, and in Chat Completions a chunk with nothing but `error`, for clients that ignore the usual end. Callers can decide with `X-Gateway-Error-Event`.',
      ),
    echo_upstream_body: flag()
      .prefault(true)
      .describe('Whether callers may see with `debug.echo_upstream_body` what upstreams are sent, including what presets and plugins added.'),
  }).prefault({}),
  limits: section({
    credits: credit().nullable().optional().describe('USD the installation may spend in total; `null` for no limit.'),
    requests_per_minute: whole(1).nullable().optional().describe('Of keys without a limit of their own; `null` for none.'),
    tokens_per_minute: whole(1).nullable().optional().describe('The same for tokens.'),
    concurrent_requests: whole(1).nullable().optional().describe('The same for calls at a time.'),
    unknown_price: choice(['allow', 'deny'])
      .default('allow')
      .describe('Whether callers whose spending is limited may use endpoints without a known price.'),
    expected_output_tokens: whole(1).prefault(1_024).describe('Reserved for a call without `max_output_tokens`.'),
    when_unknown: choice(['local', 'refuse'])
      .default('local')
      .describe('What applies while spending is unknown: each process counts alone (`local`), or callers with a budget get a 503 (`refuse`).'),
  }).prefault({}),
  network: section({
    allow_private: section({
      destinations: flag().prefault(true).describe('Whether destinations may be on the private network.'),
      tools: flag().prefault(false).describe('Whether tools and plugins may read pages there, and MCP servers may be there.'),
      media: flag().prefault(false).describe('Whether files and images that requests name may be there.'),
    }).prefault({}),
  }).prefault({}),
  tools: toolsSection.prefault({}),
  plugins: pluginsSection.prefault({}),
  guardrails: section({
    rules: list(guardrailRule)
      .default([])
      .superRefine(unique('name'))
      .describe('Rules in addition to the guardrails of the API ([guardrails](../guides/guardrails.md)).'),
    when_unknown: choice(['allow', 'refuse']).default('allow').describe('What happens to calls until the stored guardrails have been read.'),
  }).prefault({}),
  destinations: section({
    service_name: text().default('signalbox').describe('`service.name` of what is sent.'),
    base_urls: z
      .record(z.string(), address('a URL such as https://host/path, or null').nullable(), { error: 'a mapping of destination types to URLs' })
      .default({})
      .describe('Addresses of types without one in their config ([destinations](destinations.md)).'),
    privacy_locked: flag().prefault(false).describe('Every destination is in privacy mode, and its owner cannot change that.'),
    trace_context: flag()
      .prefault(false)
      .describe(
        'Whether calls without a trace of their own join that of the header `traceparent` ([how](../guides/destinations.md#one-trace-from-end-to-end)).',
      ),
  }).prefault({}),
  storage: storage.prefault({}),
  answer_cache: section({
    enabled: flag()
      .prefault(true)
      .describe('Whether answers are cached for callers who ask for it, by a header or a preset ([answer cache](../guides/answer-cache.md)).'),
    size: size().prefault('256MiB').describe('Size of all cached answers together, encrypted, in the database.'),
  }).prefault({}),
  overload: overloadSection,
  retention: retentionSection,
  logging: section({
    level: choice(['trace', 'debug', 'info', 'warn', 'error', 'silent'])
      .default('info')
      .describe('`debug` adds a line for every successful call ([operations](operations.md#log)).'),
    format: choice(['json', 'pretty']).default('json').describe('One object per line, or a readable line.'),
  }).prefault({}),
})

export type ConfigFile = z.output<typeof configSchema>

/** Keys whose values are secrets, wherever they stand: problems never show what is there. */
export const SECRET_KEYS: ReadonlySet<string> = new Set(['api_keys', 'api_key', 'headers', 'url', 'redis_url', 'settings'])

/** Keys of mappings that hold a key, and of lists or mappings of such mappings: a text in their place is most likely the key alone. */
export const HOLDERS_OF_KEYS: ReadonlySet<string> = new Set(['sandbox', 'endpoint'])
export const LISTS_OF_HOLDERS: ReadonlySet<string> = new Set(['providers', 'engines'])

/** Refuses an entry whose `field` equals that of an earlier one: only one of them could be in force. */
function unique<F extends string>(field: F, what: string = field) {
  return (items: readonly { readonly [N in F]: string }[], context: z.RefinementCtx): void => {
    const seen = new Map<string, number>()
    for (const [index, { [field]: value }] of items.entries()) {
      const first = seen.get(value)
      if (first === undefined) seen.set(value, index)
      else
        context.addIssue({
          code: 'custom',
          path: [index, field],
          message: `another ${what}, because entry ${first} has this one already`,
          input: value,
        })
    }
  }
}

/** JSON Schema of the file as written (before defaults), for editors and the reference page. */
export function configJsonSchema(): { readonly [key: string]: unknown } {
  const schema = z.toJSONSchema(configSchema, { io: 'input', unrepresentable: 'any', target: 'draft-2020-12' })
  return { ...schema, title: 'Signalbox configuration' }
}
