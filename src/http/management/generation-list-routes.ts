import type { z } from 'zod'
import { GatewayError } from '../../core/error.ts'
import type { GenerationStore } from '../../core/store.ts'
import type { ManagementRoutes } from './app.ts'
import { filterOf, generationDetailAnswer, generationsAnswer, generationsQuery, presentDetail, presentSummary } from './generation-list-shapes.ts'
import type { GenerationRouteOptions } from './generation-routes.ts'
import { parseQuery, scopeOf, workspaceWanted } from './request-input.ts'
import type { RouteDoc } from './route-doc.ts'

export interface GenerationListRouteOptions extends GenerationRouteOptions {
  /** Records that are stored; those still on their way appear later. */
  readonly list: GenerationStore['list']
}

const BASE = '/api/v1/generations'
const tag = 'Generations'
const docs = {
  list: {
    id: 'listGenerations',
    tag,
    summary: 'Search the records of calls, newest first. A page may be short or empty: continue until `next_cursor` is null',
    query: generationsQuery,
    answer: generationsAnswer,
    errors: { 404: 'There is no such workspace.' },
  },
  get: {
    id: 'getGenerationDetail',
    tag,
    summary: 'Read the full record of a call: attempts, costs, stages and tools',
    answer: generationDetailAnswer,
    errors: { 404: 'There is no such generation.' },
  },
} satisfies { readonly [name: string]: RouteDoc }

interface ById {
  readonly Params: { readonly id: string }
}

/**
 * `GET /api/v1/generations` and `GET /api/v1/generations/{id}`: our own routes beside the contract's `/api/v1/generation`, for those who do not know
 * an id yet. A page looks at a bounded number of records, so it may be short or empty while `next_cursor` says that there is more. Management keys
 * only; those of the default workspace reach every workspace.
 */
export function generationListRoutes({ list, find }: GenerationListRouteOptions): ManagementRoutes {
  return (app) => {
    app.get(BASE, { config: { access: 'management', doc: docs.list } }, async (request): Promise<z.output<typeof generationsAnswer>> => {
      const query = parseQuery(generationsQuery, request)
      const { limit, cursor, workspace_id: named } = query
      const workspaceId = named === undefined ? scopeOf(request) : workspaceWanted(request, named)
      const filter = { ...filterOf(query), ...(workspaceId === undefined ? {} : { workspaceId }) }
      const { generations, nextCursor } = await list(filter, { limit, ...(cursor === undefined ? {} : { cursor }) })
      return { data: generations.map(presentSummary), next_cursor: nextCursor }
    })

    app.get<ById>(
      `${BASE}/:id`,
      { config: { access: 'management', doc: docs.get } },
      async (request): Promise<z.output<typeof generationDetailAnswer>> => {
        const { id } = request.params
        const generation = await find(id, scopeOf(request))
        if (generation === undefined) throw new GatewayError('not_found', `There is no generation ${id.slice(0, 100)}`)
        return { data: presentDetail(generation) }
      },
    )
  }
}
