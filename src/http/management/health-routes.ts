import type { ManagementRoutes } from './app.ts'

export interface HealthRouteOptions {
  /** Undefined when ready; else what is missing. */
  readonly notReady: () => string | undefined
  readonly metrics: { text(): Promise<string>; readonly contentType: string }
  readonly openApi: () => { readonly [key: string]: unknown }
}

/** `/healthz` (the process lives), `/readyz` (it can serve), `/metrics`, `/openapi.json`. */
export function healthRoutes(options: HealthRouteOptions): ManagementRoutes {
  return (app) => {
    const open = { config: { access: 'public' } } as const
    app.get('/healthz', open, () => ({ status: 'ok' }))
    app.get('/readyz', open, (_request, reply) => {
      const missing = options.notReady()
      return missing === undefined ? { status: 'ready' } : reply.code(503).send({ status: 'not_ready', reason: missing })
    })
    app.get('/metrics', open, async (_request, reply) => reply.type(options.metrics.contentType).send(await options.metrics.text()))
    app.get('/openapi.json', open, () => options.openApi())
  }
}
