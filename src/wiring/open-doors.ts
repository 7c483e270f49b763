import { addressesOf, DOORS, type DoorEntry } from '../doors/index.ts'
import { createAnswerRoute, type AnswerRouteOptions } from '../http/answer-route.ts'
import { LazyApi, type LazyApiOptions } from '../http/management/lazy-handler.ts'
import type { RouteHandler } from '../http/server.ts'

/** The routes of all front doors, as `METHOD /path`. A door is loaded with its first request. */
export function openDoors(answering: AnswerRouteOptions, options: LazyApiOptions): readonly (readonly [route: string, handler: RouteHandler])[] {
  return DOORS.flatMap((entry) => {
    const handler = enter(entry, answering, options)
    return addressesOf(entry).map((address) => [`POST ${address}`, handler] as const)
  })
}

function enter(entry: DoorEntry, answering: AnswerRouteOptions, options: LazyApiOptions): RouteHandler {
  if ('door' in entry) return createAnswerRoute(answering, entry.door)
  return new LazyApi(async () => ({ app: { routing: createAnswerRoute(answering, await entry.load()) } }), options).handle
}
