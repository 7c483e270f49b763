import { z } from 'zod'
import type { Presets } from '../../core/preset.ts'
import type { ModelRequest } from '../../core/request.ts'
import { messages } from '../../doors/messages/door.ts'
import { decodeResponsesRequest } from '../../doors/responses/decode-request.ts'
import { responses } from '../../doors/responses/door.ts'
import { applyPreset } from '../../doors/shared/apply-preset.ts'
import type { TranslatingDoor } from '../../doors/shared/door.ts'
import { callerOf, type ManagementRoutes } from './app.ts'
import { component, type RouteDoc } from './route-doc.ts'

const tokens = z.int().min(0).describe('An estimate, usually within a third: each model counts differently.')
const counting = {
  summary: 'Estimate the tokens of a prompt without calling a model',
  errors: { 404: 'The preset does not exist.', 422: 'A tool is forced that is not offered.' },
} as const

interface Counted {
  readonly door: TranslatingDoor
  /** Relative to the door's own path. */
  readonly path: string
  readonly doc: RouteDoc
  readonly answer: (tokens: number) => object
}

/** Where clients of each format ask, and the shape of the answer. */
const COUNTED: readonly Counted[] = [
  {
    door: responses,
    path: '/input_tokens',
    doc: {
      ...counting,
      id: 'countResponsesTokens',
      tag: 'Responses',
      body: { component: 'ResponsesRequest' },
      answer: component('ResponsesTokens', z.object({ object: z.literal('response.input_tokens'), input_tokens: tokens })),
    },
    answer: (count) => ({ object: 'response.input_tokens', input_tokens: count }),
  },
  {
    door: messages,
    path: '/count_tokens',
    doc: {
      ...counting,
      id: 'countMessageTokens',
      tag: 'Messages',
      body: { component: 'MessagesRequest' },
      answer: component('MessagesTokens', z.object({ input_tokens: tokens })),
      error: 'MessagesError',
    },
    answer: (count) => ({ input_tokens: count }),
  },
]

export interface CountTokensRouteOptions {
  readonly estimate: (request: ModelRequest) => number
  readonly presets: Presets
  readonly bodyLimitBytes: number
}

/** `POST /api/v1/responses/input_tokens`, `POST /api/v1/messages/count_tokens`: the body of a call, answered with the estimated tokens of its prompt. */
export function countTokensRoutes({ estimate, presets, bodyLimitBytes }: CountTokensRouteOptions): ManagementRoutes {
  return (app) => {
    for (const { door, path, doc, answer } of COUNTED) {
      const config = { access: 'inference', doc, keyPlaces: [door] } as const
      app.post(`${door.path}${path}`, { bodyLimit: bodyLimitBytes, config }, async (request) => {
        const { owner } = callerOf(request)
        const { body } = applyPreset(door.read(request.body).body, (slug) => presets.find(owner.workspaceId, slug))
        return answer(estimate(decodeResponsesRequest(body)))
      })
    }
  }
}
