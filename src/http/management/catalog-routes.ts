import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { GatewayError } from '../../core/error.ts'
import { generateContent } from '../../doors/generate-content/door.ts'
import { asListedModel, listedPage, type ListedModel } from '../../doors/generate-content/model-list.ts'
import { speaksGenerateContent } from '../../doors/generate-content/path.ts'
import { messages } from '../../doors/messages/door.ts'
import { asMessagesModel, messagesPage, speaksMessages } from '../../doors/messages/model-list.ts'
import { callerOf, type Caller, type ManagementRoutes } from './app.ts'
import { countAnswer, endpointsAnswer, modelAnswer, modelsAnswer, providersAnswer, type ReadonlyDeep } from './catalog-shapes.ts'
import type { RouteDoc } from './route-doc.ts'

type Answer<T extends z.ZodType> = ReadonlyDeep<z.output<T>>

const tag = 'Models'

/** The catalog in the contract's shapes; each answer is a whole JSON body. */
export interface CatalogViews {
  /** `search`: the query string. Models the caller may not use are left out. Throws GatewayError `invalid_request` for an invalid parameter. */
  readonly models: (search: URLSearchParams, caller: Caller) => Answer<typeof modelsAnswer>
  readonly count: (search: URLSearchParams, caller: Caller) => Answer<typeof countAnswer>
  /** Both undefined for a model that nobody serves. */
  readonly model: (slug: string) => Omit<Answer<typeof modelAnswer>, 'object' | 'owned_by'> | undefined
  readonly endpoints: (slug: string) => Answer<typeof endpointsAnswer> | undefined
  readonly providers: () => Answer<typeof providersAnswer>
  /** The query parameters of `models` and `count`. */
  readonly query: z.ZodObject
}

/** `GET /api/v1/models`, `/models/user`, `/models/count`, `/embeddings/models`, `/models/{author}/{slug}`, `/models/{author}/{slug}/endpoints`, `/providers`. */
export function catalogRoutes(views: CatalogViews): ManagementRoutes {
  return (app) => {
    const any = (doc: RouteDoc) => ({ config: { access: 'any', doc } }) as const
    // Clients of several formats list models, each with the key where its format has it.
    const ofAllFormats = (doc: RouteDoc) => ({ config: { access: 'any', doc, keyPlaces: [messages, generateContent] } }) as const
    const { query } = views
    app.get(
      '/api/v1/models',
      ofAllFormats({ id: 'getModels', tag, summary: 'List the models that are served', query, answer: modelsAnswer }),
      (request) => {
        const listed = (search: URLSearchParams): Answer<typeof modelsAnswer> => views.models(search, callerOf(request))
        if (speaksMessages(request.headers)) return messagesPage(listed, searchOf(request))
        if (speaksGenerateContent(request.headers)) return listedPage(listed, searchOf(request))
        return listed(searchOf(request))
      },
    )
    // Not in the contract: clients of the hosted service ask like this for the models their key may use.
    const own: RouteDoc = {
      id: 'listModelsUser',
      tag,
      summary: 'List the models the key may use (the same under another path)',
      query,
      answer: modelsAnswer,
    }
    app.get('/api/v1/models/user', any(own), (request) => views.models(searchOf(request), callerOf(request)))
    app.get('/api/v1/models/count', any({ id: 'listModelsCount', tag, summary: 'Count the models', query, answer: countAnswer }), (request) =>
      views.count(searchOf(request), callerOf(request)),
    )
    const embedders: RouteDoc = { id: 'listEmbeddingsModels', tag, summary: 'List embedding models', query, answer: modelsAnswer }
    app.get('/api/v1/embeddings/models', any(embedders), (request) => {
      const search = searchOf(request)
      search.set('output_modalities', 'embeddings')
      return views.models(search, callerOf(request))
    })
    // A single model is not in the contract: clients ask for it without an envelope, with its slash as it is or escaped.
    const one = (slug: string, request: FastifyRequest): Answer<typeof modelAnswer> | ListedModel => {
      if (slug === '')
        throw new GatewayError('not_found', 'There is no model without a name: models are listed with GET /api/v1/models, without a slash behind it')
      const found = views.model(slug)
      if (found === undefined) throw new GatewayError('not_found', `No endpoint serves ${slug}`.slice(0, 300))
      if (speaksGenerateContent(request.headers)) return asListedModel(found)
      const shown = speaksMessages(request.headers) ? asMessagesModel(found) : found
      return { ...shown, object: 'model', owned_by: (found.alias_target?.slug ?? found.id).replace(/\/.*$/, '') }
    }
    const model: RouteDoc = { id: 'getModel', tag, summary: 'Read one model, as in the list', answer: modelAnswer }
    app.get<{ Params: { author: string; slug: string } }>('/api/v1/models/:author/:slug', ofAllFormats(model), (request) =>
      one(`${request.params.author}/${request.params.slug}`, request),
    )
    const encoded: RouteDoc = { ...model, id: 'getModelByEncodedId', summary: 'The same, with the slash of the name as %2F' }
    app.get<{ Params: { id: string } }>('/api/v1/models/:id', ofAllFormats(encoded), (request) => one(request.params.id, request))
    app.get('/api/v1/providers', any({ id: 'listProviders', tag, summary: 'List the providers in use', answer: providersAnswer }), () =>
      views.providers(),
    )
    const endpoints: RouteDoc = {
      id: 'listEndpoints',
      tag,
      summary: 'List the endpoints of a model, with prices and measurements',
      answer: endpointsAnswer,
    }
    app.get<{ Params: { author: string; slug: string } }>('/api/v1/models/:author/:slug/endpoints', any(endpoints), (request) => {
      const { author, slug } = request.params
      const found = views.endpoints(`${author}/${slug}`)
      if (found === undefined) throw new GatewayError('not_found', `No endpoint serves ${author}/${slug}`.slice(0, 300))
      return found
    })
  }
}

const searchOf = (request: FastifyRequest): URLSearchParams => new URL(request.url, 'http://gateway').searchParams
