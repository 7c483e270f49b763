/** Credentials before the host of a URL, or after the word `password`. */
const CREDENTIALS = /(\/\/)[^\s/@]+@|(\bpassword[=:]\s*)\S+/gi

/** OpenSSL's messages for a certificate that no known authority has signed. */
const UNKNOWN_AUTHORITY = /self-signed certificate|unable to (?:get (?:local )?issuer|verify the first) certificate/
/** Node's advice names a flag that does not apply to these commands. */
const ADVICE_OF_NODE = /; if the root CA is installed locally, .*/
const NAME_IT =
  'an authority of your own is named by NODE_EXTRA_CA_CERTS=/path/to/ca.pem, for PostgreSQL alone by sslrootcert=/path/to/ca.pem in its URL'

/** What a driver said about a server that does not answer, and how to mend it. For the operator's terminal only, never for callers. */
export function reasonOf(error: unknown): string {
  const { message, cause } = error as Error
  return unknownAuthority(error) ?? (cause instanceof Error ? cause.message : message).replace(CREDENTIALS, '$1$2[hidden]')
}

/** Why a certificate was not trusted and how it would be; undefined for any other error. */
export function unknownAuthority(error: unknown): string | undefined {
  const { message, cause } = error as Error
  const text = cause instanceof Error ? cause.message : message
  return UNKNOWN_AUTHORITY.test(text) ? `${text.replace(ADVICE_OF_NODE, '')}: ${NAME_IT}` : undefined
}
