import { setTimeout as sleep } from 'node:timers/promises'
import { createFindGeneration } from '../accounts/find-generation.ts'
import { systemClock } from '../lib/clock.ts'
import type { FastifyInstance } from 'fastify'
import { countModels, findModel, listModels, modelsQuery, type MayUse } from '../catalog/list-models.ts'
import { presentEndpoints, presentProviders, type EndpointStats } from '../catalog/present.ts'
import type { Health } from '../router/health.ts'
import type { Quantiles } from '../router/sketch.ts'
import { doorsOpenApi } from '../doors/openapi.ts'
import { createManagementApp, type Caller, type ManagementOptions } from '../http/management/app.ts'
import { estimateRequest } from '../router/estimate.ts'
import { consoleRoutes } from '../http/management/console-routes.ts'
import { catalogRoutes, type CatalogViews } from '../http/management/catalog-routes.ts'
import { generateContentRoutes } from '../http/management/generate-content-routes.ts'
import { generationListRoutes } from '../http/management/generation-list-routes.ts'
import { generationRoutes } from '../http/management/generation-routes.ts'
import { buildOpenApi } from '../http/management/openapi.ts'
import { operationsRoutes, PROBES } from '../http/management/operations-routes.ts'
import type { RegisteredRoute } from '../http/management/route-doc.ts'
import { findConsole } from './console-files.ts'
import { accountRoutes, type AccountDependencies } from './management-accounts.ts'
import { policyRoutes, type PolicyDependencies } from './management-policies.ts'
import { destinationManagement, type DestinationDependencies } from './management-destinations.ts'
import { compileEndpointRule } from '../pipeline/guardrails/endpoint-rules.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { VERSION } from '../version.ts'

export interface ManagementDependencies
  extends Omit<ManagementOptions, 'bodyLimitBytes'>, Omit<AccountDependencies, 'findGeneration'>, PolicyDependencies {
  readonly metrics: Pick<Metrics, 'text' | 'contentType'>
  readonly destinations: DestinationDependencies
}

export interface ManagementApi {
  readonly app: FastifyInstance
  readonly routes: readonly RegisteredRoute[]
}

const BODY_LIMIT = 1024 * 1024

/** What guardrails let a key use. Undefined for management keys, and if nothing is forbidden. */
function usableBy({ policies }: ManagementDependencies, { key, owner }: Caller): MayUse | undefined {
  if (key.kind !== 'inference') return undefined
  const forbids = compileEndpointRule(policies.guardrails.of(owner) ?? [])
  return forbids === undefined ? undefined : (endpoint) => forbids(endpoint) === undefined
}

/** Wires the management API. Loaded with the first request to it, so that the socket opens before the framework is loaded. */
export async function buildManagement(deps: ManagementDependencies): Promise<ManagementApi> {
  const registered: RegisteredRoute[] = []
  const find = createFindGeneration({
    look: async (id, workspaceId) => deps.sink.pending(id, workspaceId) ?? (await deps.store.generations.get(id, workspaceId)),
    clock: systemClock,
    sleep,
  })
  const views: Pick<CatalogViews, 'models' | 'model'> = {
    models: (search, caller) => listModels(deps.catalog(), search, usableBy(deps, caller)),
    model: (slug) => findModel(deps.catalog(), slug),
  }
  const app = createManagementApp({ ...deps, bodyLimitBytes: BODY_LIMIT, onRoute: (route) => registered.push(route) }, [
    operationsRoutes({ metrics: deps.metrics, openApi: once(() => JSON.stringify(describeApi(registered))) }),
    catalogRoutes({
      ...views,
      query: modelsQuery,
      count: (search, caller) => countModels(deps.catalog(), search, usableBy(deps, caller)),
      providers: () => ({ data: presentProviders(deps.catalog()) }),
      endpoints: (slug) => {
        const model = deps.catalog().find(slug)
        return model === undefined ? undefined : { data: presentEndpoints(model, (endpoint) => statsOf(deps.health, endpoint.id)) }
      },
    }),
    generateContentRoutes({
      views,
      estimate: (request) => estimateRequest(request).inputTokens,
      presets: deps.policies.presets,
      bodyLimitBytes: deps.config().server.bodyLimit,
    }),
    consoleRoutes({ files: findConsole(), isOn: () => deps.config().server.console }),
    generationRoutes({ find }),
    generationListRoutes({ find, list: (filter, page) => deps.store.generations.list(filter, page) }),
    ...accountRoutes({ ...deps, findGeneration: find }),
    ...policyRoutes(deps),
    ...destinationManagement(deps.destinations),
  ])
  await app.ready()
  return { app, routes: registered }
}

function statsOf(health: Health, endpointId: string): EndpointStats {
  const { latencyLast30m, throughputLast30m, uptimeLast5m, uptimeLast30m, uptimeLast1d } = health.stats(endpointId)
  return {
    ...(latencyLast30m === null ? {} : { latency: inMilliseconds(latencyLast30m) }),
    ...(throughputLast30m === null ? {} : { throughput: throughputLast30m }),
    ...(uptimeLast5m === null ? {} : { uptime5m: uptimeLast5m }),
    ...(uptimeLast30m === null ? {} : { uptime30m: uptimeLast30m }),
    ...(uptimeLast1d === null ? {} : { uptime1d: uptimeLast1d }),
  }
}

const inMilliseconds = ({ p50, p75, p90, p99 }: Quantiles): Quantiles => ({ p50: p50 * 1000, p75: p75 * 1000, p90: p90 * 1000, p99: p99 * 1000 })

/** The OpenAPI document of these routes, the front doors and the routes of the server itself. */
function describeApi(routes: readonly RegisteredRoute[]): ReturnType<typeof buildOpenApi> {
  return buildOpenApi({ title: 'Signalbox', version: VERSION, doors: [doorsOpenApi()], routes: [...PROBES, ...routes] })
}

/** Computed at the first call. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}
