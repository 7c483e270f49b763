import { z } from 'zod'
import { GatewayError } from '../../core/error.ts'
import type { Presets } from '../../core/preset.ts'
import type { ModelRequest } from '../../core/request.ts'
import { generateContent } from '../../doors/generate-content/door.ts'
import { asListedModel, listedPage } from '../../doors/generate-content/model-list.ts'
import { LATER_PATH, METHODS, modelNamed, MODELS_PATH, SHORT_PATH, VECTOR_METHODS } from '../../doors/generate-content/path.ts'
import { translate } from '../../doors/generate-content/to-responses.ts'
import { decodeResponsesRequest } from '../../doors/responses/decode-request.ts'
import { applyPreset } from '../../doors/shared/apply-preset.ts'
import { isJsonObject } from '../../lib/json.ts'
import { callerOf, type ManagementRoutes } from './app.ts'
import type { CatalogViews } from './catalog-routes.ts'
import { component, type RouteDoc } from './route-doc.ts'

const tag = 'GenerateContent'
const error = 'GenerateContentError'
const COUNT = ':countTokens'

interface Named {
  readonly '*'?: string
  readonly author?: string
  readonly model?: string
}

const listed = component(
  'GenerateContentModel',
  z.object({
    name: z.string().describe('`models/` and the name used in requests.'),
    displayName: z.string(),
    description: z.string().optional(),
    version: z.string(),
    inputTokenLimit: z.int().optional(),
    outputTokenLimit: z.int().optional(),
    supportedGenerationMethods: z.array(z.string()),
    thinking: z.boolean(),
  }),
)
const page = z.object({ models: z.array(listed), nextPageToken: z.string().optional() })
const query = z.object({ pageSize: z.string().optional().describe('At most 1000; default 50.'), pageToken: z.string().optional() })
const count = component(
  'GenerateContentTokens',
  z.object({ totalTokens: z.int().min(0).describe('An estimate, usually within a third: each model counts differently.') }),
)

export interface GenerateContentRouteOptions {
  readonly views: Pick<CatalogViews, 'models' | 'model'>
  readonly estimate: (request: ModelRequest) => number
  readonly presets: Presets
  readonly bodyLimitBytes: number
}

/** The routes beside this format's door: its models, and the tokens of a prompt. */
export function generateContentRoutes({ views, estimate, presets, bodyLimitBytes }: GenerateContentRouteOptions): ManagementRoutes {
  return (app) => {
    const keys = { keyPlaces: [generateContent] }
    const folder = MODELS_PATH.slice(0, -1)
    const list: RouteDoc = { id: 'listGenerateContentModels', tag, summary: 'List the models that are served', query, answer: page, error }
    app.get(folder, { config: { access: 'any', doc: list, ...keys } }, (request) => {
      const search = new URL(request.url, 'http://gateway').searchParams
      return listedPage((wanted) => views.models(wanted, callerOf(request)), search)
    })

    const one: RouteDoc = { id: 'getGenerateContentModel', tag, summary: 'Read one model, as in the list', answer: listed, error }
    const address = `${MODELS_PATH}:model`
    app.get<{ Params: { '*': string } }>(`${MODELS_PATH}*`, { config: { access: 'any', doc: one, address, ...keys } }, (request) => {
      const found = views.model(request.params['*'])
      if (found === undefined) throw new GatewayError('not_found', `No endpoint serves ${request.params['*']}`.slice(0, 300))
      return asListedModel(found)
    })

    const weigh: Omit<RouteDoc, 'id'> = {
      tag,
      summary: 'Estimate the tokens of a prompt without calling a model',
      body: { component: 'GenerateContentCount' },
      answer: count,
      errors: { 404: 'There is no such method, or the preset does not exist.', 422: 'A tool is forced that is not offered.' },
      error,
    }
    for (const [path, id, name, rest] of [
      [MODELS_PATH, 'countGenerateContentTokens', ':model', '*'],
      [LATER_PATH, 'countGenerateContentTokensV1', ':model', '*'],
      // Other routes share this prefix, and only names with a slash are served here.
      [SHORT_PATH, 'countGenerateContentTokensByName', ':author/:model', `:author/:model(^.+${COUNT}$)`],
    ] as const) {
      const config = { access: 'inference', doc: { ...weigh, id }, address: `${path}${name}${COUNT}`, ...keys } as const
      app.post<{ Params: Named }>(`${path}${rest}`, { bodyLimit: bodyLimitBytes, config }, async (request) => {
        const { '*': named = `${request.params.author}/${request.params.model}` } = request.params
        if (!named.endsWith(COUNT))
          throw new GatewayError('not_found', `There is no such method here: known are ${[...METHODS, COUNT, ...VECTOR_METHODS].join(', ')}`)
        const { owner } = callerOf(request)
        const addressed = { model: modelNamed(named.slice(0, -COUNT.length)), stream: false }
        const { body } = applyPreset(translate(promptIn(request.body), addressed).body, (slug) => presets.find(owner.workspaceId, slug))
        return { totalTokens: estimate(decodeResponsesRequest(body)) }
      })
    }
  }
}

/** The prompt is in the body, or in a complete request within the body. */
function promptIn(body: unknown): unknown {
  const { generateContentRequest: camelCased, generate_content_request: spelled } = isJsonObject(body) ? body : {}
  return camelCased ?? spelled ?? body
}
