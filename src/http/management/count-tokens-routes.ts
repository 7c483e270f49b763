import { z } from 'zod'
import type { Presets } from '../../core/preset.ts'
import type { ModelRequest } from '../../core/request.ts'
import { messages } from '../../doors/messages/door.ts'
import { decodeResponsesRequest } from '../../doors/responses/decode-request.ts'
import { applyPreset } from '../../doors/shared/apply-preset.ts'
import { callerOf, type ManagementRoutes } from './app.ts'
import { component, type RouteDoc } from './route-doc.ts'

const doc: RouteDoc = {
  id: 'countMessageTokens',
  tag: 'Messages',
  summary: 'Estimate the tokens of a prompt, without asking anyone',
  body: { component: 'MessagesRequest' },
  answer: component(
    'MessagesTokens',
    z.object({ input_tokens: z.int().min(0).describe('An estimate of the gateway, mostly within a third: each model counts in its own way.') }),
  ),
  errors: { 404: 'The preset does not exist.', 422: 'A tool is forced that is not offered.' },
  error: 'MessagesError',
}

export interface CountTokensRouteOptions {
  readonly estimate: (request: ModelRequest) => number
  readonly presets: Presets
  readonly bodyLimitBytes: number
}

/** `POST /api/v1/messages/count_tokens`: the body of a message, answered with what its prompt weighs. */
export function countTokensRoutes({ estimate, presets, bodyLimitBytes }: CountTokensRouteOptions): ManagementRoutes {
  return (app) => {
    const config = { access: 'inference', doc, keyPlaces: [messages] } as const
    app.post(`${messages.path}/count_tokens`, { bodyLimit: bodyLimitBytes, config }, async (request) => {
      const { owner } = callerOf(request)
      const { body } = applyPreset(messages.read(request.body).body, (slug) => presets.find(owner.workspaceId, slug))
      return { input_tokens: estimate(decodeResponsesRequest(body)) }
    })
  }
}
