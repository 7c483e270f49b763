import type { ManagementRoutes } from './app.ts'

export interface OperationsOptions {
  readonly metrics: { text(): Promise<string>; readonly contentType: string }
  readonly openApi: () => { readonly [key: string]: unknown }
}

/** `/metrics` and `/openapi.json`. */
export function operationsRoutes(options: OperationsOptions): ManagementRoutes {
  return (app) => {
    const open = { config: { access: 'public' } } as const
    app.get('/metrics', open, async (_request, reply) => reply.type(options.metrics.contentType).send(await options.metrics.text()))
    app.get('/openapi.json', open, () => options.openApi())
  }
}
