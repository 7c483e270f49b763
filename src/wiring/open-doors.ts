import { addressesOf, DOORS, type Entrance } from '../doors/index.ts'
import { createAnswerRoute, type AnswerRouteOptions } from '../http/answer-route.ts'
import { LazyApi, type LazyApiOptions } from '../http/management/lazy-handler.ts'
import type { RouteHandler } from '../http/server.ts'

/** The routes of all front doors, as `METHOD /path`. A door is loaded with its first request. */
export function openDoors(answering: AnswerRouteOptions, options: LazyApiOptions): readonly (readonly [route: string, handler: RouteHandler])[] {
  return DOORS.flatMap((entrance) => {
    const handler = enter(entrance, answering, options)
    return addressesOf(entrance).map((address) => [`POST ${address}`, handler] as const)
  })
}

function enter(entrance: Entrance, answering: AnswerRouteOptions, options: LazyApiOptions): RouteHandler {
  if ('door' in entrance) return createAnswerRoute(answering, entrance.door)
  return new LazyApi(async () => ({ app: { routing: createAnswerRoute(answering, await entrance.load()) } }), options).handle
}
