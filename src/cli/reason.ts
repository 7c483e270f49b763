/** What stands before the host of a URL, or is named as what it is. */
const CREDENTIALS = /(\/\/)[^\s/@]+@|(\bpassword[=:]\s*)\S+/gi

/** What TLS says of a certificate that nobody known has signed. */
const UNKNOWN_AUTHORITY = /self-signed certificate|unable to (?:get (?:local )?issuer|verify the first) certificate/
/** Node's own advice is of another way, for another kind of command. */
const ADVICE_OF_NODE = /; if the root CA is installed locally, .*/
const NAME_IT =
  'an authority of your own is named by NODE_EXTRA_CA_CERTS=/path/to/ca.pem, for PostgreSQL alone by sslrootcert=/path/to/ca.pem in its URL'

/** What a driver said of a server that does not answer, with what mends it: for the operator's own terminal, and nothing that callers are told. */
export function reasonOf(error: unknown): string {
  const { message, cause } = error as Error
  return unknownAuthority(error) ?? (cause instanceof Error ? cause.message : message).replace(CREDENTIALS, '$1$2[hidden]')
}

/** Why a certificate was not believed, and how it would be; undefined where something else failed. */
export function unknownAuthority(error: unknown): string | undefined {
  const { message, cause } = error as Error
  const said = cause instanceof Error ? cause.message : message
  return UNKNOWN_AUTHORITY.test(said) ? `${said.replace(ADVICE_OF_NODE, '')}: ${NAME_IT}` : undefined
}
