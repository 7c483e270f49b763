import type { IncomingMessage } from 'node:http'
import type { Door } from '../doors/shared/door.ts'

/** Moves a key from the request's address to the header of its format, because addresses end up in logs. A key that is already in the header wins. */
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
