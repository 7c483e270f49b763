/** What stands before the host of a URL, or is named as what it is. */
const CREDENTIALS = /(\/\/)[^\s/@]+@|(\bpassword[=:]\s*)\S+/gi

/** What a driver said of a server that does not answer: for the operator's own terminal, and nothing that callers are told. */
export function reasonOf(error: unknown): string {
  const { message, cause } = error as Error
  return (cause instanceof Error ? cause.message : message).replace(CREDENTIALS, '$1$2[hidden]')
}
