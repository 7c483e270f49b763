import type { IncomingMessage, ServerResponse } from 'node:http'

export type RouteHandler = (request: IncomingMessage, response: ServerResponse) => void

/** `POST /folder/:name:method` or `POST /folder/:name/method`: a name of any length, with or without slashes, between a folder and a method. */
const NAMED = /^(.*\/):[a-z_]+([:/][\w/]+)$/

/** Finds the handler for a method and a path without query. Literal routes come first; routes with a name are few. */
export function createRouteTable(routes: ReadonlyMap<string, RouteHandler>): (method: string, path: string) => RouteHandler | undefined {
  const named = [...routes].flatMap(([route, handler]) => {
    const [, folder, end] = NAMED.exec(route) ?? []
    return folder === undefined || end === undefined ? [] : [{ folder, end, handler }]
  })
  return (method, path) => {
    const route = `${method} ${path}`
    const handler = routes.get(route)
    if (handler !== undefined || named.length === 0) return handler
    return named.find(({ folder, end }) => route.startsWith(folder) && route.endsWith(end) && route.length > folder.length + end.length)?.handler
  }
}
