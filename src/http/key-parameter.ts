import type { IncomingMessage } from 'node:http'
import type { Door } from '../doors/shared/door.ts'

/**
 * Moves the key of a request that has it in its address into the header of its format: addresses are written down in many places. A key that
 * stands in a header already wins.
 */
export function liftKey(request: IncomingMessage, { keyParameter, keyHeader }: Pick<Door, 'keyParameter' | 'keyHeader'>): void {
  if (keyParameter === undefined || keyHeader === undefined) return
  const url = request.url ?? ''
  const at = url.indexOf('?')
  if (at < 0) return
  const query = new URLSearchParams(url.slice(at))
  const key = query.get(keyParameter)
  if (key === null) return
  query.delete(keyParameter)
  request.url = query.size === 0 ? url.slice(0, at) : `${url.slice(0, at)}?${query.toString()}`
  request.headers[keyHeader] ??= key
}
