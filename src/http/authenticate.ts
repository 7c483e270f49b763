import type { IncomingMessage } from 'node:http'
import { KEY_FAILURES, type Authentication, type Authenticator } from '../core/account.ts'
import type { Owner } from '../core/call.ts'
import { GatewayError } from '../core/error.ts'
import type { ApiKey, KeyKind } from '../core/store.ts'
import type { GuessGuard } from './guess-guard.ts'

const WRONG_KIND: { readonly [K in KeyKind]: string } = {
  management: 'Only management keys can perform this operation',
  inference: 'A management key cannot be used for inference; create an inference key',
}

type KeyBook = Pick<Authenticator, 'authenticate' | 'lookAgain'>
type Guard = Pick<GuessGuard, 'watching' | 'admit' | 'right' | 'wrong'>

export interface Authenticated {
  readonly owner: Owner
  readonly key: ApiKey
}

/** `keyHeader`: another header in which this route accepts a key. */
export type Authenticate = (request: IncomingMessage, kind: KeyKind | undefined, keyHeader?: string) => Authenticated | Promise<Authenticated>

/**
 * Reads `Authorization: Bearer <key>`, or else the header the route accepts, and answers at once from memory. Only for an unknown key it waits, while
 * the database is asked whether the key was made a moment ago. `kind`: the kind of key that the route requires (undefined: any).
 * Throws GatewayError `authentication` (401), `permission_denied` (403), or `rate_limit_exceeded` (429) for an address that guesses keys.
 */
export function createAuthenticate(authenticator: KeyBook, guard: Guard): Authenticate {
  const settle = (result: Authentication, request: IncomingMessage, kind: KeyKind | undefined): Authenticated => {
    if (!result.ok) {
      // A key that was valid once is no guess.
      if (result.reason === 'unknown') guard.wrong(request.socket.remoteAddress)
      throw new GatewayError('authentication', KEY_FAILURES[result.reason])
    }
    if (guard.watching) guard.right(request.socket.remoteAddress, result.key.hash)
    if (kind !== undefined && result.key.kind !== kind) throw new GatewayError('permission_denied', WRONG_KIND[kind])
    return result
  }
  return (request, kind, keyHeader) => {
    const bearer = bearerOf(request.headers.authorization) || (keyHeader === undefined ? '' : keyIn(request, keyHeader))
    const result = authenticator.authenticate(bearer)
    if (result.ok || result.reason !== 'unknown') return settle(result, request, kind)
    // An address that guesses too much costs the database nothing.
    guard.admit(request.socket.remoteAddress)
    const look = authenticator.lookAgain()
    if (look === undefined) return settle(result, request, kind)
    return look.then(() => settle(authenticator.authenticate(bearer), request, kind))
  }
}

function bearerOf(authorization: string | undefined): string {
  if (authorization === undefined || authorization.length < 8 || authorization.slice(0, 7).toLowerCase() !== 'bearer ') return ''
  return authorization.slice(7).trim()
}

function keyIn(request: IncomingMessage, header: string): string {
  const key = request.headers[header]
  return typeof key === 'string' ? key.trim() : ''
}
