import type { Owner } from '../../core/call.ts'
import type { ModelRequest } from '../../core/request.ts'
import { decodeResponsesRequest } from '../../doors/responses/decode-request.ts'
import { textHeader } from '../request-headers.ts'
import { callerOf, type ManagementRoutes } from './app.ts'

export interface ExplainRouteOptions {
  /** The plan of a request as JSON; calls nobody. */
  readonly explain: (request: ModelRequest, owner: Owner, sessionId: string | undefined) => object
  readonly bodyLimitBytes: number
}

/** `POST /api/v1/route/explain`: the body of a response, answered with the plan instead of being sent. */
export function explainRoutes({ explain, bodyLimitBytes }: ExplainRouteOptions): ManagementRoutes {
  return (app) => {
    app.post('/api/v1/route/explain', { bodyLimit: bodyLimitBytes, config: { access: 'inference' } }, (request) => {
      const sessionId = textHeader(request.raw, 'x-session-id')
      const decoded = decodeResponsesRequest(request.body, sessionId === undefined ? {} : { sessionId })
      return explain(decoded, callerOf(request).owner, sessionId)
    })
  }
}
