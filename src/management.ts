import type { FastifyInstance } from 'fastify'
import { countModels, listModels } from './catalog/list-models.ts'
import { presentEndpoints, presentProviders, type EndpointStats } from './catalog/present.ts'
import type { Health } from './router/health.ts'
import type { Quantiles } from './router/sketch.ts'
import { responsesOpenApi } from './doors/responses/openapi.ts'
import { createManagementApp, type ManagementOptions } from './http/management/app.ts'
import { catalogRoutes } from './http/management/catalog-routes.ts'
import { generationRoutes } from './http/management/generation-routes.ts'
import { operationsRoutes } from './http/management/operations-routes.ts'
import { accountRoutes, type AccountDependencies } from './management-accounts.ts'
import { destinationManagement, type DestinationDependencies } from './management-destinations.ts'
import type { Metrics } from './telemetry/metrics.ts'
import { VERSION } from './version.ts'

export interface ManagementDependencies extends Omit<ManagementOptions, 'bodyLimitBytes'>, AccountDependencies {
  readonly metrics: Metrics
  readonly destinations: DestinationDependencies
}

const BODY_LIMIT = 1024 * 1024

/** Wires the management API. Loaded with its first request, so that the socket opens before the framework is read. */
export async function buildManagement(deps: ManagementDependencies): Promise<FastifyInstance> {
  const app = createManagementApp({ ...deps, bodyLimitBytes: BODY_LIMIT }, [
    operationsRoutes({ metrics: deps.metrics, openApi }),
    catalogRoutes({
      models: (search) => listModels(deps.catalog(), search),
      count: (search) => countModels(deps.catalog(), search),
      providers: () => ({ data: presentProviders(deps.catalog()) }),
      endpoints: (slug) => {
        const model = deps.catalog().find(slug)
        return model === undefined ? undefined : { data: presentEndpoints(model, (endpoint) => statsOf(deps.health, endpoint.id)) }
      },
    }),
    generationRoutes({
      find: async (id, workspaceId) => deps.sink.pending(id, workspaceId) ?? (await deps.store.generations.get(id, workspaceId)),
    }),
    ...accountRoutes(deps),
    ...destinationManagement(deps.destinations),
  ])
  await app.ready()
  return app
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

function openApi(): { readonly [key: string]: unknown } {
  return { openapi: '3.1.0', info: { title: 'Signalbox', version: VERSION }, servers: [{ url: '/api/v1' }], ...responsesOpenApi() }
}
