import type { FastifyRequest } from 'fastify'
import { GatewayError } from '../../core/error.ts'
import type { ManagementRoutes } from './app.ts'

/** The catalog as the contract shows it; each answer is a whole JSON body. */
export interface CatalogViews {
  /** `search`: the query string. Throws GatewayError `invalid_request` for a parameter that is wrong. */
  readonly models: (search: URLSearchParams) => unknown
  readonly count: (search: URLSearchParams) => unknown
  /** Undefined for a model nobody serves. */
  readonly endpoints: (slug: string) => unknown
  readonly providers: () => unknown
}

/** `GET /api/v1/models`, `/models/count`, `/models/{author}/{slug}/endpoints`, `/providers`. */
export function catalogRoutes(views: CatalogViews): ManagementRoutes {
  return (app) => {
    const any = { config: { access: 'any' } } as const
    app.get('/api/v1/models', any, (request) => views.models(searchOf(request)))
    app.get('/api/v1/models/count', any, (request) => views.count(searchOf(request)))
    app.get('/api/v1/providers', any, () => views.providers())
    app.get<{ Params: { author: string; slug: string } }>('/api/v1/models/:author/:slug/endpoints', any, (request) => {
      const { author, slug } = request.params
      const found = views.endpoints(`${author}/${slug}`)
      if (found === undefined) throw new GatewayError('not_found', `No endpoint serves ${author}/${slug}`.slice(0, 300))
      return found
    })
  }
}

const searchOf = (request: FastifyRequest): URLSearchParams => new URL(request.url, 'http://gateway').searchParams
