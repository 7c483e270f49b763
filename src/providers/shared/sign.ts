import type { Connection, SignableRequest } from '../../core/provider.ts'

/** Puts the credential into a header of its own, for vendors that take no bearer token. */
export function signWithHeader(name: string): NonNullable<Connection['sign']> {
  return (request, credential): SignableRequest =>
    credential === undefined ? request : { ...request, headers: { ...request.headers, [name]: credential.secret.reveal() } }
}
