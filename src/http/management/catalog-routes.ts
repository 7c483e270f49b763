import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { GatewayError } from '../../core/error.ts'
import type { ManagementRoutes } from './app.ts'
import { countAnswer, endpointsAnswer, modelsAnswer, providersAnswer, type ReadonlyDeep } from './catalog-shapes.ts'
import type { RouteDoc } from './route-doc.ts'

type Answer<T extends z.ZodType> = ReadonlyDeep<z.output<T>>

const tag = 'Models'

/** The catalog as the contract shows it; each answer is a whole JSON body. */
export interface CatalogViews {
  /** `search`: the query string. Throws GatewayError `invalid_request` for a parameter that is wrong. */
  readonly models: (search: URLSearchParams) => Answer<typeof modelsAnswer>
  readonly count: (search: URLSearchParams) => Answer<typeof countAnswer>
  /** Undefined for a model nobody serves. */
  readonly endpoints: (slug: string) => Answer<typeof endpointsAnswer> | undefined
  readonly providers: () => Answer<typeof providersAnswer>
  /** The query string that `models` and `count` read. */
  readonly query: z.ZodObject
}

/** `GET /api/v1/models`, `/models/count`, `/models/{author}/{slug}/endpoints`, `/providers`. */
export function catalogRoutes(views: CatalogViews): ManagementRoutes {
  return (app) => {
    const any = (doc: RouteDoc) => ({ config: { access: 'any', doc } }) as const
    const { query } = views
    app.get('/api/v1/models', any({ id: 'getModels', tag, summary: 'List the models that are served', query, answer: modelsAnswer }), (request) =>
      views.models(searchOf(request)),
    )
    app.get('/api/v1/models/count', any({ id: 'listModelsCount', tag, summary: 'Count the models', query, answer: countAnswer }), (request) =>
      views.count(searchOf(request)),
    )
    app.get('/api/v1/providers', any({ id: 'listProviders', tag, summary: 'List the providers that are on', answer: providersAnswer }), () =>
      views.providers(),
    )
    const endpoints: RouteDoc = { id: 'listEndpoints', tag, summary: 'Who serves a model, at what price and how well', answer: endpointsAnswer }
    app.get<{ Params: { author: string; slug: string } }>('/api/v1/models/:author/:slug/endpoints', any(endpoints), (request) => {
      const { author, slug } = request.params
      const found = views.endpoints(`${author}/${slug}`)
      if (found === undefined) throw new GatewayError('not_found', `No endpoint serves ${author}/${slug}`.slice(0, 300))
      return found
    })
  }
}

const searchOf = (request: FastifyRequest): URLSearchParams => new URL(request.url, 'http://gateway').searchParams
