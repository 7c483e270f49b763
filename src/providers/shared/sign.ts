import type { Connection, SignableRequest } from '../../core/provider.ts'

/** Sends the credential in a separate header, for vendors that do not accept bearer tokens. */
export function signWithHeader(name: string): NonNullable<Connection['sign']> {
  return (request, credential): SignableRequest =>
    credential === undefined ? request : { ...request, headers: { ...request.headers, [name]: credential.secret.reveal() } }
}
