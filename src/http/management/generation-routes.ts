import type { z } from 'zod'
import { GatewayError } from '../../core/error.ts'
import type { Generation } from '../../core/generation.ts'
import type { ManagementRoutes } from './app.ts'
import { generationAnswer, generationQuery, presentGeneration } from './generation-shapes.ts'
import { parseQuery, workspaceReadable } from './request-input.ts'
import type { RouteDoc } from './route-doc.ts'

export interface GenerationRouteOptions {
  /** A generation of one workspace (of any, if undefined), stored or still on its way. */
  readonly find: (id: string, workspaceId: string | undefined) => Promise<Generation | undefined>
}

const doc: RouteDoc = {
  id: 'getGeneration',
  tag: 'Generations',
  summary: 'Read the record of a call, with a key of its workspace',
  query: generationQuery,
  answer: generationAnswer,
  errors: { 404: 'There is no such generation.' },
}

/** `GET /api/v1/generation?id=`: the record of one call, for keys that reach its workspace. */
export function generationRoutes(options: GenerationRouteOptions): ManagementRoutes {
  return (app) => {
    app.get('/api/v1/generation', { config: { access: 'any', doc } }, async (request): Promise<z.output<typeof generationAnswer>> => {
      const { id } = parseQuery(generationQuery, request)
      const generation = await options.find(id, workspaceReadable(request))
      if (generation === undefined) throw new GatewayError('not_found', `There is no generation ${id.slice(0, 100)}`)
      return { data: presentGeneration(generation) }
    })
  }
}
