import { z } from 'zod'
import type { Owner } from '../../core/call.ts'
import type { Presets } from '../../core/preset.ts'
import type { ModelRequest } from '../../core/request.ts'
import { decodeResponsesRequest } from '../../doors/responses/decode-request.ts'
import { applyPreset } from '../../doors/shared/apply-preset.ts'
import { sessionHeader } from '../request-headers.ts'
import { callerOf, type ManagementRoutes } from './app.ts'
import { component, type RouteDoc } from './route-doc.ts'

const endpoint = { endpoint: z.string(), model: z.string(), provider: z.string(), tag: z.string() }
const milliseconds = z.number().describe('Milliseconds.')
const explanation = component(
  'RouteExplanation',
  z.object({
    requested: z.string(),
    strategy: z.string(),
    order: z.string().describe('How the endpoints of the first model are ordered: a sort, `order`, or `balanced`.'),
    estimated_input_tokens: z.number().nullable(),
    attempts: z
      .array(
        z.object({
          position: z.int(),
          ...endpoint,
          requested: z.string(),
          upstream_model: z.string(),
          is_byok: z.boolean(),
          state: z.string(),
          notes: z.array(z.string()).readonly(),
          dropped_parameters: z.array(z.string()).readonly(),
          limits_ms: z.object({ connect: milliseconds, first_token: milliseconds, idle: milliseconds, total: milliseconds }),
          score: z.object({
            price: z.number().describe('USD for a million prompt and a million completion tokens.'),
            share: z.number().nullable().describe('Share of first attempts; null if the order is fixed.'),
            latency_p50_ms: z.number().nullable(),
            throughput_p50: z.number().nullable(),
          }),
        }),
      )
      .readonly(),
    rejected: z.array(z.object({ ...endpoint, reason: z.string() })).readonly(),
    params: z.record(z.string(), z.unknown()),
    error: z.object({ code: z.int(), error_type: z.string(), message: z.string() }).nullable(),
  }),
)

const doc: RouteDoc = {
  id: 'explainRoute',
  tag: 'Responses',
  summary: 'Plan a response without sending it: which endpoints would be tried, and why the others would not',
  headers: z.object({ 'x-session-id': z.string().max(256).optional().describe('The same as session_id in the body, which takes precedence.') }),
  body: { component: 'ResponsesRequest' },
  answer: explanation,
  errors: { 413: 'The body is larger than the limit.' },
}

export interface ExplainRouteOptions {
  /** The plan of a request as JSON; calls nobody. Throws GatewayError if a model would have to be asked to choose the models. */
  readonly explain: (request: ModelRequest, owner: Owner, sessionId: string | undefined) => Promise<z.output<typeof explanation>>
  readonly presets: Presets
  /** Headers in which clients name their sessions, besides the gateway's own. */
  readonly sessionHeaders: () => readonly string[]
  readonly bodyLimitBytes: number
}

/** `POST /api/v1/route/explain`: takes the body of a response and answers with its plan instead of sending it. */
export function explainRoutes({ explain, presets, sessionHeaders, bodyLimitBytes }: ExplainRouteOptions): ManagementRoutes {
  return (app) => {
    app.post('/api/v1/route/explain', { bodyLimit: bodyLimitBytes, config: { access: 'inference', doc } }, (request) => {
      const sessionId = sessionHeader(request.raw, sessionHeaders())
      const { owner } = callerOf(request)
      const { body } = applyPreset(request.body, (slug) => presets.find(owner.workspaceId, slug))
      const decoded = decodeResponsesRequest(body, sessionId === undefined ? {} : { sessionId })
      return explain(decoded, owner, sessionId)
    })
  }
}
