import { GatewayError } from '../../core/error.ts'

/** What stands between two slashes and means another folder, to every server and proxy. Between escaped slashes it does to many: they unescape first. */
const ELSEWHERE = /(?:^|[/\\])\.{1,2}(?:[/\\]|$)/

/**
 * The id of a model as a segment of an address. Callers may write any id of an open provider, and whatever they write, the request goes to the folder
 * of the models. Throws GatewayError `not_found`.
 */
export function modelSegment(id: string): string {
  if (ELSEWHERE.test(id)) throw new GatewayError('not_found', `There can be no model with ${JSON.stringify(id)} in its id`, { path: 'model' })
  return encodeURIComponent(id)
}

/** For vendors whose ids contain folders. */
export const modelSegments = (id: string): string => id.split('/').map(modelSegment).join('/')
