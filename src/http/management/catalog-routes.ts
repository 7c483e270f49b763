import { GatewayError } from '../../core/error.ts'
import type { ManagementRoutes } from './app.ts'

/** The catalog as the contract shows it; each answer is a whole JSON body. */
export interface CatalogViews {
  readonly models: () => unknown
  readonly count: () => unknown
  /** Undefined for a model nobody serves. */
  readonly endpoints: (author: string, slug: string) => unknown
  readonly providers: () => unknown
}

/** `GET /api/v1/models`, `/models/count`, `/models/{author}/{slug}/endpoints`, `/providers`. */
export function catalogRoutes(views: CatalogViews): ManagementRoutes {
  return (app) => {
    const any = { config: { access: 'any' } } as const
    app.get('/api/v1/models', any, () => views.models())
    app.get('/api/v1/models/count', any, () => views.count())
    app.get('/api/v1/providers', any, () => views.providers())
    app.get<{ Params: { author: string; slug: string } }>('/api/v1/models/:author/:slug/endpoints', any, (request) => {
      const { author, slug } = request.params
      const found = views.endpoints(author, slug)
      if (found === undefined) throw new GatewayError('not_found', `No endpoint serves ${author}/${slug}`.slice(0, 300))
      return found
    })
  }
}
