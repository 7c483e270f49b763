import { z } from 'zod'
import type { ManagementRoutes } from './app.ts'
import type { RegisteredRoute, RouteDoc } from './route-doc.ts'

export interface OperationsOptions {
  readonly metrics: { text(): Promise<string>; readonly contentType: string }
  /** The document as JSON. */
  readonly openApi: () => string
}

const tag = 'Operations'
const docs = {
  metrics: { id: 'getMetrics', tag, summary: 'Metrics in the Prometheus text format', answer: { mediaType: 'text/plain' } },
  openApi: { id: 'getOpenApi', tag, summary: 'This document', answer: z.record(z.string(), z.unknown()) },
} satisfies { readonly [name: string]: RouteDoc }

/** `/healthz` and `/readyz`, which the server answers without this API. */
export const PROBES: readonly RegisteredRoute[] = [
  {
    method: 'GET',
    url: '/healthz',
    access: 'public',
    doc: { id: 'getHealth', tag, summary: 'Whether the process is alive', answer: z.object({ status: z.literal('ok') }) },
  },
  {
    method: 'GET',
    url: '/readyz',
    access: 'public',
    doc: {
      id: 'getReadiness',
      tag,
      summary: 'Whether it can serve requests',
      answer: z.object({ status: z.literal('ready') }),
      errors: { 503: { when: 'Not ready.', answer: z.object({ status: z.literal('not_ready'), reason: z.string() }) } },
    },
  },
]

/** `/metrics` and `/openapi.json`. */
export function operationsRoutes(options: OperationsOptions): ManagementRoutes {
  return (app) => {
    const open = (doc: RouteDoc) => ({ config: { access: 'public', doc } }) as const
    app.get('/metrics', open(docs.metrics), async (_request, reply) => reply.type(options.metrics.contentType).send(await options.metrics.text()))
    app.get('/openapi.json', open(docs.openApi), (_request, reply) => reply.type('application/json').send(options.openApi()))
  }
}
