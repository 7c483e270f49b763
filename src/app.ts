import { openAccounting } from './wiring/accounting.ts'
import { openAnswers } from './wiring/answers.ts'
import { createRoutingDefaults } from './accounts/routing-defaults.ts'
import { boot, type Boot } from './wiring/boot.ts'
import type { BuiltCatalog } from './catalog/build.ts'
import { createCostOf } from './catalog/cost.ts'
import { wrongKeysPerMinute } from './config/exposure.ts'
import { describeProxies, proxiesOf } from './config/proxies.ts'
import type { Config } from './core/config.ts'
import type { GatewayError } from './core/error.ts'
import type { KeyAccounts } from './core/account.ts'
import { betaHeaders } from './dialects/index.ts'
import { lighterRequests } from './dialects/shared/lighter-requests.ts'
import type { AnswerRouteOptions } from './http/answer-route.ts'
import { createAuthenticate } from './http/authenticate.ts'
import { GuessGuard } from './http/guess-guard.ts'
import { LazyApi } from './http/management/lazy-handler.ts'
import { RecentItems } from './http/recent-items.ts'
import { balancerRoute, healthRoute, readyRoute, workerRoute } from './http/health-routes.ts'
import { listen } from './http/listen.ts'
import { logDropped } from './http/log-dropped.ts'
import { createGatewayServer, type RouteHandler } from './http/server.ts'
import { KeepAlive } from './http/sse-body.ts'
import { closeInOrder } from './lib/close-in-order.ts'
import { systemClock } from './lib/clock.ts'
import { createHttpClient } from './lib/http-client.ts'
import { randomId } from './lib/id.ts'
import { LiveSet } from './lib/live-map.ts'
import type { Logger } from './lib/logger.ts'
import { createCredentialPools } from './pipeline/credential-pool.ts'
import { createPipeline } from './pipeline/create-pipeline.ts'
import { createMediaLoader } from './pipeline/media.ts'
import { openPlugins } from './wiring/plugins.ts'
import { estimateRequest } from './router/estimate.ts'
import { createHealth } from './router/health.ts'
import { gatewayMetadata } from './router/metadata.ts'
import { withDefaults } from './router/request-defaults.ts'
import { createSticky } from './router/sticky.ts'
import { openDoors } from './wiring/open-doors.ts'
import { openPolicies } from './wiring/policies.ts'
import { checkedCatalog } from './wiring/checked-catalog.ts'
import { estimateUsage } from './wiring/estimate-usage.ts'
import { recentItemsBounds } from './wiring/memory-bounds.ts'
import { openRecording, type Recording } from './wiring/recording.ts'
import { openServing } from './wiring/serving.ts'
import type { SpawnThread } from './wiring/delivery-host.ts'
import { DELIVERIES_LIMIT_MS, RECORDS_LIMIT_MS, SINK_LIMIT_MS } from './wiring/stop-limits.ts'
import { openTooling } from './wiring/tooling.ts'
import { EgressClients } from './wiring/egress-clients.ts'
import { VERSION } from './version.ts'

export interface AppOptions {
  readonly config: Config
  readonly env: { readonly [name: string]: string | undefined }
  readonly logger: Logger
  /** Metrics of all processes that share the port, given a way to get this one's. Default: this one's alone. */
  readonly gatherMetrics?: (own: () => Promise<string>) => Promise<string>
  /** Other processes listen on the port, too. */
  readonly sharesPort?: boolean
  /** Called when the gateway cannot go on and has closed itself. Default: the process ends with code 1 once nothing keeps it alive. */
  readonly onFatal?: () => void
  /** Starts the delivery thread. Default: from its source, or the bundled one. */
  readonly deliveryThread?: SpawnThread | undefined
}

export interface App {
  /** Opens the socket; the URL contains the port that was chosen. */
  listen(): Promise<{ readonly url: string }>
  /** Takes over a new configuration. Throws and keeps the old one if it cannot serve. */
  reload(config: Config): Promise<void>
  /** The latest configuration is invalid: until the next `reload`, `readyz` and the metrics say that the last good one is in force. */
  refuseReload(): void
  readonly boot: Boot
  readonly accounts: KeyAccounts
  readonly catalog: () => BuiltCatalog
  readonly sink: Recording['sink']
  /** Metrics of this process, as Prometheus text. */
  readonly metrics: () => Promise<string>
  readonly calls: { readonly size: number }
  /** The handler behind `POST /api/v1/responses`. */
  readonly responses: RouteHandler
  /** Every route, as `METHOD /path/:parameter`. */
  readonly routes: () => Promise<readonly string[]>
  /** Ordered and idempotent: stop accepting, finish streams within the grace period, flush records, close stores. */
  close(): Promise<void>
}

/** The composition root: the only place that knows every room. */
// oxlint-disable-next-line max-lines-per-function -- who gets what from whom reads best on one page
export async function createApp({
  config: initial,
  env,
  logger,
  gatherMetrics = (own) => own(),
  sharesPort = false,
  onFatal = () => void (process.exitCode = 1),
  deliveryThread,
}: AppOptions): Promise<App> {
  let config = initial
  let isReloadRefused = false
  let catalog = await checkedCatalog(config, env)
  const tellNotes = (): void => catalog.notes.forEach((note) => logger.warn({}, note))
  tellNotes()
  const openedPlugins = openPlugins({ config, env, catalog: () => catalog })
  const state = await boot(config, logger, (error) => {
    logger.error({ error }, 'the database came, and a start with it is refused: stopping')
    void closeAndFail()
  })
  const { metrics, delivery, sink, finished } = openRecording(config, state, logger, deliveryThread)
  const proxies = proxiesOf(env)
  if (proxies !== undefined) logger.info({ proxy: describeProxies(proxies) }, 'requests go out through a proxy')
  const http = createHttpClient({ proxies })
  const mediaClients = new EgressClients({ allowHttp: true, userAgent: `signalbox/${VERSION}`, proxies })
  const pools = createCredentialPools(systemClock, config.routing.cooldown, ({ provider }, { id }, { errorType }) =>
    logger.warn({ provider, credential: id, error_type: errorType }, 'a provider refuses a credential: it is left aside for a minute'),
  )
  const guard = new GuessGuard({ clock: systemClock, wrongKeysPerMinute: () => wrongKeysPerMinute(config, initial.server.host) })
  const authenticate = createAuthenticate(state.accounts.snapshot, guard)
  const defaults = createRoutingDefaults(state.accounts.snapshot, () => config)
  const policies = await openPolicies(state, () => config, logger)
  const { guardrails } = policies
  const accounting = await openAccounting({ config: () => config, state, sink, catalog: () => catalog, logger, defaults, guardrails, metrics })
  const { limits, ownKeys, ownCredentials, pins, cooldowns } = accounting
  const health = createHealth({ clock: systemClock, ...(cooldowns === undefined ? {} : { channel: cooldowns }) })
  const onBug = (error: GatewayError, requestId: string): void =>
    logger.error({ error: error.cause ?? error, request_id: requestId }, 'internal error')
  const sticky = createSticky({ clock: systemClock, ...(pins === undefined ? {} : { store: pins }) })
  const tooling = openTooling({ config, env, catalog: () => catalog })
  const handler = createPipeline({
    http,
    clock: systemClock,
    userAgent: `signalbox/${VERSION}`,
    health,
    pools,
    ...lighterRequests,
    media: createMediaLoader(() => mediaClients.get(config.network.allowPrivate.media)),
    limits,
    guardrails,
    answers: openAnswers(state, () => config.answerCache, logger),
    ownCredentials,
    sticky,
    catalog: () => catalog,
    defaults,
    retries: () => config.routing.retries,
    streamFailure: () => config.routing.stream_failure,
    sink,
    costOf: createCostOf(systemClock),
    tools: tooling.tools,
    toolSources: tooling.toolSources,
    toolLimits: tooling.toolLimits,
    plugins: openedPlugins.plugins,
    pluginDefaults: openedPlugins.pluginDefaults,
    newId: randomId,
    mayGoOn: accounting.mayGoOn,
    estimateUsage,
    onFinished: (generation, call) => {
      limits.finished(generation, call)
      finished(generation)
    },
  })
  const inFlight = new LiveSet<AbortController>()
  const serving = openServing({
    config: () => config,
    state,
    delivery,
    sink,
    sharedStateAnswers: accounting.sharedStateAnswers,
    configurationRefused: () => isReloadRefused,
    inFlight,
    metrics,
    logger,
  })
  const answering: AnswerRouteOptions = {
    authenticate: (request, keyHeader) => authenticate(request, 'inference', keyHeader),
    handler,
    presets: policies.presets,
    withDefaults: (request, owner) => withDefaults(request, defaults(owner)),
    promptTokens: (sent) => estimateRequest(sent).inputTokens,
    presentMetadata: (call) => ({ ...gatewayMetadata(call.trace, { requested: call.requestedModel }) }),
    bodyLimitBytes: config.server.bodyLimit,
    mirrorReasoning: () => config.responses.mirrorReasoning,
    errorEvent: () => config.responses.errorEvent,
    betaHeaders,
    callerHeaders: () => ({ sessions: config.routing.session_headers, traces: config.destinations.traceContext }),
    echoUpstreamBody: () => config.responses.echoUpstreamBody,
    recentItems: new RecentItems({ clock: systemClock, ...recentItemsBounds() }),
    clock: systemClock,
    newId: randomId,
    random: Math.random,
    keepAlive: new KeepAlive(),
    onBug,
    inFlight,
    admission: serving.admission,
    accepting: serving.accepting,
  }
  const newRequestId = (): string => `req-${randomId(20)}`
  const management = new LazyApi(
    async () => {
      const { buildManagement } = await import('./wiring/management.ts')
      return buildManagement({
        authenticate,
        admission: serving.admission,
        onBug,
        metrics: { contentType: metrics.contentType, text: () => gatherMetrics(() => metrics.text()) },
        sink,
        store: state.store,
        accounts: state.accounts.keys,
        encryption: state.encryption,
        authenticator: state.accounts.snapshot,
        policies,
        countRequest: accounting.countRequest,
        limitsOf: accounting.limitsOf,
        health,
        sticky,
        ownKeys,
        ownCredentials,
        defaults,
        reach: openedPlugins.reach,
        choose: openedPlugins.choose,
        destinations: { delivery, encryption: state.encryption, workspaces: state.store.workspaces, clock: systemClock },
        config: () => ({ ...config, server: { ...config.server, bodyLimit: initial.server.bodyLimit } }), // These routes are built late.
        refresh: () => state.accounts.snapshot.refresh(),
        newRequestId,
        catalog: () => catalog,
      })
    },
    { onBug, newRequestId },
  )
  const ready = readyRoute(serving.readiness)
  const probes = [['GET /healthz', healthRoute] as const, ['GET /readyz', ready] as const]
  const isWorker = config.server.role === 'worker'
  const doors = openDoors(answering, { onBug, newRequestId })
  const routes = new Map(isWorker ? probes : [...doors, ...probes])
  // What another process changed is read as soon as the database announces it.
  const watch = state.store.watch(() => {
    for (const follower of [state.accounts.snapshot, ownKeys, policies.presets, policies.guardrails]) void follower.refresh().catch(() => undefined)
    delivery.refresh()
  })
  const fallback = balancerRoute(ready, isWorker ? workerRoute(management.handle) : management.handle)
  const server = createGatewayServer({ routes, fallback, settings: () => config.server })
  logDropped(server, logger)
  let closing: Promise<void> | undefined
  const close = async (): Promise<void> => {
    await serving.drain(server)
    // Records first: everything after them can be made again.
    await closeInOrder(
      [
        { name: 'records', close: () => sink.close(SINK_LIMIT_MS), limitMs: RECORDS_LIMIT_MS },
        { name: 'deliveries', close: () => delivery.close(), limitMs: DELIVERIES_LIMIT_MS },
        { name: 'changes', close: () => watch.close() },
        { name: 'http', close: () => http.close() },
        { name: 'tools', close: () => tooling.close() },
        { name: 'plugins', close: () => openedPlugins.close() },
        { name: 'media', close: () => mediaClients.close() },
        { name: 'policies', close: () => policies.close() },
        { name: 'limits', close: () => accounting.close() },
        { name: 'database', close: () => state.close() },
      ],
      (what, error) => logger.warn({ what, error }, 'something could not be closed'),
    )
    health.close()
  }
  const closeAndFail = async (): Promise<void> => {
    await (closing ??= close())
    onFatal()
  }

  return {
    boot: state,
    accounts: state.accounts.keys,
    sink,
    metrics: () => metrics.text(),
    calls: inFlight,
    responses: doors[0]![1],
    routes: async () => [...routes.keys(), ...(await management.get()).routes.map(({ method, url }) => `${method} ${url}`)],
    catalog: () => catalog,
    async listen() {
      const { port, family, address } = await listen(server, initial.server, { shared: sharesPort }) // An address of a reload was not checked.
      delivery.start()
      return { url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}` }
    },
    async reload(next) {
      const nextCatalog = await checkedCatalog(next, env)
      openedPlugins.reload(next)
      catalog = nextCatalog
      config = next
      tellNotes()
      void policies.checkGuardrailNames()
      tooling.reload(next)
      delivery.configure(next)
      pools.reset()
      isReloadRefused = false
    },
    refuseReload: () => void (isReloadRefused = true),
    close: () => (closing ??= close()),
  }
}
