/** An error as one log line, with its cause: the message of a store error tells callers only that the database cannot be used. */
export function errorLine(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { message, cause } = error
  return cause instanceof Error && cause.message !== message ? `${message}: ${cause.message}` : message
}
