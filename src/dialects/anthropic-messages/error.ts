import type { GatewayError } from '../../core/error.ts'
import { classifyUpstreamError } from '../shared/errors.ts'
import { markUnreadableThoughts } from '../shared/unreadable-thoughts.ts'

/** The error of an HTTP answer with a status of 400 or more. */
export function decodeMessagesError(
  status: number,
  headers: { readonly [name: string]: string | string[] | undefined },
  body: string,
  providerName: string,
): GatewayError {
  return markUnreadableThoughts(status, classifyUpstreamError({ status, headers, body, providerName }))
}
